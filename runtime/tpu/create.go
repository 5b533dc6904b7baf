package tpu

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// SetX64 makes Go integers I64 tensors instead of I32 ones.
func SetX64(on bool) { ambientEngine().x64 = on }

// goInt is the type of a tensor of Go integers.
func (e *engine) goInt() dtype.DType {
	if e.x64 {
		return dtype.I64
	}
	return dtype.I32
}

// upload makes a tensor of a dense host array.
func (e *engine) upload(a kernel.Array, what string) *Tensor {
	v, err := e.d.Upload(shape.Spec{DType: a.DType, Dims: a.Dims}, a.Buf, what)
	if err != nil {
		e.fail(what, err)
	}
	if c := e.capture; c != nil {
		c.constant(v)
	}
	return e.wrap(v)
}

// FromArray makes a tensor of a host array.
func FromArray(a kernel.Array) *Tensor {
	return ambientEngine().upload(kernel.Contiguous(a), "from")
}

// full makes a tensor of equal numbers.
func (e *engine) full(s shape.Spec, x float64) *Tensor { return e.fullOf(s, x) }

// fullOf is full for a float64, int64 or bool.
func (e *engine) fullOf(s shape.Spec, x any) *Tensor {
	if i, ok := x.(int64); ok {
		x = int(i)
	}
	return e.factory("full", op.Attrs{{Name: "size", Value: nonNil(s.Dims)}, {Name: "fill_value", Value: x}, {Name: "dtype", Value: s.DType}})
}

func nonNil(d []int) []int {
	if d == nil {
		return []int{}
	}
	return d
}

// factory applies a row without operands.
func (e *engine) factory(name op.Name, given op.Attrs) *Tensor {
	def, attrs := lookup(name, given)
	v, err := e.d.Apply1(def, attrs)
	if err != nil {
		e.fail(string(name), err)
	}
	return e.wrap(v)
}

// sized refuses sizes that are negative or too large together.
func sized(name string, dims []int) []int {
	if err := shape.CheckDims(name, dims); err != nil {
		refuse(name, err)
	}
	return append([]int{}, dims...)
}

// Of makes a vector of Go numbers: F32 when one is a float, else I32 (I64
// after SetX64), Bool of bools.
func Of(xs ...any) *Tensor { return DType(0).Of(xs...) }

// Of makes a vector of type t of Go numbers.
func (t DType) Of(xs ...any) *Tensor {
	e := ambientEngine()
	nums := make([]any, len(xs))
	kind := dtype.Bool
	for i, x := range xs {
		n, ok := number(x)
		if !ok {
			e.fail("of", operandError(x, "a number is wanted"))
		}
		nums[i] = n
		switch n.(type) {
		case float64:
			kind = dtype.F32
		case int64:
			if kind == dtype.Bool {
				kind = e.goInt()
			}
		}
	}
	if len(xs) == 0 {
		kind = dtype.F32
	}
	return e.upload(fill(shape.Of(t.orElse(kind), len(xs)), nums), "of")
}

// Scalar makes a tensor without axes of a Go number.
func Scalar(x any) *Tensor { return DType(0).Scalar(x) }

// Scalar makes a tensor of type t without axes.
func (t DType) Scalar(x any) *Tensor {
	e := ambientEngine()
	n, ok := number(x)
	if !ok {
		e.fail("scalar", operandError(x, "a number is wanted"))
	}
	kind := dtype.Bool
	switch n.(type) {
	case float64:
		kind = dtype.F32
	case int64:
		kind = e.goInt()
	}
	return e.upload(fill(shape.Of(t.orElse(kind)), []any{n}), "scalar")
}

