package optim

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

// Zero is an option that is zero: the zero value of an option stands for
// PyTorch's default. It is the smallest number above zero, which no product
// with a parameter survives.
const Zero = math.SmallestNonzeroFloat64

// A limit is the interval of one option: Low ≤ value ≤ High, without High when Open.
type limit struct {
	option string
	value  float64
	low    float64
	high   float64 // 0: none
	open   bool
}

// atLeast0 are limits of options that only must not be negative.
func atLeast0(option string, value float64) limit { return limit{option: option, value: value} }

// rates are the limits of two decay rates: from 0 on, below 1.
func rates(b [2]float64) []limit {
	return []limit{{"betas[0]", b[0], 0, 1, true}, {"betas[1]", b[1], 0, 1, true}}
}

// check refuses options outside their limits (NaN is outside of each), and
// parameters that cannot be optimized.
func check(name string, params []*tpu.Tensor, limits ...limit) {
	for _, l := range limits {
		if l.value >= l.low && (l.high == 0 || l.value < l.high || l.value == l.high && !l.open) {
			continue
		}
		panic(&tpu.Error{Op: name, Err: &OptionError{name, l.option, l.value}})
	}
	if len(params) == 0 {
		panic(&tpu.Error{Op: name, Err: &ParamsError{Optimizer: name, Index: -1, Why: "the list is empty"}})
	}
	seen := map[*tpu.Tensor]bool{}
	for i, p := range params {
		why := ""
		switch {
		case p == nil:
			why = "it is nil"
		case !p.IsLeaf():
			why = "it is no leaf of the gradient tape"
		case seen[p]:
			why = "it is in the list twice"
		}
		if why != "" {
			panic(&tpu.Error{Op: name, Err: &ParamsError{Optimizer: name, Index: i, Why: why}})
		}
		seen[p] = true
	}
}
