package kernel

import "github.com/tpush/tpush/runtime/dtype"

// The precisions of a product on the matrix unit, which multiplies bf16 and
// adds in f32: as many passes as it takes to keep 8, 16 or 24 bits of an f32.
const (
	PrecisionDefault = "default" // one pass: operands rounded to bf16
	PrecisionHigh    = "high"    // three passes: high·high + high·low + low·high
	PrecisionHighest = "highest" // six passes, which keep all 24 bits: computed in f32
)

// InPasses runs a kernel that is linear in each operand listed in factors, as
// the matrix unit does at a precision. Input add (-1: none) is not multiplied.
// Operands of other types than f32 and f16 are not split: bf16 and narrower
// ones are exact, integers and f64 are not computed in bf16.
func InPasses(f Func, c *Call, factors []int, add int, precision string) error {
	split := make([]int, 0, len(factors))
	for _, i := range factors {
		if t := c.In[i].DType; t == dtype.F32 || t == dtype.F16 {
			split = append(split, i)
		}
	}
	if len(split) == 0 || precision == PrecisionHighest || precision == "" {
		return f(c)
	}
	high := &Call{In: append([]Array{}, c.In...), Out: c.Out, Attrs: c.Attrs}
	for _, i := range split {
		high.In[i] = rounded(c.In[i])
	}
	if precision == PrecisionDefault {
		return f(high)
	}
	// The terms of two operands: high·high, and one low with the others high.
	// The sums are kept in f32.
	out := c.Out[0]
	wide := out
	if out.DType != dtype.F32 {
		wide = New(out.Spec())
		wide.DType = dtype.F32
		wide.Buf = Alloc(4 * out.Size())
	}
	high.Out = []Array{wide}
	if err := f(high); err != nil {
		return err
	}
	sum := As[float32](wide.Buf)[:out.Size()]
	part := Array{DType: dtype.F32, View: wide.View, Buf: Alloc(4 * out.Size())}
	for _, i := range split {
		low := &Call{In: append([]Array{}, high.In...), Out: []Array{part}, Attrs: c.Attrs}
		low.In[i] = remainder(c.In[i], high.In[i])
		if add >= 0 && add < len(low.In) && low.In[add].Valid() {
			low.In[add] = New(low.In[add].Spec())
		}
		if err := f(low); err != nil {
			return err
		}
		for k, x := range As[float32](part.Buf)[:out.Size()] {
			sum[k] += x
		}
	}
	if wide.DType != out.DType {
		Convert(out, wide)
	}
	return nil
}

// rounded gives a, dense, with every element rounded to bf16.
func rounded(a Array) Array {
	r := New(a.Spec())
	Convert(r, Cast(a, dtype.BF16))
	return r
}

// remainder gives a - high, rounded to bf16.
func remainder(a, high Array) Array {
	x, h := Float32s(a), Float32s(high)
	low := New(a.Spec())
	d := make([]float32, len(x))
	for i := range x {
		if v := dtype.BF16ToF32(dtype.RoundBF16(x[i] - h[i])); v == v { // an infinity leaves nothing
			d[i] = v
		}
	}
	if len(d) > 0 {
		storeRun(&low, 0, d)
	}
	return low
}