// fill converts numbers to a dense array; integers do not pass through floats.
func fill(s shape.Spec, nums []any) kernel.Array {
	out := kernel.New(s)
	whole := true
	for _, n := range nums {
		_, f := n.(float64)
		whole = whole && !f
	}
	if whole {
		tmp := kernel.New(shape.Of(dtype.I64, s.Dims...))
		for i, n := range nums {
			switch n := n.(type) {
			case int64:
				kernel.As[int64](tmp.Buf)[i] = n
			case bool:
				if n {
					kernel.As[int64](tmp.Buf)[i] = 1
				}
			}
		}
		kernel.Convert(out, tmp)
		return out
	}
	tmp := kernel.New(shape.Of(dtype.F64, s.Dims...))
	for i, n := range nums {
		switch n := n.(type) {
		case int64:
			kernel.As[float64](tmp.Buf)[i] = float64(n)
		case float64:
			kernel.As[float64](tmp.Buf)[i] = n
		case bool:
			if n {
				kernel.As[float64](tmp.Buf)[i] = 1
			}
		}
	}
	kernel.Convert(out, tmp)
	return out
}

// From makes a tensor of a number, of a slice or array nested to any depth, or
// of a flat one and dims. The type follows the Go element type: float32 and
// float64 give F32, int I32 (I64 after SetX64), sized integers their own.
func From(xs any, dims ...int) *Tensor { return DType(0).From(xs, dims...) }

// From makes a tensor of type t; see the function From.
func (t DType) From(xs any, dims ...int) *Tensor {
	e := ambientEngine()
	v := reflect.ValueOf(xs)
	if x, ok := xs.(*Tensor); ok {
		return x.To(DType(t.orElse(x.dt)))
	}
	elem, ok := e.elementType(v)
	if !ok {
		e.fail("from", operandError(xs, "numbers or slices of numbers are wanted"))
	}
	var have []int
	for w := v; ; {
		for w.Kind() == reflect.Interface {
			w = w.Elem()
		}
		if w.Kind() != reflect.Slice && w.Kind() != reflect.Array {
			break
		}
		have = append(have, w.Len())
		if w.Len() == 0 {
			for et := w.Type().Elem(); et.Kind() == reflect.Slice || et.Kind() == reflect.Array; et = et.Elem() {
				have = append(have, 0)
			}
			break
		}
		w = w.Index(0)
	}
	s := shape.Spec{DType: t.orElse(elem), Dims: nonNil(have)}
	var a kernel.Array
	if f, flat := v.Interface().([]float32); flat {
		src := kernel.New(shape.Of(dtype.F32, len(f)))
		copy(kernel.As[float32](src.Buf), f)
		a = kernel.Cast(src, s.DType)
		a.View = shape.Dense(s.Dims)
	} else {
		nums := make([]any, 0, shape.Size(have))
		nums = e.flatten(nums, v, have, nil)
		a = fill(s, nums)
	}
	if len(dims) > 0 {
		full, err := shape.InferSize("from", dims, a.Size())
		if err != nil {
			e.fail("from", err)
		}
		a.View = shape.Dense(append([]int{}, full...))
	}
	return e.upload(a, "from")
}

// elementType finds the type of the numbers inside v.
func (e *engine) elementType(v reflect.Value) (dtype.DType, bool) {
	if !v.IsValid() {
		return 0, false
	}
	t := v.Type()
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return dtype.F32, true
	case reflect.Int:
		return e.goInt(), true
	case reflect.Bool:
		return dtype.Bool, true
	case reflect.Int8:
		return dtype.I8, true
	case reflect.Int16:
		return dtype.I16, true
	case reflect.Int32:
		return dtype.I32, true
	case reflect.Int64:
		return dtype.I64, true
	case reflect.Uint8:
		return dtype.U8, true
	case reflect.Uint16:
		return dtype.U16, true
	case reflect.Uint32:
		return dtype.U32, true
	case reflect.Uint, reflect.Uint64:
		return dtype.U64, true
	case reflect.Interface:
		best, ok := dtype.Invalid, false
		var look func(w reflect.Value)
		look = func(w reflect.Value) {
			if k := w.Kind(); k == reflect.Slice || k == reflect.Array {
				for i := range w.Len() {
					look(w.Index(i))
				}
				return
			}
			if w.Kind() == reflect.Interface {
				look(w.Elem())
				return
			}
			if d, good := e.elementType(w); good && w.IsValid() {
				if p, err := dtype.Promote(d, d); err == nil && (best == dtype.Invalid || p > best) {
					best, ok = p, true
				}
			}
		}
		look(v)
		return best, ok
	}
	return 0, false
}

