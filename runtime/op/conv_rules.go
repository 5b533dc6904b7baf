package op

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// spatialOf checks the attributes that have one number for each of n axes.
func spatialOf(name string, a Attrs, n int) error {
	check := func(arg string, least int, lengths ...int) error {
		xs := a.Ints(arg)
		if len(xs) != 0 && len(xs) != 1 && len(xs) != n && !slices.Contains(lengths, len(xs)) {
			return &shape.ArgumentError{Op: name, Arg: arg, Value: xs, Why: fmt.Sprintf("one number or %d are needed", n)}
		}
		for _, x := range xs {
			if x < least {
				return &shape.ArgumentError{Op: name, Arg: arg, Value: xs, Why: fmt.Sprintf("it must be at least %d", least)}
			}
		}
		return nil
	}
	if err := check("stride", 1); err != nil {
		return err
	}
	if err := check("dilation", 1); err != nil {
		return err
	}
	if err := check("output_padding", 0); err != nil {
		return err
	}
	return check("padding", 0, 2*n)
}

func convShape(name string, n int) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		x, w := in[0], in[1]
		if x.Rank() != n+1 && x.Rank() != n+2 {
			return nil, wrongRank(name, "input", x, n+1, n+2)
		}
		if w.Rank() != n+2 {
			return nil, wrongRank(name, "weight", w, n+2, n+2)
		}
		if err := spatialOf(name, a, n); err != nil {
			return nil, err
		}
		groups := a.Int("groups")
		c := x.Dims[x.Rank()-n-1]
		switch {
		case groups < 1 || w.Dims[0]%groups != 0:
			return nil, &shape.ArgumentError{Op: name, Arg: "groups", Value: groups, Why: fmt.Sprintf("it does not divide the %d output channels", w.Dims[0])}
		case c != w.Dims[1]*groups:
			return nil, &shape.MismatchError{Op: name, Left: x, Right: w, Axis: x.Rank() - n - 1, Why: fmt.Sprintf("the input has %d channels, the weight wants %d", c, w.Dims[1]*groups)}
		case len(in) > 2 && in[2].Valid() && !shape.EqualDims(in[2].Dims, w.Dims[:1]):
			return nil, &shape.MismatchError{Op: name, Left: w, Right: in[2], Axis: 0, Why: "the bias does not have one number for each output channel"}
		}
		switch m := a.Str("padding_mode"); m {
		case "", "valid":
		case "same":
			for _, s := range a.Ints("stride") {
				if s != 1 {
					return nil, &shape.ArgumentError{Op: name, Arg: "padding_mode", Value: m, Why: "it wants stride 1"}
				}
			}
		default:
			return nil, &shape.ArgumentError{Op: name, Arg: "padding_mode", Value: m, Why: "it is neither same nor valid"}
		}
		g := kernel.NewConv(a, x.Dims[x.Rank()-n:], w.Dims[2:])
		out := append(slices.Clone(x.Dims[:x.Rank()-n-1]), w.Dims[0])
		for i := 3 - n; i < 3; i++ {
			if g.Out[i] <= 0 {
				return nil, &shape.MismatchError{Op: name, Left: x, Right: w, Axis: x.Rank() - 3 + i, Why: "the kernel is larger than the padded input"}
			}
			out = append(out, g.Out[i])
		}
		return out, nil
	}
}

func convTransposeShape(name string, n int) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		x, w := in[0], in[1]
		if x.Rank() != n+1 && x.Rank() != n+2 {
			return nil, wrongRank(name, "input", x, n+1, n+2)
		}
		if w.Rank() != n+2 {
			return nil, wrongRank(name, "weight", w, n+2, n+2)
		}
		if err := spatialOf(name, a, n); err != nil {
			return nil, err
		}
		groups := a.Int("groups")
		c := x.Dims[x.Rank()-n-1]
		switch {
		case c != w.Dims[0]:
			return nil, &shape.MismatchError{Op: name, Left: x, Right: w, Axis: x.Rank() - n - 1, Why: fmt.Sprintf("the input has %d channels, the weight wants %d", c, w.Dims[0])}
		case groups < 1 || c%groups != 0:
			return nil, &shape.ArgumentError{Op: name, Arg: "groups", Value: groups, Why: fmt.Sprintf("it does not divide the %d input channels", c)}
		case len(in) > 2 && in[2].Valid() && !shape.EqualDims(in[2].Dims, []int{w.Dims[1] * groups}):
			return nil, &shape.MismatchError{Op: name, Left: w, Right: in[2], Axis: 1, Why: "the bias does not have one number for each output channel"}
		}
		out := append(slices.Clone(x.Dims[:x.Rank()-n-1]), w.Dims[1]*groups)
		for i := range n {
			s, d := axisEntry(a, "stride", i, 1), axisEntry(a, "dilation", i, 1)
			p, more := axisEntry(a, "padding", i, 0), axisEntry(a, "output_padding", i, 0)
			if more >= s && more >= d {
				return nil, &shape.ArgumentError{Op: name, Arg: "output_padding", Value: a.Ints("output_padding"), Why: "it must be smaller than stride or dilation"}
			}
			size := (x.Dims[x.Rank()-n+i]-1)*s - 2*p + d*(w.Dims[2+i]-1) + more + 1
			if size <= 0 {
				return nil, &shape.MismatchError{Op: name, Left: x, Right: w, Axis: x.Rank() - n + i, Why: "nothing is left of the result"}
			}
			out = append(out, size)
		}
		return out, nil
	}
}

