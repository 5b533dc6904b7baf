package kernel

import (
	"sync"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// The driver of elementwise operations. It walks the result in chunks; for
// each chunk it hands the loop slices of one compute type: the operand's own
// memory where that is dense and of that type, else a scratch buffer filled by
// converting, striding and broadcasting. So an operation is written once per
// compute type, and works on any mix of layouts and element types.

// chunk is the number of elements handed to a loop when a scratch buffer is
// involved: four buffers of eight bytes an element stay in the L1 cache.
const chunk = 512

// Params are the attributes of one call, as its loop wants them.
type Params struct {
	F [4]float64
	I [4]int64
	N int
}

// work is the scratch of one goroutine.
type work struct {
	in  [3]view
	p   Params
	buf [4][2 * chunk]uint64 // a complex128 takes two words
}

var works = sync.Pool{New: func() any { return new(work) }}

func newWork() *work { return works.Get().(*work) }

// free gives w back; it forgets the buffers it saw.
func (w *work) free() {
	for i := range w.in {
		w.in[i].arr = Array{}
	}
	works.Put(w)
}

// scratch gives scratch buffer i as elements of type T.
func scratch[T element](w *work, i int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&w.buf[i][0])), chunk)
}

// A loop computes d[i] from a[i], b[i] and e[i]; operands that the operation
// does not have are nil, and so is p when it has no Prep.
type loop[D, T any] func(d []D, a, b, e []T, p *Params)

// An elementwise is one operation: a recipe, and a Go loop for each compute
// type that it does not know.
type elementwise struct {
	recipe recipe
	points points
	short  func(d, a, b []float32)

	f32  loop[float32, float32]
	f64  loop[float64, float64]
	i64  loop[int64, int64]
	u64  loop[uint64, uint64]
	c64  loop[complex64, complex64]
	c128 loop[complex128, complex128]
	// z and z2 stand for loops of complex numbers: functions of one operand and of two.
	z  func(x complex128) complex128
	z2 func(x, y complex128) complex128
	// bit replaces u64 for bools, where wrapping arithmetic would be wrong.
	bit loop[uint64, uint64]
	// heavy is set for loops of more than some 5 ns an element.
	heavy bool
	// wide keeps a 0-d operand of a wider type as it is instead of rounding it
	// to the type of the result first: PyTorch's rule for products and quotients.
	wide bool
	// prep reads the attributes.
	prep func(c *Call, p *Params)
}

// A predicate is an operation whose result is Bool.
type predicate struct {
	recipe recipe
	points points

	f32   loop[uint8, float32]
	f64   loop[uint8, float64]
	i64   loop[uint8, int64]
	u64   loop[uint8, uint64]
	c64   loop[uint8, complex64]
	c128  loop[uint8, complex128]
	heavy bool
	prep  func(c *Call, p *Params)
}

// An UnsupportedError says that a kernel has no loop for an element type.
// Inference refuses such calls, so it is a fault of the row.
type UnsupportedError struct{ DType dtype.DType }

// Error names the type.
func (e *UnsupportedError) Error() string { return "no kernel for " + e.DType.String() }

// run computes c.Out[0].
func (o *elementwise) run(c *Call) error {
	if o.short != nil && o.runShort(c) {
		return nil
	}
	if o.recipe != nil {
		if done, err := o.points.compute(c, o.recipe, o.types, o.prep, o.heavy); done {
			return err
		}
	}
	t, round := o.types(c)
	pl := plan{class: Class(t), out: Class(t), round: round, heavy: o.heavy, prep: o.prep}
	switch {
	case pl.class == dtype.F32 && o.f32 != nil:
		drive(c, &pl, loadReal[float32], storeRun[float32], o.f32)
	case pl.class == dtype.F64 && o.f64 != nil:
		drive(c, &pl, loadReal[float64], storeRun[float64], o.f64)
	case pl.class == dtype.I64 && o.i64 != nil:
		drive(c, &pl, loadReal[int64], storeRun[int64], o.i64)
	case t == dtype.Bool && o.bit != nil:
		drive(c, &pl, loadReal[uint64], storeRun[uint64], o.bit)
	case pl.class == dtype.U64 && o.u64 != nil:
		drive(c, &pl, loadReal[uint64], storeRun[uint64], o.u64)
	case pl.class == dtype.C64 && o.c64 != nil:
		drive(c, &pl, loadComplex[complex64], storeComplex[complex64], o.c64)
	case pl.class == dtype.C128 && o.c128 != nil:
		drive(c, &pl, loadComplex[complex128], storeComplex[complex128], o.c128)
	case pl.class == dtype.C64 && (o.z != nil || o.z2 != nil):
		drive(c, &pl, loadComplex[complex64], storeComplex[complex64], complexLoop[complex64](o))
	case pl.class == dtype.C128 && (o.z != nil || o.z2 != nil):
		drive(c, &pl, loadComplex[complex128], storeComplex[complex128], complexLoop[complex128](o))
	default:
		return &UnsupportedError{t}
	}
	return nil
}