// flatten appends the numbers of v, which must have the sizes dims.
func (e *engine) flatten(nums []any, v reflect.Value, dims, at []int) []any {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if len(dims) == 0 {
		if !v.IsValid() || v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
			e.fail("from", &RaggedError{Row: append([]int{}, at...), Len: lenOf(v), Want: 0})
		}
		n, ok := number(v.Interface())
		if !ok {
			e.fail("from", operandError(v.Interface(), "a number is wanted"))
		}
		return append(nums, n)
	}
	if lenOf(v) != dims[0] {
		e.fail("from", &RaggedError{Row: append([]int{}, at...), Len: max(0, lenOf(v)), Want: dims[0]})
	}
	for i := range dims[0] {
		nums = e.flatten(nums, v.Index(i), dims[1:], append(at, i))
	}
	return nums
}

func lenOf(v reflect.Value) int {
	if v.IsValid() && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) {
		return v.Len()
	}
	return -1
}

// Zeros makes a tensor of zeros.
func Zeros(dims ...int) *Tensor { return F32.Zeros(dims...) }

// Ones makes a tensor of ones.
func Ones(dims ...int) *Tensor { return F32.Ones(dims...) }

// Empty makes a tensor of no particular numbers: NaN, and the largest number of an integer type.
func Empty(dims ...int) *Tensor { return F32.Empty(dims...) }

// Full makes a tensor of equal numbers; its type is that of Scalar(v).
func Full(v any, dims ...int) *Tensor { return DType(0).Full(v, dims...) }

// Zeros makes a tensor of zeros of type t.
func (t DType) Zeros(dims ...int) *Tensor {
	return ambientEngine().full(shape.Spec{DType: t.d(), Dims: sized("zeros", dims)}, 0)
}

// Ones makes a tensor of ones of type t.
func (t DType) Ones(dims ...int) *Tensor {
	return ambientEngine().full(shape.Spec{DType: t.d(), Dims: sized("ones", dims)}, 1)
}

// Empty makes a tensor of type t of no particular numbers.
func (t DType) Empty(dims ...int) *Tensor {
	s := shape.Spec{DType: t.d(), Dims: sized("empty", dims)}
	e := ambientEngine()
	switch {
	case t.IsFloat():
		return e.full(s, math.NaN())
	case t.IsInt() && t.Bits() < 64:
		return e.fullOf(s, int64(t.Max()))
	case t == I64:
		return e.fullOf(s, int64(math.MaxInt64))
	}
	return e.full(s, t.Max())
}

// Full makes a tensor of type t of equal numbers.
func (t DType) Full(v any, dims ...int) *Tensor {
	e := ambientEngine()
	n, ok := number(v)
	if !ok {
		e.fail("full", operandError(v, "a number is wanted"))
	}
	kind := dtype.Bool
	switch n.(type) {
	case float64:
		kind = dtype.F32
	case int64:
		kind = e.goInt()
	}
	return e.fullOf(shape.Spec{DType: t.orElse(kind), Dims: sized("full", dims)}, n)
}

// Fill is Full with the number last: tpu.I32.Fill(7, 2, 3) and tpu.Full(7, 2, 3) are alike.
func (t DType) Fill(v any, dims ...int) *Tensor { return t.Full(v, dims...) }

// ZerosLike makes zeros of the type and shape of x.
func (x *Tensor) ZerosLike() *Tensor { return x.engine().full(x.Spec(), 0) }

// OnesLike makes ones of the type and shape of x.
func (x *Tensor) OnesLike() *Tensor { return x.engine().full(x.Spec(), 1) }

// FullLike makes equal numbers of the type and shape of x.
func (x *Tensor) FullLike(v any) *Tensor {
	n, ok := number(v)
	if !ok {
		x.engine().fail("full_like", operandError(v, "a number is wanted"))
	}
	return x.engine().fullOf(x.Spec(), n)
}

// EmptyLike makes a tensor of the type and shape of x of no particular numbers.
func (x *Tensor) EmptyLike() *Tensor {
	x.engine()
	return x.DType().Empty(x.view.Dims...)
}

// RandLike draws uniform numbers of the type and shape of x.
func (x *Tensor) RandLike() *Tensor {
	x.engine()
	return x.DType().Rand(x.view.Dims...)
}

