package op

import (
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

func transposeView(v shape.View, a Attrs) (shape.View, error) {
	return v.Transpose(a.Int("dim0"), a.Int("dim1"))
}

func swapaxesView(v shape.View, a Attrs) (shape.View, error) {
	return v.Transpose(a.Int("axis0"), a.Int("axis1"))
}

func tView(v shape.View, _ Attrs) (shape.View, error) {
	switch len(v.Dims) {
	case 0, 1:
		return v, nil
	case 2:
		return v.Transpose(0, 1)
	}
	return shape.View{}, &shape.RankError{Op: "t", Dims: v.Dims, Min: 0, Max: 2}
}

func permuteView(v shape.View, a Attrs) (shape.View, error) { return v.Permute(a.Ints("dims")...) }

func movedimView(v shape.View, a Attrs) (shape.View, error) {
	p, err := shape.MoveAxes("movedim", len(v.Dims), a.Ints("source"), a.Ints("destination"))
	if err != nil {
		return shape.View{}, err
	}
	return v.Permute(p...)
}

func viewView(v shape.View, a Attrs) (shape.View, error)    { return v.As("view", a.Ints("shape")) }
func reshapeView(v shape.View, a Attrs) (shape.View, error) { return v.As("reshape", a.Ints("shape")) }

func flattenView(v shape.View, a Attrs) (shape.View, error) {
	return v.Flatten(a.Int("start_dim"), a.Int("end_dim"))
}

func unflattenView(v shape.View, a Attrs) (shape.View, error) {
	return v.Unflatten(a.Int("dim"), a.Ints("sizes")...)
}

// squeezeView: an empty but present list drops nothing, an absent one everything.
func squeezeView(v shape.View, a Attrs) (shape.View, error) {
	d := a.Ints("dim")
	if d != nil && len(d) == 0 {
		return v, nil
	}
	return v.Squeeze(d...)
}

func unsqueezeView(v shape.View, a Attrs) (shape.View, error) { return v.Unsqueeze(a.Int("dim")) }
func expandView(v shape.View, a Attrs) (shape.View, error)    { return v.Expand(a.Ints("sizes")...) }

func sliceView(v shape.View, a Attrs) (shape.View, error) {
	return v.Slice(a.Int("dim"), a.Int("start"), a.Int("end"), a.Int("step"))
}

func narrowView(v shape.View, a Attrs) (shape.View, error) {
	return v.Narrow(a.Int("dim"), a.Int("start"), a.Int("length"))
}

func selectView(v shape.View, a Attrs) (shape.View, error) {
	return v.Select(a.Int("dim"), a.Int("index"))
}

func diagonalView(v shape.View, a Attrs) (shape.View, error) {
	return v.Diagonal(a.Int("offset"), a.Int("dim1"), a.Int("dim2"))
}

func unfoldView(v shape.View, a Attrs) (shape.View, error) {
	return v.Unfold(a.Int("dimension"), a.Int("size"), a.Int("step"))
}

func sameView(v shape.View, _ Attrs) (shape.View, error) { return v, nil }

// asStridedView ignores how v sees the storage, but for its offset.
func asStridedView(v shape.View, a Attrs) (shape.View, error) {
	w := shape.View{Dims: a.Ints("size"), Strides: a.Ints("stride"), Offset: a.Int("storage_offset")}
	if w.Offset == ownOffset {
		w.Offset = v.Offset
	}
	return shape.AsStrided(w.Dims, w.Strides, w.Offset, maxStorage)
}

// maxStorage stands for a storage whose size is not known.
const maxStorage = 1 << 62

// stridedOf is the checked view of as_strided into a dense base.
func stridedOf(base shape.Spec, a Attrs) (shape.View, error) {
	o := a.Int("storage_offset")
	if o == ownOffset {
		o = 0
	}
	return shape.AsStrided(a.Ints("size"), a.Ints("stride"), o, base.Size())
}

func asStridedShape(in []shape.Spec, a Attrs) ([]int, error) {
	v, err := stridedOf(in[0], a)
	return v.Dims, err
}

// asStridedKernel reads the storage of its input. The offset is absolute.
func asStridedKernel(c *kernel.Call) error {
	base := c.In[0]
	v, err := asStridedView(base.View, c.Attrs)
	if err != nil {
		return err
	}
	base.View = v
	kernel.Copy(c.Out[0], base)
	return nil
}

// viewShape infers the result of a view of a dense value.
func viewShape(f viewFunc) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		v, err := f(shape.Dense(in[0].Dims), a)
		return v.Dims, err
	}
}

// viewKernel copies what the view sees. Where the strides of the input forbid
// the view, it is made of a dense copy.
func viewKernel(f viewFunc) kernel.Func {
	return func(c *kernel.Call) error {
		x := c.In[0]
		v, err := f(x.View, c.Attrs)
		if err != nil {
			x = kernel.Contiguous(x)
			if v, err = f(x.View, c.Attrs); err != nil {
				return err
			}
		}
		x.View = v
		kernel.Copy(c.Out[0], x)
		return nil
	}
}
