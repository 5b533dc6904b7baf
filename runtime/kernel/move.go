package kernel

import (
	"math"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// FlatDim as the attribute dim stands for no axis: the input is flattened first.
const FlatDim = math.MinInt

// part sees the positions lo to hi of one axis.
func part(a Array, axis, lo, hi int) Array {
	v := shape.View{Dims: append([]int{}, a.Dims...), Strides: a.Strides, Offset: a.Offset + lo*a.Strides[axis]}
	v.Dims[axis] = hi - lo
	a.View = v
	return a
}

// put copies src into the place dst sees, converting where the types differ.
// Where it is there already nothing is done.
func put(dst, src Array) {
	if dst.same(src) {
		return
	}
	if src.DType != dst.DType {
		src = Cast(src, dst.DType)
	}
	Copy(dst, src)
}

// same says whether a and b are the same elements of the same memory.
func (a Array) same(b Array) bool {
	return a.DType == b.DType && len(a.Buf) > 0 && len(b.Buf) > 0 && unsafe.SliceData(a.Buf) == unsafe.SliceData(b.Buf) &&
		a.Offset == b.Offset && shape.EqualDims(a.Dims, b.Dims) && a.Contiguous() && b.Contiguous()
}

// Same copies the input to the output, dense, converting where the types differ.
func Same(c *Call) error {
	put(c.Out[0], c.In[0])
	return nil
}

// Cat joins the inputs along the attribute "dim". Inputs of shape [0] are left out.
func Cat(c *Call) error {
	out := c.Out[0]
	dim := c.Attrs.Int("dim")
	if dim < 0 {
		dim += len(out.Dims)
	}
	at := 0
	for _, x := range c.In {
		if len(x.Dims) == 1 && x.Dims[0] == 0 {
			continue
		}
		put(part(out, dim, at, at+x.Dims[dim]), x)
		at += x.Dims[dim]
	}
	return nil
}

// Stack joins inputs of one shape along a new axis "dim".
func Stack(c *Call) error {
	out := c.Out[0]
	dim := c.Attrs.Int("dim")
	if dim < 0 {
		dim += len(out.Dims)
	}
	for i, x := range c.In {
		v, err := out.View.Select(dim, i)
		if err != nil {
			return err
		}
		put(Array{DType: out.DType, View: v, Buf: out.Buf}, x)
	}
	return nil
}

// Flip reverses the axes "dims".
func Flip(c *Call) error {
	x, out := c.In[0], c.Out[0]
	v := shape.View{Dims: x.Dims, Strides: append([]int{}, x.Strides...), Offset: x.Offset}
	if x.Size() > 0 && len(x.Dims) > 0 { // axis 0 of a number is the number
		for _, d := range c.Attrs.Ints("dims") {
			d = (d + len(x.Dims)) % len(x.Dims)
			v.Offset += (x.Dims[d] - 1) * v.Strides[d]
			v.Strides[d] = -v.Strides[d]
		}
	}
	x.View = v
	Copy(out, x)
	return nil
}

// Roll moves every element by "shifts" along "dims", around the end; without
// dims, along the flattened array.
func Roll(c *Call) error {
	x, out := c.In[0], c.Out[0]
	shifts, dims := c.Attrs.Ints("shifts"), c.Attrs.Ints("dims")
	if x.Size() == 0 {
		return nil
	}
	if len(dims) == 0 {
		x = Contiguous(x)
		flat := shape.Dense([]int{x.Size()})
		flat.Offset = x.Offset
		x.View, out.View = flat, shape.Dense([]int{x.Size()})
		dims = []int{0}
		if len(shifts) == 0 {
			shifts = []int{0}
		}
	}
	rollInto(out, x, dims, shifts)
	return nil
}

// rollInto copies x in two parts along the first axis, each rolled along the others.
func rollInto(out, x Array, dims, shifts []int) {
	if len(dims) == 0 {
		Copy(out, x)
		return
	}
	d := (dims[0] + len(x.Dims)) % len(x.Dims)
	n := x.Dims[d]
	s := shifts[0] % n
	if s < 0 {
		s += n
	}
	rollInto(part(out, d, s, n), part(x, d, 0, n-s), dims[1:], shifts[1:])
	if s > 0 {
		rollInto(part(out, d, 0, s), part(x, d, n-s, n), dims[1:], shifts[1:])
	}
}

// Repeat copies the input as many times along each axis as "sizes" (or "dims",
// for tile) says; axes are aligned at the end.
func Repeat(c *Call) error {
	x, out := c.In[0], c.Out[0]
	if out.Size() == 0 {
		return nil
	}
	// The result is seen as [times, size] for every axis.
	r := len(out.Dims)
	lead := r - len(x.Dims)
	src := shape.View{Offset: x.Offset}
	for i, n := range out.Dims {
		size, st := 1, 0
		if i >= lead {
			size, st = x.Dims[i-lead], x.Strides[i-lead]
		}
		src.Dims = append(src.Dims, n/size, size)
		src.Strides = append(src.Strides, 0, st)
	}
	x.View, out.View = src, shape.Dense(src.Dims)
	Copy(out, x)
	return nil
}

// RepeatInterleave repeats every position of the axis "dim" "repeats" times.
func RepeatInterleave(c *Call) error {
	x, out := c.In[0], c.Out[0]
	dim := c.Attrs.Int("dim")
	if dim == FlatDim {
		x = Contiguous(x)
		flat := shape.Dense([]int{x.Size()})
		flat.Offset = x.Offset
		x.View, dim = flat, 0
	}
	if dim < 0 {
		dim += len(x.Dims)
	}
	if out.Size() == 0 {
		return nil
	}
	n := out.Dims[dim] / x.Dims[dim]
	insert := func(v shape.View, size, stride int) shape.View {
		w := shape.View{Offset: v.Offset}
		w.Dims = append(append(append(w.Dims, v.Dims[:dim+1]...), size), v.Dims[dim+1:]...)
		w.Strides = append(append(append(w.Strides, v.Strides[:dim+1]...), stride), v.Strides[dim+1:]...)
		return w
	}
	src := insert(x.View, n, 0)
	x.View, out.View = src, shape.Dense(src.Dims)
	Copy(out, x)
	return nil
}

// RepeatEach repeats position i of the axis "dim" as often as the second input says.
func RepeatEach(c *Call) error {
	x, out := c.In[0], c.Out[0]
	counts := Int64s(c.In[1])
	dim := c.Attrs.Int("dim")
	if dim == FlatDim {
		x = Contiguous(x)
		flat := shape.Dense([]int{x.Size()})
		flat.Offset = x.Offset
		x.View, dim = flat, 0
	}
	if dim < 0 {
		dim += len(x.Dims)
	}
	at := 0
	for i := range x.Dims[dim] {
		n := int(counts[min(i, len(counts)-1)])
		src := part(x, dim, i, i+1)
		src.View.Dims[dim] = n
		src.View.Strides = append([]int{}, src.Strides...)
		src.View.Strides[dim] = 0
		Copy(part(out, dim, at, at+n), src)
		at += n
	}
	return nil
}

// Rot90 turns the plane of the axes "dims" by "k" right angles, from the first axis to the second.
func Rot90(c *Call) error {
	x, out := c.In[0], c.Out[0]
	d := c.Attrs.Ints("dims")
	p, q := (d[0]+len(x.Dims))%len(x.Dims), (d[1]+len(x.Dims))%len(x.Dims)
	v := shape.View{Dims: append([]int{}, x.Dims...), Strides: append([]int{}, x.Strides...), Offset: x.Offset}
	flip := func(a int) {
		v.Offset += max(v.Dims[a]-1, 0) * v.Strides[a]
		v.Strides[a] = -v.Strides[a]
	}
	k := ((c.Attrs.Int("k") % 4) + 4) % 4
	switch k {
	case 1:
		flip(q)
	case 2:
		flip(p)
		flip(q)
	case 3:
		flip(p)
	}
	if k%2 == 1 {
		v.Dims[p], v.Dims[q] = v.Dims[q], v.Dims[p]
		v.Strides[p], v.Strides[q] = v.Strides[q], v.Strides[p]
	}
	x.View = v
	Copy(out, x)
	return nil
}

// Tril keeps the elements on and below the diagonal of the last two axes, Triu those on and above.
func Tril(c *Call) error { return triangle(c, true) }

// Triu keeps the elements on and above the diagonal "diagonal" of the last two axes.
func Triu(c *Call) error { return triangle(c, false) }

func triangle(c *Call, lower bool) error {
	x, out := c.In[0], c.Out[0]
	r := len(out.Dims)
	m, n := out.Dims[r-2], out.Dims[r-1]
	k := c.Attrs.Int("diagonal")
	Copy(out, x)
	w := out.DType.HostBytes()
	if out.Size() == 0 {
		return nil
	}
	Parallel(out.Size()/n, max(1, 1<<14/n), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			i := row % m
			b := out.Buf[row*n*w : (row+1)*n*w]
			if lower {
				clear(b[min(max(i+k+1, 0), n)*w:])
			} else {
				clear(b[:min(max(i+k, 0), n)*w])
			}
		}
	})
	return nil
}