// axisEntry gives an attribute's entry for spatial axis i.
func axisEntry(a Attrs, name string, i, otherwise int) int {
	xs := a.Ints(name)
	switch {
	case len(xs) == 0:
		return otherwise
	case i < len(xs):
		return xs[i]
	}
	return xs[0]
}

func convInputShape(in []shape.Spec, a Attrs) ([]int, error) {
	dy, w := in[0], in[1]
	return append([]int{dy.Dims[0], w.Dims[1] * a.Int("groups")}, a.Ints("size")...), nil
}

func convWeightShape(in []shape.Spec, a Attrs) ([]int, error) {
	x, dy := in[0], in[1]
	return append([]int{dy.Dims[1], x.Dims[1] / a.Int("groups")}, a.Ints("size")...), nil
}

func unfold2DShape(in []shape.Spec, a Attrs) ([]int, error) {
	x := in[0]
	if x.Rank() != 3 && x.Rank() != 4 {
		return nil, wrongRank("unfold2d", "", x, 3, 4)
	}
	if err := spatialOf("unfold2d", a, 2); err != nil {
		return nil, err
	}
	k := []int{axisEntry(a, "kernel_size", 0, 1), axisEntry(a, "kernel_size", 1, 1)}
	if k[0] < 1 || k[1] < 1 {
		return nil, &shape.ArgumentError{Op: "unfold2d", Arg: "kernel_size", Value: k, Why: "it must be positive"}
	}
	g := kernel.NewConv(a, x.Dims[x.Rank()-2:], k)
	n := g.Out[1] * g.Out[2]
	if n <= 0 {
		return nil, &shape.ArgumentError{Op: "unfold2d", Arg: "kernel_size", Value: k, Why: "it is larger than the padded input"}
	}
	return append(slices.Clone(x.Dims[:x.Rank()-3]), x.Dims[x.Rank()-3]*k[0]*k[1], n), nil
}

func fold2DShape(in []shape.Spec, a Attrs) ([]int, error) {
	x := in[0]
	if x.Rank() != 2 && x.Rank() != 3 {
		return nil, wrongRank("fold2d", "", x, 2, 3)
	}
	if err := spatialOf("fold2d", a, 2); err != nil {
		return nil, err
	}
	k := []int{axisEntry(a, "kernel_size", 0, 1), axisEntry(a, "kernel_size", 1, 1)}
	if k[0] < 1 || k[1] < 1 {
		return nil, &shape.ArgumentError{Op: "fold2d", Arg: "kernel_size", Value: k, Why: "it must be positive"}
	}
	size := []int{axisEntry(a, "output_size", 0, 1), axisEntry(a, "output_size", 1, 1)}
	g := kernel.NewConv(a, size, k)
	r := x.Rank()
	if x.Dims[r-2]%(k[0]*k[1]) != 0 || g.Out[1]*g.Out[2] != x.Dims[r-1] {
		return nil, &shape.MismatchError{Op: "fold2d", Left: x, Right: shape.Spec{DType: x.DType, Dims: size}, Axis: r - 1, Why: fmt.Sprintf("the image has %d windows of %d pixels", g.Out[1]*g.Out[2], k[0]*k[1])}
	}
	return append(slices.Clone(x.Dims[:r-2]), x.Dims[r-2]/(k[0]*k[1]), size[0], size[1]), nil
}

func convCost(in, out []shape.Spec, a Attrs) Cost {
	w := in[1]
	return convWork(out[0].Size(), w, a)
}

// convWork is the work of a convolution with n results of the forward direction.
func convWork(n int, w shape.Spec, a Attrs) Cost {
	g := max(a.Int("groups"), 1)
	k := shape.Size(w.Dims[1:])
	c := Cost{FLOPs: 2 * int64(n) * int64(k), Unit: MXU, K: k, N: max(w.Dims[0]/g, 1), B: g}
	c.M = max(n/max(w.Dims[0], 1), 1)
	return c
}

func convTransposeCost(in, _ []shape.Spec, a Attrs) Cost { return convWork(in[0].Size(), in[1], a) }

func convInputCost(in, _ []shape.Spec, a Attrs) Cost { return convWork(in[0].Size(), in[1], a) }

func convWeightCost(in, out []shape.Spec, a Attrs) Cost { return convWork(in[1].Size(), out[0], a) }
