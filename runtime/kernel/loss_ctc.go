package kernel

import "math"

// CTC is the connectionist temporal classification of one batch element:
// log-probabilities lp [time, class] and labels between which blanks may stand.
type ctc struct {
	lp     func(t, k int) float64
	time   int
	labels []int // with blanks: blank l1 blank l2 … blank
}

// state s may be reached from s, s−1, and s−2 unless it would join equal labels or skip into a blank.
func (c *ctc) skips(s int) bool {
	return s >= 2 && s%2 == 1 && c.labels[s] != c.labels[s-2]
}

// forward gives alpha[t][s], the log-probability of all prefixes that end in s at t.
func (c *ctc) forward() [][]float64 {
	alpha := make([][]float64, c.time)
	for t := range alpha {
		row := make([]float64, len(c.labels))
		for s := range row {
			v := math.Inf(-1)
			switch {
			case t == 0 && s < 2:
				v = 0
			case t > 0:
				v = alpha[t-1][s]
				if s > 0 {
					v = logAddExp(v, alpha[t-1][s-1])
				}
				if c.skips(s) {
					v = logAddExp(v, alpha[t-1][s-2])
				}
			}
			row[s] = v + c.lp(t, c.labels[s])
		}
		alpha[t] = row
	}
	return alpha
}

// backward gives beta[t][s], the log-probability of all suffixes that begin in s at t.
func (c *ctc) backward() [][]float64 {
	beta := make([][]float64, c.time)
	n := len(c.labels)
	for t := c.time - 1; t >= 0; t-- {
		row := make([]float64, n)
		for s := range row {
			v := math.Inf(-1)
			switch {
			case t == c.time-1 && s >= n-2:
				v = 0
			case t < c.time-1:
				v = beta[t+1][s]
				if s+1 < n {
					v = logAddExp(v, beta[t+1][s+1])
				}
				if s+2 < n && c.skips(s+2) {
					v = logAddExp(v, beta[t+1][s+2])
				}
			}
			row[s] = v + c.lp(t, c.labels[s])
		}
		beta[t] = row
	}
	return beta
}

// logLikelihood is the log-probability of the labels.
func (c *ctc) logLikelihood(alpha [][]float64) float64 {
	n := len(c.labels)
	if c.time == 0 {
		if n == 1 {
			return 0
		}
		return math.Inf(-1)
	}
	v := alpha[c.time-1][n-1]
	if n > 1 {
		v = logAddExp(v, alpha[c.time-1][n-2])
	}
	return v
}

// ctcBatch splits a call into its batch elements. The inputs from first on are
// lp [time, batch, class], targets [batch, longest] or all in a row, input lengths, target lengths.
func ctcBatch(c *Call, first int) (items []ctc, targetLengths []int64, lp []float64, classes int) {
	dims := c.In[first].Dims
	lp = Float64s(c.In[first])
	batch := 1
	if len(dims) == 3 {
		batch = dims[1]
	}
	classes = dims[len(dims)-1]
	targets := Int64s(c.In[first+1])
	inputLengths := Int64s(c.In[first+2])
	targetLengths = Int64s(c.In[first+3])
	blank := c.Attrs.Int("blank")
	at := 0
	for b := range batch {
		n := int(targetLengths[b])
		ts := targets
		switch td := c.In[first+1].Dims; len(td) {
		case 2:
			ts = targets[b*td[1] : b*td[1]+n]
		default:
			ts = targets[at : at+n]
			at += n
		}
		labels := []int{blank}
		for _, t := range ts {
			labels = append(labels, int(t), blank)
		}
		items = append(items, ctc{
			lp:   func(t, k int) float64 { return lp[(t*batch+b)*classes+k] },
			time: int(inputLengths[b]), labels: labels,
		})
	}
	return items, targetLengths, lp, classes
}

// CTCLoss is −log of the probability of the targets over all alignments; a
// mean divides each by its target length first. Inputs log-probabilities
// [time, batch, class], targets, input lengths, target lengths.
func CTCLoss(c *Call) error {
	items, lengths, _, _ := ctcBatch(c, 0)
	each := make([]float64, len(items))
	for b := range items {
		v := -items[b].logLikelihood(items[b].forward())
		if c.Attrs.Bool("zero_infinity") && math.IsInf(v, 1) {
			v = 0
		}
		if c.Attrs.Str("reduction") == "mean" {
			v /= float64(max(1, lengths[b]))
		}
		each[b] = v
	}
	reduceLoss(c, each)
	return nil
}

// CTCLossBackward is the gradient of CTCLoss for scores whose log-softmax the
// log-probabilities are: e^lp − Σ over the states of a class of their
// posterior probability. Inputs dy, then those of CTCLoss.
func CTCLossBackward(c *Call) error {
	items, lengths, lp, classes := ctcBatch(c, 1)
	dy := Float64s(c.In[0])
	dst := dest[float64](c.Out[0])
	clear(dst)
	for b, it := range items {
		g := dy[0]
		switch c.Attrs.Str("reduction") {
		case "none":
			g = dy[b]
		case "mean":
			g /= float64(max(1, lengths[b])) * float64(len(items))
		}
		alpha, beta := it.forward(), it.backward()
		total := it.logLikelihood(alpha)
		if math.IsInf(total, -1) && c.Attrs.Bool("zero_infinity") {
			continue
		}
		for t := range it.time {
			row := make([]float64, classes)
			for k := range row {
				row[k] = math.Inf(-1)
			}
			for s, k := range it.labels {
				row[k] = logAddExp(row[k], alpha[t][s]+beta[t][s])
			}
			base := (t*len(items) + b) * classes
			for k := range row {
				v := lp[base+k]
				dst[base+k] = g * (math.Exp(v) - math.Exp(row[k]-v-total))
			}
		}
	}
	settle(c.Out[0], dst)
	return nil
}
