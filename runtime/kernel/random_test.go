package kernel_test

import (
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

func state(key, counter uint64) kernel.Array {
	a := kernel.New(shape.Of(dtype.U64, 2))
	copy(kernel.As[uint64](a.Buf), []uint64{key, counter})
	return a
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		key  [2]uint32
		ctr  [4]uint32
		want [4]uint32
	}{
		{[2]uint32{}, [4]uint32{}, [4]uint32{1713891541, 3781805453, 3159862348, 2600524760}},
		{[2]uint32{2752067618, 698298832}, [4]uint32{608135816, 2242054355, 320440878, 57701188}, [4]uint32{3513581065, 2499661035, 1342301216, 605187745}},
	} {
		if got := kernel.Philox4x32(c.key, c.ctr); got != c.want {
			t.Errorf("Philox4x32(%v, %v) = %v, want %v", c.key, c.ctr, got, c.want)
		}
	}
	for _, c := range []struct{ key, x, want [2]uint32 }{
		{[2]uint32{}, [2]uint32{}, [2]uint32{1797259609, 2579123966}},
		{[2]uint32{1<<32 - 1, 1<<32 - 1}, [2]uint32{1<<32 - 1, 1<<32 - 1}, [2]uint32{481924860, 3137350631}},
	} {
		if got := kernel.Threefry2x32(c.key, c.x); got != c.want {
			t.Errorf("Threefry2x32(%v, %v) = %v, want %v", c.key, c.x, got, c.want)
		}
	}
}

// TestRecordedBits compares with recordings of the block functions and of
// XLA's rng_bit_generator.
func TestRecordedBits(t *testing.T) {
	files := []string{"testdata/random.jsonl"}
	if dir, ok := conformance.Find(".", "conformance"); ok {
		files = append(files, filepath.Join(dir, "random.jsonl"))
	}
	for _, f := range files {
		recs, err := conformance.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		ran := 0
		for _, r := range recs {
			in := func(i int) []uint64 { return kernel.Uint64s(r.Inputs[i].Array) }
			out := func(i int) []uint64 { return kernel.Uint64s(r.Outputs[i].Array) }
			switch r.Op {
			case "philox4x32":
				k, c := in(0), in(1)
				got := kernel.Philox4x32([2]uint32{uint32(k[0]), uint32(k[1])}, [4]uint32{uint32(c[0]), uint32(c[1]), uint32(c[2]), uint32(c[3])})
				for i, w := range out(0) {
					if uint64(got[i]) != w {
						t.Errorf("%s: word %d = %d, want %d", r.ID, i, got[i], w)
					}
				}
			case "threefry2x32":
				k, x, y := in(0), in(1), in(2)
				for i := range x {
					got := kernel.Threefry2x32([2]uint32{uint32(k[0]), uint32(k[1])}, [2]uint32{uint32(x[i]), uint32(y[i])})
					if uint64(got[0]) != out(0)[i] || uint64(got[1]) != out(1)[i] {
						t.Errorf("%s: block %d = %v, want %d %d", r.ID, i, got, out(0)[i], out(1)[i])
					}
				}
			case "rng_philox":
				want := r.Outputs[1].Array
				got := kernel.New(want.Spec())
				if err := kernel.RandomBits(&kernel.Call{In: []kernel.Array{r.Inputs[0].Array}, Out: []kernel.Array{got}}); err != nil {
					t.Fatal(err)
				}
				if err := conformance.Compare(got, want, conformance.Tol{}); err != nil {
					t.Errorf("%s: %v", r.ID, err)
				}
				if next := in(0)[1] + kernel.DrawOffset(want.Size(), want.DType.Bits()); next != out(0)[1] {
					t.Errorf("%s: the counter moves to %d, want %d", r.ID, next, out(0)[1])
				}
			default:
				continue
			}
			ran++
		}
		if ran == 0 {
			t.Errorf("%s holds nothing to check", f)
		}
	}
}

// TestDrawsDoNotDependOnThreads draws with one thread and with several.
func TestDrawsDoNotDependOnThreads(t *testing.T) {
	draw := func(procs int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		out := kernel.New(shape.Of(dtype.F32, 10_001))
		attrs := kernel.Attrs{{Name: "mean", Value: 0.0}, {Name: "std", Value: 1.0}}
		if err := kernel.Normal(&kernel.Call{In: []kernel.Array{state(3, 9)}, Out: []kernel.Array{out}, Attrs: attrs}); err != nil {
			t.Fatal(err)
		}
		return kernel.Float32s(out)
	}
	if !slices.Equal(draw(1), draw(4)) {
		t.Error("the numbers depend on the number of threads")
	}
}

