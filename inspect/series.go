package inspect

// A Series is a quantity over time in bounded room: when there are too many
// moments, neighbours are joined and the larger value stays, so that peaks do.
type Series struct {
	points []SeriesPoint
	stride int // moments that one point stands for
	filled int // of the last point
}

// A SeriesPoint is a quantity at a moment.
type SeriesPoint struct {
	AtNS  int64
	Value int64
}

const maxSeries = 4096

// Add notes the quantity at a moment, which is not before the last one.
func (s *Series) Add(atNS, value int64) {
	if s.stride == 0 {
		s.stride = 1
	}
	if n := len(s.points); n > 0 && s.filled < s.stride {
		s.points[n-1].Value = max(s.points[n-1].Value, value)
		s.filled++
		return
	}
	if len(s.points) == maxSeries {
		s.points = joined(s.points, maxSeries/2)
		s.stride *= 2
	}
	s.points = append(s.points, SeriesPoint{atNS, value})
	s.filled = 1
}

// Points gives at most n points, oldest first.
func (s *Series) Points(n int) []SeriesPoint {
	if len(s.points) <= n {
		return append([]SeriesPoint(nil), s.points...)
	}
	return joined(s.points, n)
}

func joined(points []SeriesPoint, n int) []SeriesPoint {
	out := make([]SeriesPoint, n)
	for i := range out {
		from, to := i*len(points)/n, (i+1)*len(points)/n
		out[i] = points[from]
		for _, p := range points[from:to] {
			out[i].Value = max(out[i].Value, p.Value)
		}
	}
	return out
}