// DiagEmbed puts the last axis on a diagonal "offset" of the new axes "dim1" and "dim2" of zeros.
func DiagEmbed(c *Call) error {
	x, out := c.In[0], c.Out[0]
	clear(out.Buf[:out.Size()*out.DType.HostBytes()])
	v, err := out.View.Diagonal(c.Attrs.Int("offset"), c.Attrs.Int("dim1"), c.Attrs.Int("dim2"))
	if err != nil {
		return err
	}
	Copy(Array{DType: out.DType, View: v, Buf: out.Buf}, x)
	return nil
}

// Diag makes a matrix of a vector, and takes the diagonal of a matrix.
func Diag(c *Call) error {
	x, out := c.In[0], c.Out[0]
	k := c.Attrs.Int("diagonal")
	if len(x.Dims) == 1 {
		return DiagEmbed(&Call{In: c.In, Out: c.Out, Attrs: Attrs{{"offset", k}, {"dim1", 0}, {"dim2", 1}}})
	}
	v, err := x.View.Diagonal(k, 0, 1)
	if err != nil {
		return err
	}
	x.View = v
	Copy(out, x)
	return nil
}

// DiagFlat makes a matrix with the flattened input on the diagonal "offset".
func DiagFlat(c *Call) error {
	x := Contiguous(c.In[0])
	flat := shape.Dense([]int{x.Size()})
	flat.Offset = x.Offset
	x.View = flat
	return DiagEmbed(&Call{In: []Array{x}, Out: c.Out, Attrs: Attrs{{"offset", c.Attrs.Int("offset")}, {"dim1", 0}, {"dim2", 1}}})
}

