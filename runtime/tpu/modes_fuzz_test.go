package tpu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// slots is how many variables a random program has.
const slots = 6

// A randomProgram draws its statements from a generator: the same seed gives
// the same program, whatever the mode, because only types and shapes steer it.
type randomProgram struct {
	r    *rand.Rand
	vars [slots]*Tensor
	log  []string // what was refused, what was read
	text []string // the program
	step int

	shapes [][]int // what it makes
	most   int     // elements of a variable
}

// unaryRows and binaryRows are the elementwise rows that need no attributes.
func unaryRows() (list []op.Name) { return elementwiseRows(1) }

func binaryRows() (list []op.Name) { return elementwiseRows(2) }

func elementwiseRows(tensors int) (list []op.Name) {
	for _, table := range op.All() {
		for i := range table {
			d := &table[i]
			if d.Class != op.Elementwise || len(d.Inputs()) != tensors || d.Infer != nil || d.Has(op.HostSize) {
				continue
			}
			if _, err := d.Complete(nil); err == nil {
				list = append(list, d.Name)
			}
		}
	}
	return list
}

var (
	fuzzTypes  = []DType{F32, F32, F32, BF16, I32, I64, Bool, F64, U8}
	fuzzShapes = [][]int{{}, {1}, {4}, {3, 4}, {4, 3}, {2, 3, 4}, {1, 4}, {3, 1}, {4, 4}, {0, 3}}
)

// largeShapes go beyond a vector, a tile of the loops and the rows of a block.
var largeShapes = [][]int{{}, {7}, {257}, {33, 17}, {17, 33}, {3, 7, 33}, {1, 257}, {4099}, {33, 1}, {130, 67}}

// newProgram makes the program of a seed.
func newProgram(seed uint64) *randomProgram {
	return &randomProgram{r: rand.New(rand.NewPCG(seed, 0)), shapes: fuzzShapes, most: 4096}
}

// fresh makes a tensor of small numbers.
func (p *randomProgram) fresh(t DType, dims []int) *Tensor {
	a := kernel.New(shape.Of(dtype.F64, dims...))
	f := kernel.As[float64](a.Buf)
	for i := range f[:a.Size()] {
		f[i] = float64(p.r.IntN(17)-8) / 4
	}
	return FromArray(kernel.Cast(a, t.d()))
}

func (p *randomProgram) pick() int { return p.r.IntN(slots) }

func (p *randomProgram) any() *Tensor { return p.vars[p.pick()] }

// positions makes an index of n legal positions on an axis of the given size.
func (p *randomProgram) positions(n, size int) *Tensor {
	xs := make([]any, n)
	for i := range xs {
		xs[i] = p.r.IntN(max(size, 1))
	}
	return I64.Of(xs...)
}

// statement runs one random statement. A refusal is part of the result.
func (p *randomProgram) statement() {
	to, k := p.pick(), p.r.IntN(len(statements))
	err := Try(func() {
		if t := statements[k].run(p); t != nil {
			if t.Size() > p.most {
				t = t.Index(0)
			}
			p.vars[to] = t
		}
	})
	p.text = append(p.text, fmt.Sprintf("v%d = %s", to, statements[k].name))
	if err != nil {
		p.log = append(p.log, fmt.Sprintf("%d: %v", p.step, err))
	}
	p.step++
}

// number draws a Go number.
func (p *randomProgram) number() any {
	if p.r.IntN(2) == 0 {
		return p.r.IntN(7) - 3
	}
	return float64(p.r.IntN(17)-8) / 8
}

// axis draws an axis of x; 0 when it has none, which is refused.
func (p *randomProgram) axis(x *Tensor) int { return p.r.IntN(max(x.Rank(), 1)) }

// noted adds the name of the row to the text of the program.
func (p *randomProgram) noted(name op.Name, attrs op.Attrs, in ...any) *Tensor {
	p.text = append(p.text, fmt.Sprint("  ", name))
	return Apply(string(name), attrs, in...)[0]
}

// A statement is one thing a random program does; the tensor it gives is assigned.
type statement struct {
	name string
	run  func(p *randomProgram) *Tensor
}

var statements []statement

