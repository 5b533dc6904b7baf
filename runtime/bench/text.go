package bench

import (
	"fmt"

	"github.com/tpush/tpush/viz"
)

// Table draws results: host time first, the simulated TPU's time in a column
// that says so.
func Table(rs []Result) viz.Table {
	tb := viz.Table{Columns: []viz.Column{
		{Title: "case"}, {Title: "dtype"}, {Title: "mode"}, {Title: "threads", Right: true, Drop: 3},
		{Title: "host", Right: true}, {Title: "median", Right: true, Drop: 2}, {Title: "cpu", Right: true, Drop: 4},
		{Title: "rate", Right: true}, {Title: "gain", Right: true, Drop: 1}, {Title: "TPU (simulated)", Right: true}}}
	for _, r := range rs {
		if r.Error != "" {
			tb.Rows = append(tb.Rows, []string{r.Case, r.DType, r.Mode, fmt.Sprint(r.Threads), r.Error})
			continue
		}
		gain := ""
		if r.Gain > 0 {
			gain = fmt.Sprintf("%.2f×", r.Gain)
		}
		tb.Rows = append(tb.Rows, []string{r.Case, r.DType, r.Mode, fmt.Sprint(r.Threads),
			seconds(r.Seconds), seconds(r.Median), seconds(r.CPU), rate(r.Work/r.Seconds, r.Unit), gain, seconds(r.TPUSeconds)})
	}
	return tb
}

func seconds(s float64) string {
	switch {
	case s <= 0:
		return ""
	case s < 1e-6:
		return fmt.Sprintf("%.3g ns", s*1e9)
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

func rate(x float64, unit string) string {
	for _, p := range []struct {
		at   float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= p.at {
			return fmt.Sprintf("%.3g %s%s/s", x/p.at, p.name, unit)
		}
	}
	return fmt.Sprintf("%.3g %s/s", x, unit)
}