// Within copies the first input and writes the second into the part of it that
// see gives.
func Within(see func(v shape.View, a Attrs) (shape.View, error)) Func {
	return func(c *Call) error {
		out := c.Out[0]
		v, err := see(out.View, c.Attrs)
		if err != nil {
			return err
		}
		put(out, c.In[0])
		put(Array{DType: out.DType, View: v, Buf: out.Buf}, c.In[1])
		return nil
	}
}

// AddWithin copies the first input and adds the second to the part of it that
// see gives; elements that share a place all add up, rounded once.
func AddWithin(see func(v shape.View, a Attrs) (shape.View, error)) Func {
	return func(c *Call) error {
		v, err := see(c.Out[0].View, c.Attrs)
		if err != nil {
			return err
		}
		switch wideType(c.Out[0].DType) {
		case dtype.F32:
			addWithin[float32](c, v)
		case dtype.F64:
			addWithin[float64](c, v)
		case dtype.C64:
			addWithin[complex64](c, v)
		case dtype.C128:
			addWithin[complex128](c, v)
		default:
			addWithin[int64](c, v)
		}
		return nil
	}
}

func addWithin[T factor](c *Call, v shape.View) {
	out := c.Out[0]
	res := wideResult[T](out)
	copy(res, wideElems[T](c.In[0]))
	src := wideElems[T](c.In[1])
	rest := make([]axis, len(v.Dims))
	for i := range rest {
		rest[i] = axis{v.Dims[i], v.Strides[i], 0}
	}
	if len(src) > 0 {
		n, st := 1, 0
		if k := len(rest) - 1; k >= 0 {
			n, st = rest[k].n, rest[k].dst
			rest = rest[:k]
		}
		for o := 0; o*n < len(src); o++ {
			at, _ := loopOffsets(rest, o)
			at += v.Offset
			for _, x := range src[o*n : (o+1)*n] {
				res[at] += x
				at += st
			}
		}
	}
	storeWide(out, res)
}

// SumToSize sums the axes that broadcasting added or stretched: the result has
// the attribute "size".
func SumToSize(c *Call) error {
	x, out := c.In[0], c.Out[0]
	lead := len(x.Dims) - len(out.Dims)
	if !out.DType.IsComplex() && out.DType != dtype.Bool {
		var axes []int
		for i, d := range x.Dims {
			if i < lead || out.Dims[i-lead] != d {
				axes = append(axes, i)
			}
		}
		return sumOver(x, out, axes, -1)
	}
	var con contraction
	for i, d := range x.Dims {
		if i >= lead && out.Dims[i-lead] == d {
			con.m, con.aM = append(con.m, d), append(con.aM, x.Strides[i])
		} else {
			con.k, con.aK = append(con.k, d), append(con.aK, x.Strides[i])
		}
	}
	con.bK = make([]int, len(con.k))
	one := Array{DType: wideType(out.DType), View: shape.View{Dims: []int{}, Strides: []int{}}}
	switch one.DType {
	case dtype.F32:
		one.Buf = bytesOf([]float32{1})
	case dtype.F64:
		one.Buf = bytesOf([]float64{1})
	case dtype.C64:
		one.Buf = bytesOf([]complex64{1})
	case dtype.C128:
		one.Buf = bytesOf([]complex128{1})
	default:
		one.Buf = bytesOf([]int64{1})
	}
	contractWide(out, con, x, one, nil)
	return nil
}