func TestDistributions(t *testing.T) {
	const n = 200_000
	attrs := func(kv ...any) kernel.Attrs {
		var a kernel.Attrs
		for i := 0; i < len(kv); i += 2 {
			a = append(a, kernel.Attr{Name: kv[i].(string), Value: kv[i+1]})
		}
		return a
	}
	for _, c := range []struct {
		name      string
		f         kernel.Func
		t         dtype.DType
		a         kernel.Attrs
		mean, std float64
		lo, hi    float64
	}{
		{"uniform f32", kernel.Uniform, dtype.F32, attrs("from", 0.0, "to", 1.0), 0.5, math.Sqrt(1. / 12), 0, 1},
		{"uniform bf16", kernel.Uniform, dtype.BF16, attrs("from", 0.0, "to", 1.0), 0.5 - 1./512, math.Sqrt(1. / 12), 0, 1},
		{"uniform f64", kernel.Uniform, dtype.F64, attrs("from", -2.0, "to", 4.0), 1, math.Sqrt(3), -2, 4},
		{"normal", kernel.Normal, dtype.F32, attrs("mean", 3.0, "std", 2.0), 3, 2, -10, 16},
		{"normal f64", kernel.Normal, dtype.F64, attrs("mean", 0.0, "std", 1.0), 0, 1, -7, 7},
		{"exponential", kernel.Exponential, dtype.F32, attrs("lambd", 2.0), 0.5, 0.5, 0, 9},
		{"randint", kernel.RandInt, dtype.I64, attrs("low", -5, "high", 5), -0.5, math.Sqrt(99. / 12), -5, 5},
		{"randint of 40 bits", kernel.RandInt, dtype.I64, attrs("low", 0, "high", 1<<40), 1 << 39, (1 << 40) / math.Sqrt(12), 0, 1 << 40},
		{"bernoulli", kernel.BernoulliP, dtype.F32, attrs("p", 0.3), 0.3, math.Sqrt(0.21), 0, 1.5},
	} {
		out := kernel.New(shape.Of(c.t, n))
		if err := c.f(&kernel.Call{In: []kernel.Array{state(1, 0)}, Out: []kernel.Array{out}, Attrs: c.a}); err != nil {
			t.Fatal(err)
		}
		var sum, sq float64
		for _, x := range kernel.Float64s(out) {
			if x < c.lo || x >= c.hi {
				t.Fatalf("%s: %g is outside [%g, %g)", c.name, x, c.lo, c.hi)
			}
			sum += x
			sq += (x - c.mean) * (x - c.mean)
		}
		if d := (sum/n - c.mean) / (c.std / math.Sqrt(n)); math.Abs(d) > 4 {
			t.Errorf("%s: mean %g, want %g", c.name, sum/n, c.mean)
		}
		if s := math.Sqrt(sq / n); math.Abs(s/c.std-1) > 0.02 {
			t.Errorf("%s: standard deviation %g, want %g", c.name, s, c.std)
		}
	}
}

func TestRandPermIsAPermutation(t *testing.T) {
	out := kernel.New(shape.Of(dtype.I64, 1000))
	if err := kernel.RandPerm(&kernel.Call{In: []kernel.Array{state(1, 0)}, Out: []kernel.Array{out}}); err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(kernel.Int64s(out))
	if slices.IsSorted(got) {
		t.Error("the order is not random")
	}
	slices.Sort(got)
	for i, x := range got {
		if x != int64(i) {
			t.Fatalf("sorted element %d is %d", i, x)
		}
	}
}

func TestDropoutKeepsTheMean(t *testing.T) {
	x := kernel.New(shape.Of(dtype.F32, 100_000))
	for i := range kernel.As[float32](x.Buf) {
		kernel.As[float32](x.Buf)[i] = 1
	}
	out, mask := kernel.New(x.Spec()), kernel.New(shape.Of(dtype.Bool, 100_000))
	c := &kernel.Call{In: []kernel.Array{state(5, 0), x}, Out: []kernel.Array{out, mask}, Attrs: kernel.Attrs{{Name: "p", Value: 0.25}}}
	if err := kernel.Dropout(c); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, y := range kernel.Float64s(out) {
		if want := float64(mask.Buf[i]) * float64(float32(1/0.75)); y != want {
			t.Fatalf("element %d = %g, want %g", i, y, want)
		}
		sum += y
	}
	if math.Abs(sum/100_000-1) > 0.01 {
		t.Errorf("mean %g, want 1", sum/100_000)
	}
}
