package repl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
)

// callsOfRow is how many random calls of every row are tried in each mode.
const callsOfRow = 20

var (
	oddTypes  = []tpu.DType{tpu.F32, tpu.F32, tpu.F32, tpu.F64, tpu.BF16, tpu.I64, tpu.I32, tpu.U8, tpu.Bool, tpu.C64, tpu.F8E4M3, tpu.U16, tpu.I4}
	oddShapes = [][]int{{}, {1}, {3}, {2, 3}, {3, 2}, {3, 3}, {2, 3, 4}, {0}, {0, 3}, {2, 0, 3}, {1, 2, 3, 3}, {1, 1, 2, 4, 4}}
	oddInts   = []int{-9, -3, -2, -1, 0, 0, 1, 1, 2, 3, 7, 1 << 40, math.MaxInt, math.MinInt}
)

// odd draws an attribute of a parameter, seldom a sensible one.
func odd(r *rand.Rand, p op.Param) any {
	pick := func() int { return oddInts[r.IntN(len(oddInts))] }
	switch p.Kind {
	case op.KInt:
		if p.Name == "p" || p.Name == "n" { // counts of terms: a large one takes its time
			return r.IntN(9) - 4
		}
		return pick()
	case op.KFloat:
		return []float64{0, 1, -1, 0.5, 2, math.NaN(), math.Inf(1), 1e300}[r.IntN(8)]
	case op.KBool:
		return r.IntN(2) == 0
	case op.KString:
		return []string{"", "mean", "sum", "none", "reflect", "bogus"}[r.IntN(6)]
	case op.KInts:
		l := make([]int, r.IntN(4))
		for i := range l {
			l[i] = pick()
		}
		return l
	case op.KDType:
		return dtype.DType(oddTypes[r.IntN(len(oddTypes))])
	case op.KNumber:
		return []any{0, 1, -2, 0.5, math.NaN(), true}[r.IntN(6)]
	}
	return nil
}

// oddCall draws a call of a row.
func oddCall(r *rand.Rand, d *op.Def) (attrs op.Attrs, in []any) {
	same, t := oddShapes[r.IntN(len(oddShapes))], oddTypes[r.IntN(len(oddTypes))]
	operand := func() *tpu.Tensor {
		s, u := same, t
		if r.IntN(4) == 0 {
			s = oddShapes[r.IntN(len(oddShapes))]
		}
		if r.IntN(4) == 0 {
			u = oddTypes[r.IntN(len(oddTypes))]
		}
		x := u.Full(1, s...)
		if r.IntN(6) == 0 {
			x = tpu.RandInt(-2, 5, s...).To(u)
		}
		return x
	}
	for _, p := range d.Params {
		switch p.Kind {
		case op.KTensor:
			in = append(in, operand())
		case op.KOperand:
			if r.IntN(4) == 0 {
				in = append(in, []any{2, -1, 0.5, true}[r.IntN(4)])
			} else {
				in = append(in, operand())
			}
		case op.KOptTensor:
			if r.IntN(2) == 0 {
				in = append(in, nil)
			} else {
				in = append(in, operand())
			}
		case op.KTensors:
			for range r.IntN(3) {
				in = append(in, operand())
			}
		default:
			if p.Default == nil || r.IntN(2) == 0 {
				attrs = append(attrs, op.Attr{Name: p.Name, Value: odd(r, p)})
			}
		}
	}
	return attrs, in
}

// TestOddCallsAreRefusedAtTheCall calls every row with operands and attributes
// of all kinds. A call is refused there, by an error of a known kind and
// without a trace on its operands, or computes; nothing panics, nothing fails
// later than at the call.
func TestOddCallsAreRefusedAtTheCall(t *testing.T) {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*exec.Mode{exec.Debug, exec.DeferAndFuse} {
		d := exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: m})
		d.SetChecks(exec.ChecksOn)
		restore := tpu.Use(d)
		for _, table := range op.All() {
			for i := range table {
				row := &table[i]
				if row.Has(op.Draws) || row.Class == op.Collective || row.Method == "" && row.Func == "" {
					continue // rows of gradient rules check nothing
				}
				for k := range callsOfRow {
					r := rand.New(rand.NewPCG(uint64(k), uint64(len(row.Name))<<8+uint64(row.Name[0])))
					attrs, in := oddCall(r, row)
					oddResult(t, m, row, attrs, in, k%3 == 2)
				}
			}
		}
		restore()
	}
}

func oddResult(t *testing.T, m *exec.Mode, row *op.Def, attrs op.Attrs, in []any, write bool) {
	call := func() string {
		s := fmt.Sprintf("%s: %s%v", m.Name, row.Name, attrs)
		for _, x := range in {
			if y, ok := x.(*tpu.Tensor); ok && y != nil {
				s += " " + y.Spec().String()
			} else {
				s += fmt.Sprintf(" %v", x)
			}
		}
		return s
	}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", call(), r)
		}
	}()
	var versions []int
	for _, x := range in {
		if y, ok := x.(*tpu.Tensor); ok && y != nil {
			versions = append(versions, y.Version())
		}
	}
	var out []*tpu.Tensor
	err := tpu.Try(func() {
		if write && len(in) > 0 {
			out = []*tpu.Tensor{tpu.InPlace(string(row.Name), attrs, in...)}
		} else {
			out = tpu.Apply(string(row.Name), attrs, in...)
		}
	})
	if err != nil {
		if k := KindOf(err); k == "internal" || k == "panic" {
			t.Errorf("%s: an error of kind %s: %v", call(), k, err)
		}
		i := 0
		for _, x := range in {
			if y, ok := x.(*tpu.Tensor); ok && y != nil {
				if y.Version() != versions[i] {
					t.Errorf("%s: refused (%v), and an operand was written", call(), err)
				}
				i++
			}
		}
		return
	}
	for _, y := range out {
		if y.Size() > 1<<20 {
			continue
		}
		if err := tpu.Try(func() { y.Array() }); err != nil {
			var oom *device.OutOfMemoryError
			var host *device.HostMemoryError
			var linalg *device.KernelError
			if !errors.As(err, &oom) && !errors.As(err, &host) && !errors.As(err, &linalg) {
				t.Errorf("%s: accepted, fails later: %v", call(), err)
			} else if errors.As(err, &linalg) && (KindOf(err) == "internal" || KindOf(err) == "dtype") {
				t.Errorf("%s: accepted, then an error of kind %s: %v", call(), KindOf(err), err)
			}
		}
	}
}