// types gives the type that operands are converted to and the one that 0-d
// operands are rounded to first; Invalid: they are not.
func (o *elementwise) types(c *Call) (as, round dtype.DType) {
	as = c.Out[0].DType
	if o.wide && as.Kind() >= dtype.KindFloat {
		return as, dtype.Invalid
	}
	return as, as
}

// types gives the type that operands are compared in.
func (o *predicate) types(c *Call) (as, round dtype.DType) {
	as = promoted(c.In)
	return as, as
}

// run computes c.Out[0].
func (o *predicate) run(c *Call) error {
	if o.recipe != nil {
		if done, err := o.points.compute(c, o.recipe, o.types, o.prep, o.heavy); done {
			return err
		}
	}
	t := promoted(c.In)
	pl := plan{class: Class(t), out: dtype.Bool, round: t, heavy: o.heavy, prep: o.prep}
	switch {
	case pl.class == dtype.F32 && o.f32 != nil:
		drive(c, &pl, loadReal[float32], nil, o.f32)
	case pl.class == dtype.F64 && o.f64 != nil:
		drive(c, &pl, loadReal[float64], nil, o.f64)
	case pl.class == dtype.I64 && o.i64 != nil:
		drive(c, &pl, loadReal[int64], nil, o.i64)
	case pl.class == dtype.U64 && o.u64 != nil:
		drive(c, &pl, loadReal[uint64], nil, o.u64)
	case pl.class == dtype.C64 && o.c64 != nil:
		drive(c, &pl, loadComplex[complex64], nil, o.c64)
	case pl.class == dtype.C128 && o.c128 != nil:
		drive(c, &pl, loadComplex[complex128], nil, o.c128)
	default:
		return &UnsupportedError{t}
	}
	return nil
}

// promoted gives the common type of the operands.
func promoted(in []Array) dtype.DType {
	var ops [3]dtype.Operand
	n := 0
	for i := range in {
		if !in[i].Valid() {
			continue
		}
		c := dtype.Dim
		switch {
		case in[i].Weak:
			c = dtype.Number
		case len(in[i].Dims) == 0:
			c = dtype.ZeroDim
		}
		ops[n] = dtype.Operand{DType: in[i].DType, Category: c}
		n++
	}
	if n == 1 && ops[0].Category != dtype.Number {
		return ops[0].DType
	}
	t, err := dtype.ResultType(ops[:n]...)
	if err != nil {
		return in[0].DType
	}
	return t
}

// A plan says how one call runs.
type plan struct {
	class dtype.DType // compute type
	out   dtype.DType // type whose buffers the loop can write directly
	round dtype.DType // a 0-d operand of another type is rounded to it first; Invalid: it is not
	heavy bool
	prep  func(c *Call, p *Params)
}

// The least work of one goroutine, in elements: some 20 µs.
const (
	lightGrain = 1 << 15
	heavyGrain = 1 << 11
)