// The table is built here since its rows refer to the generator that reads it.
func fuzzStatements() []statement {
	unary, binary := unaryRows(), binaryRows()
	draw := func(p *randomProgram, l []op.Name) op.Name { return l[p.r.IntN(len(l))] }
	unaryOf := func(p *randomProgram) *Tensor { return p.noted(draw(p, unary), nil, p.any()) }
	binaryOf := func(p *randomProgram) *Tensor { return p.noted(draw(p, binary), nil, p.any(), p.any()) }
	return []statement{
		{"unary", unaryOf}, {"unary", unaryOf}, {"binary", binaryOf}, {"binary", binaryOf},
		{"chain", func(p *randomProgram) *Tensor { return p.any().Mul(p.number()).Add(p.any()).Tanh() }},
		{"number", func(p *randomProgram) *Tensor { return p.noted(draw(p, binary), nil, p.any(), p.number()) }},
		{"fresh", func(p *randomProgram) *Tensor {
			return p.fresh(fuzzTypes[p.r.IntN(len(fuzzTypes))], p.shapes[p.r.IntN(len(p.shapes))])
		}},
		{"full", func(p *randomProgram) *Tensor { return Full(p.number(), p.shapes[p.r.IntN(len(p.shapes))]...) }},
		{"large constant", func(p *randomProgram) *Tensor { // held as one element
			x := Full(p.number(), 130, 128)
			if p.r.IntN(2) == 0 {
				x.Index(0).AddInPlace(p.number())
			}
			return x.Mul(p.number()).T().Index(Slice(0, 3), Slice(0, 2)).Add(p.number())
		}},
		{"cast", func(p *randomProgram) *Tensor { return p.any().To(fuzzTypes[p.r.IntN(len(fuzzTypes))]) }},
		{"reduce", func(p *randomProgram) *Tensor {
			x := p.any()
			switch p.r.IntN(6) {
			case 0:
				return x.Sum()
			case 1:
				return x.SumKeep(p.axis(x))
			case 2:
				return x.Mean(p.axis(x))
			case 3:
				return x.AMax(p.axis(x))
			case 4:
				_, at := x.MaxAxis(p.axis(x))
				return at
			}
			return x.CumSum(p.axis(x))
		}},
		{"sort", func(p *randomProgram) *Tensor {
			v, at := p.any().Sort()
			if p.r.IntN(2) == 0 {
				return at
			}
			return v
		}},
		{"softmax", func(p *randomProgram) *Tensor { x := p.any(); return x.Softmax(p.axis(x)) }},
		{"matmul", func(p *randomProgram) *Tensor { return p.any().MatMul(p.any()) }},
		{"gram", func(p *randomProgram) *Tensor { x := p.any(); return x.MatMul(x.T()) }},
		{"transpose", func(p *randomProgram) *Tensor { x := p.any(); return x.Transpose(p.axis(x), p.axis(x)) }},
		{"reshape", func(p *randomProgram) *Tensor { return p.any().Reshape(-1) }},
		{"view", func(p *randomProgram) *Tensor { x := p.any(); return x.View(x.Size()) }},
		{"unsqueeze", func(p *randomProgram) *Tensor { x := p.any(); return x.Unsqueeze(p.axis(x)) }},
		{"expand", func(p *randomProgram) *Tensor {
			x := p.any()
			return x.Unsqueeze(0).Expand(append([]int{2}, x.Dims()...)...)
		}},
		{"select", func(p *randomProgram) *Tensor { x := p.any(); return x.Index(p.r.IntN(3)) }},
		{"slice", func(p *randomProgram) *Tensor { return p.any().Index(SliceStep(p.r.IntN(2), nil, 1+p.r.IntN(2))) }},
		{"slice last", func(p *randomProgram) *Tensor { return p.any().Index(Ellipsis, Slice(nil, -1)) }},
		{"where", func(p *randomProgram) *Tensor { return Where(p.any().Gt(0), p.any(), p.any()) }},
		{"masked_fill", func(p *randomProgram) *Tensor { x := p.any(); return x.MaskedFill(x.Lt(0), p.number()) }},
		{"clamp", func(p *randomProgram) *Tensor { return p.any().Clamp(ClampOptions{Min: -1, Max: 0.5}) }},
		{"cat", func(p *randomProgram) *Tensor { x := p.any(); return Cat(p.axis(x), x, x) }},
		{"index_select", func(p *randomProgram) *Tensor {
			x := p.any()
			a := p.axis(x)
			n := 1
			if x.Rank() > 0 {
				n = x.Dim(a)
			}
			if n == 0 {
				return nil
			}
			return x.IndexSelect(a, p.positions(1+p.r.IntN(4), n))
		}},
		{"index", func(p *randomProgram) *Tensor {
			x := p.any()
			if x.Rank() == 0 || x.Dim(0) == 0 {
				return nil
			}
			return x.Index(p.positions(3, x.Dim(0)))
		}},
		{"mask", func(p *randomProgram) *Tensor { x := p.any(); return x.Index(x.Gt(0)) }},
		{"add_", func(p *randomProgram) *Tensor { p.any().AddInPlace(p.any()); return nil }},
		{"mul_", func(p *randomProgram) *Tensor { p.any().MulInPlace(p.number()); return nil }},
		{"relu_", func(p *randomProgram) *Tensor { p.any().ReLUInPlace(); return nil }},
		{"tanh_", func(p *randomProgram) *Tensor { p.any().TanhInPlace(); return nil }},
		{"self add_", func(p *randomProgram) *Tensor { x := p.any(); x.AddInPlace(x); return nil }},
		{"row add_", func(p *randomProgram) *Tensor { p.any().Index(0).AddInPlace(p.number()); return nil }},
		{"copy_", func(p *randomProgram) *Tensor { p.any().CopyFrom(p.any()); return nil }},
		{"fill_", func(p *randomProgram) *Tensor { p.any().FillInPlace(p.number()); return nil }},
		{"setitem", func(p *randomProgram) *Tensor { p.any().SetIndex(p.number(), 0); return nil }},
		{"setmask", func(p *randomProgram) *Tensor { x := p.any(); x.SetIndex(p.number(), x.Lt(0)); return nil }},
		{"setrows", func(p *randomProgram) *Tensor {
			x := p.any()
			if x.Rank() == 0 || x.Dim(0) == 0 {
				return nil
			}
			x.SetIndex(p.number(), p.positions(2, x.Dim(0)))
			return nil
		}},
		{"out", func(p *randomProgram) *Tensor { return Into(p.any(), "add", nil, p.any(), p.any()) }},
		{"leaf", func(p *randomProgram) *Tensor { return p.any().Detach().Clone().RequireGrad() }},
		{"detach", func(p *randomProgram) *Tensor { return p.any().Detach() }},
		{"no grad", func(p *randomProgram) *Tensor {
			NoGrad(func() { p.any().MulInPlace(p.number()) })
			return nil
		}},
		{"backward", func(p *randomProgram) *Tensor { p.any().Sum().Backward(); return nil }},
		{"square backward", func(p *randomProgram) *Tensor {
			x := p.any().Detach().Clone().RequireGrad()
			x.Mul(x).Mul(p.any()).Sum().Backward()
			return x.Grad()
		}},
		{"second", func(p *randomProgram) *Tensor {
			x := p.any().Detach().Clone().RequireGrad()
			g := GradWith(x.Mul(x).Mul(x).Sum(), GradOptions{CreateGraph: true}, x)[0]
			return Grad(g.Sum(), x)[0]
		}},
		{"grad", func(p *randomProgram) *Tensor { return p.any().Grad() }},
		{"compiled", func(p *randomProgram) *Tensor {
			f := Compile(func(x, y *Tensor) *Tensor { return x.Sigmoid().Mul(y).Add(x) }).(func(x, y *Tensor) *Tensor)
			return f(p.any(), p.any())
		}},
		{"rand", func(p *randomProgram) *Tensor { return Rand(p.shapes[p.r.IntN(len(p.shapes))]...) }},
		{"randn", func(p *randomProgram) *Tensor { return Randn(3, 4).To(fuzzTypes[p.r.IntN(len(fuzzTypes))]) }},
		{"dropout", func(p *randomProgram) *Tensor { return p.any().Dropout(0.5) }},
		{"uniform_", func(p *randomProgram) *Tensor { return p.any().UniformInPlace(-1, 1) }},
		{"layer_norm", func(p *randomProgram) *Tensor {
			x := p.any()
			if x.Rank() == 0 {
				return nil
			}
			return LayerNorm(x, x.Dims()[x.Rank()-1:])
		}},
		{"cross_entropy", func(p *randomProgram) *Tensor {
			x := p.any().Detach().Clone().RequireGrad()
			if x.Rank() != 2 || x.Size() == 0 {
				return nil
			}
			loss := CrossEntropy(x, p.positions(x.Dim(0), x.Dim(1)))
			loss.Backward()
			p.read(loss)
			return x.Grad()
		}},
		{"embedding", func(p *randomProgram) *Tensor {
			w := p.any().Detach().Clone().RequireGrad()
			if w.Rank() != 2 || w.Size() == 0 {
				return nil
			}
			Embedding(p.positions(5, w.Dim(0)), w).Sum().Backward()
			return w.Grad()
		}},
		{"train", func(p *randomProgram) *Tensor {
			x := p.fresh(F32, []int{3, 4})
			w := p.fresh(F32, []int{4, 2}).RequireGrad()
			for range 3 {
				loss := x.MatMul(w).Tanh().Mean()
				w.ZeroGrad()
				loss.Backward()
				NoGrad(func() { w.SubInPlace(w.Grad().Mul(0.1)) })
			}
			return w.Detach()
		}},
		{"topk", func(p *randomProgram) *Tensor { v, _ := p.any().TopK(2); return v }},
		{"flip", func(p *randomProgram) *Tensor { x := p.any(); return x.Flip(p.axis(x)) }},
		{"roll", func(p *randomProgram) *Tensor { return p.any().Roll([]int{1}) }},
		{"pad", func(p *randomProgram) *Tensor { return p.any().Pad(1, 0) }},
		{"tril", func(p *randomProgram) *Tensor { return p.any().Tril() }},
		{"einsum", func(p *randomProgram) *Tensor { return Einsum("ij,kj->ik", p.any(), p.any()) }},
		{"scatter_add", func(p *randomProgram) *Tensor {
			x := p.any()
			if x.Rank() != 1 || x.Size() == 0 {
				return nil
			}
			return x.ScatterAdd(0, p.positions(4, x.Dim(0)), p.fresh(x.DType(), []int{4}))
		}},
		{"split", func(p *randomProgram) *Tensor { return p.any().Split(2)[0] }},
		{"view of a view", func(p *randomProgram) *Tensor {
			x := p.any()
			y := x.Index(Slice(0, 2)).Unsqueeze(0)
			y.AddInPlace(p.number())
			return y
		}},
		{"retained", func(p *randomProgram) *Tensor {
			x := p.any().Detach().Clone().RequireGrad()
			y := x.Mul(2).RetainGrad()
			z := y.Mul(y).Sum()
			z.Backward(GradOptions{RetainGraph: true})
			z.Backward()
			p.read(x.Grad())
			return y.Grad()
		}},
		{"copy of a handle", func(p *randomProgram) *Tensor { return p.any() }},
		{"drop", func(p *randomProgram) *Tensor { return Zeros(2) }},
		{"loop", func(p *randomProgram) *Tensor {
			x := p.any()
			for range 5 {
				x = x.Mul(0.5).Add(1)
			}
			return x
		}},
		{"read", func(p *randomProgram) *Tensor { p.read(p.any()); return nil }},
		{"sync", func(p *randomProgram) *Tensor { Sync(p.any()); return nil }},
		{"print", func(p *randomProgram) *Tensor { p.log = append(p.log, p.any().String()); return nil }},
	}
}

