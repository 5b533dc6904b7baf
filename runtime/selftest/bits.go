package selftest

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// bits checks what is below the tensor layer: random bits and narrow formats.
func bits(r *conformance.Record) error {
	var got []kernel.Array
	switch f := drawn[r.Op]; {
	case f != nil:
		got = f(r)
	default:
		var ok bool
		if got, ok = narrow(r); !ok {
			panic(skip("no test of " + r.Op))
		}
	}
	for i, w := range r.Outputs {
		a := got[i]
		if a.DType == dtype.F64 { // values of a narrow format: written as the shortest decimal of a float32
			a, w.Array = kernel.Cast(a, dtype.F32), kernel.Cast(w.Array, dtype.F32)
		}
		tol := r.Tol
		if r.SignedZero {
			tol.SignedZero = true
		}
		if err := conformance.Compare(a, w.Array, tol); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

func words(o conformance.Operand) []uint64 { return kernel.Uint64s(o.Array) }

func keyOf(r *conformance.Record) kernel.Key {
	w := words(r.Inputs[0])
	return kernel.Key{uint32(w[0]), uint32(w[1])}
}

func array(t dtype.DType, dims []int, at func(i int) float64) kernel.Array {
	a := kernel.New(shape.Of(dtype.F64, dims...))
	for i := range a.Size() {
		kernel.As[float64](a.Buf)[i] = at(i)
	}
	return kernel.Cast(a, t)
}

func unsigned(t dtype.DType, dims []int, at func(i int) uint64) kernel.Array {
	a := kernel.New(shape.Of(dtype.U64, dims...))
	for i := range a.Size() {
		kernel.As[uint64](a.Buf)[i] = at(i)
	}
	return kernel.Cast(a, t)
}

// typeOf is the recorded element type, with a default.
func typeOf(r *conformance.Record, or dtype.DType) dtype.DType {
	if s, ok := r.Attrs["dtype"].(string); ok {
		if t, ok := dtype.Parse(s); ok {
			return t
		}
	}
	return or
}

// drawn are the generators.
var drawn = map[string]func(r *conformance.Record) []kernel.Array{
	"threefry2x32": func(r *conformance.Record) []kernel.Array {
		k, x, y := keyOf(r), words(r.Inputs[1]), words(r.Inputs[2])
		part := func(n int) kernel.Array {
			return unsigned(dtype.U32, []int{len(x)}, func(i int) uint64 {
				return uint64(kernel.Threefry2x32(k, [2]uint32{uint32(x[i]), uint32(y[i])})[n])
			})
		}
		return []kernel.Array{part(0), part(1)}
	},
	"philox4x32": func(r *conformance.Record) []kernel.Array {
		c := words(r.Inputs[1])
		w := kernel.Philox4x32(keyOf(r), [4]uint32{uint32(c[0]), uint32(c[1]), uint32(c[2]), uint32(c[3])})
		return []kernel.Array{unsigned(dtype.U32, []int{4}, func(i int) uint64 { return uint64(w[i]) })}
	},
	"threefry_seed": func(r *conformance.Record) []kernel.Array {
		k := kernel.KeyOf(uint64(whole(r.Attrs["seed"])))
		return []kernel.Array{unsigned(dtype.U32, []int{2}, func(i int) uint64 { return uint64(k[i]) })}
	},
	"threefry_split": func(r *conformance.Record) []kernel.Array {
		ks := keyOf(r).Split(whole(r.Attrs["num"]))
		return []kernel.Array{unsigned(dtype.U32, []int{len(ks), 2}, func(i int) uint64 { return uint64(ks[i/2][i%2]) })}
	},
	"threefry_fold_in": func(r *conformance.Record) []kernel.Array {
		k := keyOf(r).FoldIn(uint32(whole(r.Attrs["data"])))
		return []kernel.Array{unsigned(dtype.U32, []int{2}, func(i int) uint64 { return uint64(k[i]) })}
	},
	"threefry_bits": func(r *conformance.Record) []kernel.Array {
		k, t := keyOf(r), typeOf(r, dtype.U32)
		return []kernel.Array{unsigned(t, ints(r.Attrs["shape"]), func(i int) uint64 { return k.Bits(i, t.Bits()) })}
	},
	"threefry_uniform": func(r *conformance.Record) []kernel.Array {
		k, t, hi := keyOf(r), typeOf(r, dtype.F32), 1.0
		if v, ok := r.Attrs["maxval"]; ok {
			hi = float(v)
		}
		return []kernel.Array{array(t, ints(r.Attrs["shape"]), func(i int) float64 { return k.Uniform(i, t, float(r.Attrs["minval"]), hi) })}
	},
	"threefry_normal": func(r *conformance.Record) []kernel.Array {
		k := keyOf(r)
		return []kernel.Array{array(typeOf(r, dtype.F32), ints(r.Attrs["shape"]), func(i int) float64 { return float64(k.Normal(i)) })}
	},
	"threefry_bernoulli": func(r *conformance.Record) []kernel.Array {
		k, p := keyOf(r), float64(float32(float(r.Attrs["p"])))
		return []kernel.Array{array(dtype.Bool, ints(r.Attrs["shape"]), func(i int) float64 {
			if k.Uniform(i, dtype.F32, 0, 1) < p {
				return 1
			}
			return 0
		})}
	},
	"threefry_exponential": func(r *conformance.Record) []kernel.Array {
		k := keyOf(r)
		return []kernel.Array{array(dtype.F32, ints(r.Attrs["shape"]), func(i int) float64 { return -math.Log1p(-k.Uniform(i, dtype.F32, 0, 1)) })}
	},
	"threefry_gumbel": func(r *conformance.Record) []kernel.Array {
		k := keyOf(r)
		return []kernel.Array{array(dtype.F32, ints(r.Attrs["shape"]), func(i int) float64 {
			return -math.Log(-math.Log(k.Uniform(i, dtype.F32, dtype.F32.Min(), 1)))
		})}
	},
	"threefry_randint": func(r *conformance.Record) []kernel.Array {
		k := keyOf(r)
		return []kernel.Array{array(dtype.I32, ints(r.Attrs["shape"]), func(i int) float64 {
			return float64(k.RandInt(i, int32(whole(r.Attrs["minval"])), int32(whole(r.Attrs["maxval"]))))
		})}
	},
	"threefry_permutation": func(r *conformance.Record) []kernel.Array {
		p := keyOf(r).Permutation(whole(r.Attrs["n"]))
		return []kernel.Array{array(dtype.I32, []int{len(p)}, func(i int) float64 { return float64(p[i]) })}
	},
	"rng_philox": func(r *conformance.Record) []kernel.Array {
		out := kernel.New(shape.Of(typeOf(r, dtype.U32), ints(r.Attrs["shape"])...))
		if err := kernel.RandomBits(&kernel.Call{In: []kernel.Array{r.Inputs[0].Array}, Out: []kernel.Array{out}}); err != nil {
			panic(err)
		}
		s := words(r.Inputs[0])
		return []kernel.Array{unsigned(dtype.U64, []int{2}, func(i int) uint64 {
			if i == 0 {
				return s[0]
			}
			return s[1] + kernel.DrawOffset(out.Size(), out.DType.Bits())
		}), out}
	},
	"rng_three_fry": func(r *conformance.Record) []kernel.Array {
		out := kernel.New(shape.Of(typeOf(r, dtype.U32), ints(r.Attrs["shape"])...))
		s := words(r.Inputs[0])
		next := kernel.ThreeFryBits([2]uint64{s[0], s[1]}, out)
		return []kernel.Array{unsigned(dtype.U64, []int{2}, func(i int) uint64 { return next[i] }), out}
	},
}

// narrow runs a record of the narrow formats.
func narrow(r *conformance.Record) (out []kernel.Array, ok bool) {
	name, _ := r.Attrs["dtype"].(string)
	in := r.Inputs[0].Array
	switch r.Op {
	case "pack_nibbles":
		codes := make([]uint8, in.Size())
		for i, w := range kernel.Uint64s(in) {
			codes[i] = uint8(w)
		}
		p := dtype.PackNibbles(codes)
		return []kernel.Array{unsigned(dtype.U8, []int{len(p)}, func(i int) uint64 { return uint64(p[i]) })}, true
	case "mx_quantize":
		return quantized(r, dtype.Block{Element: name, Scale: dtype.F8E8M0, Size: whole(r.Attrs["block"])}), true
	case "nvfp4_quantize":
		b, _ := dtype.BlockByName("nvfp4")
		return quantized(r, b), true
	}
	f, ok := dtype.FormatByName(name)
	if !ok {
		return nil, false
	}
	switch r.Op {
	case "small_decode":
		codes := kernel.Uint64s(in)
		return []kernel.Array{array(dtype.F32, in.Dims, func(i int) float64 { return f.Decode(codes[i]) })}, true
	case "small_code":
		x := kernel.Float64s(in)
		return []kernel.Array{unsigned(dtype.U8, in.Dims, func(i int) uint64 { return f.Encode(x[i], dtype.Overflows) })}, true
	case "small_cast":
		x, want := kernel.Float64s(in), kernel.Float64s(r.Outputs[0].Array)
		return []kernel.Array{array(dtype.F64, in.Dims, func(i int) float64 {
			if f.Special == dtype.Scale && x[i] <= 0 {
				return want[i] // ml_dtypes refuses these with NaN, PyTorch takes the magnitude
			}
			return f.Decode(f.Encode(x[i], dtype.Overflows))
		})}, true
	}
	return nil, false
}

// quantized gives scales, elements and values of all blocks.
func quantized(r *conformance.Record, b dtype.Block) []kernel.Array {
	x := kernel.Float32s(r.Inputs[0].Array)
	f, _ := dtype.FormatByName(b.Element)
	n := len(x) / b.Size
	scales, codes, back := make([]uint8, n), make([]uint8, len(x)), make([]float32, len(x))
	for i := range n {
		part := codes[i*b.Size : (i+1)*b.Size]
		scales[i] = b.Quantize(x[i*b.Size:(i+1)*b.Size], part)
		b.Dequantize(scales[i], part, back[i*b.Size:(i+1)*b.Size])
	}
	out := []kernel.Array{
		unsigned(dtype.U8, []int{n}, func(i int) uint64 { return uint64(scales[i]) }),
		array(dtype.F64, []int{n, b.Size}, func(i int) float64 { return f.Decode(uint64(codes[i])) }),
		array(dtype.F32, []int{n, b.Size}, func(i int) float64 { return float64(back[i]) }),
	}
	if b.Scale != dtype.F8E8M0 {
		out[0] = array(b.Scale, []int{n}, func(i int) float64 { return b.Scale.Decode(uint64(scales[i])) })
	}
	for i, w := range r.Outputs { // the recording's own shape and type
		if i < len(out) {
			out[i].View = shape.Dense(w.Array.Dims)
			if w.Kind == conformance.Tensor && i > 0 {
				out[i] = kernel.Cast(out[i], w.Array.DType)
			}
		}
	}
	return out
}