// drive runs loop f over the result.
func drive[D, T element](c *Call, pl *plan, load func(d []T, v *view, lo int), store func(out *Array, lo int, s []D), f loop[D, T]) {
	out := &c.Out[0]
	n := out.Size()
	if n == 0 {
		return
	}
	// The common case costs nothing but the loop: operands and result are
	// dense arrays of the compute type.
	if out.DType == pl.out && pl.prep == nil && n <= heavyGrain {
		direct := true
		for i := range c.In {
			a := &c.In[i]
			if a.DType != pl.class || !shape.EqualDims(a.Dims, out.Dims) || !a.Contiguous() {
				direct = false
				break
			}
		}
		if direct {
			var x [3][]T
			for i := range c.In {
				x[i] = As[T](c.In[i].Buf)[c.In[i].Offset:][:n]
			}
			f(As[D](out.Buf)[:n], x[0], x[1], x[2], nil)
			return
		}
	}
	grain := lightGrain
	if pl.heavy {
		grain = heavyGrain
	}
	if n <= grain {
		driveRange(c, pl, load, store, f, 0, n)
		return
	}
	driveParallel(c, *pl, load, store, f, n, grain)
}

// driveParallel is a function of its own so that small calls do not pay for the closure.
func driveParallel[D, T element](c *Call, pl plan, load func(d []T, v *view, lo int), store func(out *Array, lo int, s []D), f loop[D, T], n, grain int) {
	Parallel(n, grain, func(lo, hi int) { driveRange(c, &pl, load, store, f, lo, hi) })
}

// driveRange computes elements lo … hi of the result.
func driveRange[D, T element](c *Call, pl *plan, load func(d []T, v *view, lo int), store func(out *Array, lo int, s []D), f loop[D, T], lo, hi int) {
	w := newWork()
	out := &c.Out[0]
	var p *Params
	if pl.prep != nil {
		p = &w.p
		*p = Params{}
		pl.prep(c, p)
	}
	step := hi - lo
	writes := out.DType != pl.out // through a scratch buffer
	if writes {
		step = min(step, chunk)
	}
	var x [3][]T
	var reload [3]bool
	row := 0 // length of the rows that operands are stretched along; a step stays in one
	for i := range c.In {
		v := &w.in[i]
		if !c.In[i].Valid() {
			continue
		}
		v.see(&c.In[i], out.Dims)
		if n := v.row(); n > 0 && v.arr.DType == pl.class && (row == 0 || row == n) {
			row = n
			v.mode = repeat
		}
		if v.mode != dense && v.mode != repeat || v.arr.DType != pl.class {
			step = min(step, chunk)
		}
	}
	for i := range c.In {
		v := &w.in[i]
		switch {
		case !c.In[i].Valid():
		case v.mode == splat:
			x[i] = scratch[T](w, i)[:step]
			load(x[i][:1], v, 0)
			if pl.round != dtype.Invalid && pl.round != v.arr.DType && v.arr.DType != dtype.Bool {
				roundTo(pl.round, x[i][:1])
			}
			fill(x[i][1:], x[i][0])
		case v.mode == repeat, v.mode == dense && v.arr.DType == pl.class:
			// sliced below
		default:
			x[i] = scratch[T](w, i)[:step]
			reload[i] = true
		}
	}
	for m := 0; lo < hi; lo += m {
		m = min(step, hi-lo)
		if row > 0 {
			m = min(m, row-lo%row)
		}
		var y [3][]T
		for i := range c.In {
			v := &w.in[i]
			switch {
			case reload[i]:
				y[i] = x[i][:m]
				load(y[i], v, lo)
			case x[i] != nil:
				y[i] = x[i][:m]
			case v.mode == repeat:
				y[i] = As[T](v.arr.Buf)[v.off+lo%row:][:m]
			case c.In[i].Valid():
				y[i] = As[T](v.arr.Buf)[v.off+lo:][:m]
			}
		}
		if !writes {
			f(As[D](out.Buf)[lo:lo+m], y[0], y[1], y[2], p)
			continue
		}
		d := scratch[D](w, 3)[:m]
		f(d, y[0], y[1], y[2], p)
		store(out, lo, d)
	}
	w.free()
}

// roundTo rounds values of a compute type to the values of t.
func roundTo[T element](t dtype.DType, xs []T) {
	switch xs := any(xs).(type) {
	case []float32:
		for i, x := range xs {
			xs[i] = t.RoundF32(x)
		}
	case []int64:
		s := 64 - t.Bits()
		for i, x := range xs {
			xs[i] = x << s >> s
		}
	case []uint64:
		if t == dtype.Bool {
			return
		}
		s := 64 - t.Bits()
		for i, x := range xs {
			xs[i] = x << s >> s
		}
	}
}