// read logs type and bits of x.
func (p *randomProgram) read(x *Tensor) {
	err := Try(func() {
		a := x.Array()
		p.log = append(p.log, fmt.Sprintf("%v %x", x.Spec(), a.Buf[:a.Size()*a.DType.HostBytes()]))
	})
	if err != nil {
		p.log = append(p.log, fmt.Sprintf("%v: %v", x.Spec(), err))
	}
}

// A run is one way to run a program.
type run struct {
	mode   *exec.Mode
	rooted bool
}

func (r run) String() string {
	if r.rooted {
		return r.mode.Name + " with roots"
	}
	return r.mode.Name
}

func runs() (all []run) {
	for _, m := range append(exec.Modes(), exec.DeferAll) {
		all = append(all, run{m, true}, run{m, false})
	}
	return all
}

// play runs the program of a seed and gives what it read, was refused, and holds at the end.
func (r run) play(t testing.TB, seed uint64, steps int, large bool) *randomProgram {
	p := newProgram(seed)
	if large {
		p.shapes, p.most = largeShapes, 1<<14
	}
	end := func() {}
	var d *exec.Dispatcher
	if r.rooted {
		l := newLab(t, r.mode)
		d = l.d
		end = func() {
			l.end(p.vars[:]...)
			if r.mode.EveryOp {
				p.countHBM(l)
			}
		}
		defer l.close()
	} else {
		chip, err := device.LookupChip("v5e")
		if err != nil {
			t.Fatal(err)
		}
		d = exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: r.mode})
		defer Use(d)()
	}
	Seed(seed)
	for i := range p.vars {
		p.vars[i] = p.fresh(fuzzTypes[i], p.shapes[2+p.r.IntN(6)])
		end()
	}
	for range steps {
		p.statement()
		end()
	}
	if err := d.EndCell(); err != nil {
		t.Fatalf("seed %d, %v: the cell ends with %v", seed, r, err)
	}
	for _, v := range p.vars {
		p.read(v)
		if g := v.Grad(); g != nil {
			p.read(g)
		}
	}
	return p
}