// RandnLike draws normal numbers of the type and shape of x.
func (x *Tensor) RandnLike() *Tensor {
	x.engine()
	return x.DType().Randn(x.view.Dims...)
}

// ZerosLike makes zeros of the type and shape of x.
func ZerosLike(x *Tensor) *Tensor { return x.ZerosLike() }

// OnesLike makes ones of the type and shape of x.
func OnesLike(x *Tensor) *Tensor { return x.OnesLike() }

// FullLike makes equal numbers of the type and shape of x.
func FullLike(x *Tensor, v any) *Tensor { return x.FullLike(v) }

// EmptyLike makes a tensor of the type and shape of x of no particular numbers.
func EmptyLike(x *Tensor) *Tensor { return x.EmptyLike() }

// RandLike draws uniform numbers of the type and shape of x.
func RandLike(x *Tensor) *Tensor { return x.RandLike() }

// RandnLike draws normal numbers of the type and shape of x.
func RandnLike(x *Tensor) *Tensor { return x.RandnLike() }

// Arange counts 0, 1, … below n. A float n gives F32, an int an integer type.
func Arange(n any) *Tensor { return DType(0).Arange(n) }

// Arange counts 0, 1, … below n in type t.
func (t DType) Arange(n any) *Tensor { return t.ArangeStep(0, n, 1) }

// ArangeStep counts start, start+step, … and stops before end.
func ArangeStep(start, end, step any) *Tensor { return DType(0).ArangeStep(start, end, step) }

// ArangeStep counts start, start+step, … in type t and stops before end.
func (t DType) ArangeStep(start, end, step any) *Tensor {
	e := ambientEngine()
	var f [3]float64
	kind := e.goInt()
	for i, x := range []any{start, end, step} {
		n, ok := number(x)
		if !ok {
			e.fail("arange", operandError(x, "a number is wanted"))
		}
		switch n := n.(type) {
		case float64:
			f[i], kind = n, dtype.F32
		case int64:
			f[i] = float64(n)
		}
	}
	switch {
	case f[2] == 0:
		e.fail("arange", &shape.ArgumentError{Op: "arange", Arg: "step", Value: step, Why: "it must not be zero"})
	case f[2] > 0 && f[0] > f[1] || f[2] < 0 && f[0] < f[1]:
		e.fail("arange", &shape.ArgumentError{Op: "arange", Arg: "end", Value: end, Why: fmt.Sprintf("a step of %v from %v does not lead there", step, start)})
	case math.IsNaN(f[0]+f[1]+f[2]) || math.IsInf(f[0], 0) || math.IsInf(f[1], 0):
		e.fail("arange", &shape.ArgumentError{Op: "arange", Arg: "end", Value: end, Why: "the bounds are not finite"})
	}
	return e.factory("arange", op.Attrs{{Name: "start", Value: numberAttr(start)}, {Name: "end", Value: numberAttr(end)}, {Name: "step", Value: numberAttr(step)}, {Name: "dtype", Value: t.orElse(kind)}})
}

// Linspace gives n numbers from a to b, both included.
func Linspace(a, b float64, n int) *Tensor { return F32.Linspace(a, b, n) }

// Linspace gives n numbers of type t from a to b, both included.
func (t DType) Linspace(a, b float64, n int) *Tensor {
	sized("linspace", []int{n})
	return ambientEngine().factory("linspace", op.Attrs{{Name: "start", Value: a}, {Name: "end", Value: b}, {Name: "steps", Value: n}, {Name: "dtype", Value: t.d()}})
}

// Eye makes the n×n identity matrix, or n×m with ones on its diagonal.
func Eye(n int, m ...int) *Tensor { return F32.Eye(n, m...) }

// Eye makes an identity matrix of type t.
func (t DType) Eye(n int, m ...int) *Tensor {
	cols := n
	if len(m) > 0 {
		cols = m[0]
	}
	sized("eye", []int{n, cols})
	return ambientEngine().factory("eye", op.Attrs{{Name: "n", Value: n}, {Name: "m", Value: cols}, {Name: "dtype", Value: t.d()}})
}