// countHBM compares what is in use with what the variables hold, which is what
// counting references would give. Tapes hold more: such programs are left out.
func (p *randomProgram) countHBM(l *lab) {
	var want int64
	seen := map[*Storage]bool{}
	for _, v := range p.vars {
		if v == nil {
			continue
		}
		if v.requires() || v.root().requires() {
			return
		}
		if !seen[v.s] {
			seen[v.s] = true
			want += v.s.value.HBMBytes()
		}
	}
	granule := l.d.Device().Chip().AlignBytes
	if got := l.d.Device().HBM().Used(); got < want || got >= want+int64(len(seen))*granule {
		l.Errorf("step %d: %d bytes of HBM in use, the variables hold %d\n%s", p.step, got, want, strings.Join(p.text, "\n"))
	}
}

// agree runs the program of a seed in every mode and compares the bits.
// It gives what it logged.
func agree(t testing.TB, seed uint64, steps int, large bool) []string {
	t.Helper()
	var first *randomProgram
	for i, r := range runs() {
		p := r.play(t, seed, steps, large)
		if i == 0 {
			first = p
			continue
		}
		a, b := strings.Join(first.log, "\n"), strings.Join(p.log, "\n")
		if bytes.Equal([]byte(a), []byte(b)) {
			continue
		}
		for k := range max(len(first.log), len(p.log)) {
			x, y := "nothing", "nothing"
			if k < len(first.log) {
				x = first.log[k]
			}
			if k < len(p.log) {
				y = p.log[k]
			}
			if x != y {
				t.Errorf("seed %d, %d steps: %v and %v differ\n%s\n%s\nin\n%s", seed, steps, runs()[0], r, x, y, strings.Join(p.text, "\n"))
				return first.log
			}
		}
	}
	return first.log
}

// programs is how many random programs a plain test runs.
const programs = 250

func TestModesAgree(t *testing.T) {
	statements = fuzzStatements()
	n := programs
	if testing.Short() {
		n /= 5
	}
	for seed := range uint64(n) {
		agree(t, seed, 1+int(seed*7%40), false)
		if t.Failed() {
			return
		}
	}
}

// FuzzModesAgree: any program gives the same bits in every mode, whether the
// dead are found by roots or by the collector of the host.
func FuzzModesAgree(f *testing.F) {
	statements = fuzzStatements()
	for seed := range uint64(8) {
		f.Add(1000+seed, uint8(10+4*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) { agree(t, seed, int(steps)%40+1, false) })
}
