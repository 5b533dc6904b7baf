// Package devicetest says what every device must do, as tests.
//
// It knows no particular device. It imports shape, dtype, kernel, op, graph and
// device. Invariant: the expected numbers come from the reference kernels of
// the rows, never from a device.
package devicetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// Run tests the devices that open gives, each fresh, for equal bits.
func Run(t *testing.T, open func(t *testing.T) device.Device) { RunWithin(t, open, 0) }

// RunWithin tests devices whose floating-point results may be off by a
// relative tolerance, as those of real hardware are.
func RunWithin(t *testing.T, open func(t *testing.T) device.Device, tolerance float64) {
	s := suite{open: open, tolerance: tolerance}
	for _, level := range []device.Level{device.FastCompile, device.FastRun} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("level %d/%s", level, c.name), func(t *testing.T) { s.compare(t, c, level) })
		}
	}
	t.Run("a program of thousands of nodes", s.bigGraph)
	t.Run("the plan adds up", s.planAddsUp)
	t.Run("constants passed on to another program", s.constants)
	t.Run("upload and host give the same bytes", s.roundTrip)
	t.Run("free gives the memory back, once", s.freeOnce)
	t.Run("a freed buffer is refused until it is revived", s.revive)
	t.Run("donation moves the memory", s.donation)
	t.Run("out of memory leaves everything as it was", s.outOfMemory)
	t.Run("wrong inputs are refused", s.wrongInputs)
}

type suite struct {
	open      func(t *testing.T) device.Device
	tolerance float64
}

// start opens a device and closes it at the end of the test.
func (s *suite) start(t *testing.T) device.Device {
	t.Helper()
	d := s.open(t)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// A Builder writes graphs out of rows.
type Builder struct {
	t testing.TB
	g graph.Graph
}

// NewBuilder begins a graph.
func NewBuilder(t testing.TB) *Builder { return &Builder{t: t} }

// In adds an input.
func (b *Builder) In(s shape.Spec) graph.Ref {
	n := &graph.Node{Outs: []shape.Spec{s}, Index: len(b.g.Inputs)}
	b.g.Inputs = append(b.g.Inputs, n)
	return graph.Ref{Node: n}
}

// Do adds a node and gives its first result. Attributes left out get their defaults.
func (b *Builder) Do(name op.Name, a op.Attrs, in ...graph.Ref) graph.Ref {
	b.t.Helper()
	d := op.Lookup(name)
	if d == nil {
		b.t.Fatalf("no row %s", name)
	}
	var attrs op.Attrs
	for _, p := range d.Attributes() {
		v := a.Get(p.Name)
		if v == nil {
			v = p.Default
		}
		attrs = append(attrs, op.Attr{Name: p.Name, Value: v})
	}
	for len(in) < len(d.Inputs()) && d.Inputs()[len(in)].Kind == op.KOptTensor {
		in = append(in, graph.Ref{})
	}
	specs := make([]shape.Spec, len(in))
	for i, r := range in {
		specs[i] = r.Spec()
	}
	outs, err := d.Specs(specs, attrs)
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	n := &graph.Node{Def: d, In: in, Attrs: attrs, Outs: outs, Index: len(b.g.Nodes)}
	b.g.Nodes = append(b.g.Nodes, n)
	return graph.Ref{Node: n}
}

// Out ends the graph.
func (b *Builder) Out(outs ...graph.Ref) *graph.Graph {
	b.g.Name, b.g.Outputs = "test", outs
	return &b.g
}

// reference computes a graph with the kernels of its rows, one after another.
func reference(t *testing.T, g *graph.Graph, in []kernel.Array) []kernel.Array {
	t.Helper()
	done := map[graph.Ref]kernel.Array{}
	for i, n := range g.Inputs {
		done[graph.Ref{Node: n}] = in[i]
	}
	for _, n := range g.Nodes {
		c := kernel.Call{Attrs: n.Attrs}
		for _, r := range n.In {
			c.In = append(c.In, done[r])
		}
		for _, o := range n.Outs {
			c.Out = append(c.Out, kernel.New(o))
		}
		if err := n.Def.Run(&c); err != nil {
			t.Fatalf("%s: %v", n.Def.Name, err)
		}
		for k, a := range c.Out {
			done[graph.Ref{Node: n, Out: k}] = a
		}
	}
	var outs []kernel.Array
	for _, r := range g.Outputs {
		outs = append(outs, done[r])
	}
	return outs
}

// fill makes an array of small numbers that no operation of the suite overflows on.
func fill(s shape.Spec, seed uint64) kernel.Array {
	r := rand.New(rand.NewPCG(seed, 11))
	a := kernel.New(s)
	for i := range a.Size() {
		switch s.DType {
		case dtype.F32:
			kernel.As[float32](a.Buf)[i] = float32(r.IntN(64)-20) / 16
		case dtype.F64:
			kernel.As[float64](a.Buf)[i] = float64(r.IntN(64)-20) / 16
		case dtype.BF16:
			kernel.As[uint16](a.Buf)[i] = uint16(math.Float32bits(float32(r.IntN(64)-20)/16) >> 16)
		case dtype.I64:
			kernel.As[int64](a.Buf)[i] = int64(r.IntN(4))
		case dtype.I32:
			kernel.As[int32](a.Buf)[i] = int32(r.IntN(4))
		case dtype.Bool:
			a.Buf[i] = byte(r.IntN(2))
		default:
			panic("devicetest: no numbers for " + s.DType.String())
		}
	}
	return a
}

// number gives an element as a float64, to compare within a tolerance.
func number(a kernel.Array, i int) float64 {
	switch a.DType {
	case dtype.F32:
		return float64(kernel.As[float32](a.Buf)[i])
	case dtype.F64:
		return kernel.As[float64](a.Buf)[i]
	case dtype.BF16:
		return float64(math.Float32frombits(uint32(kernel.As[uint16](a.Buf)[i]) << 16))
	}
	return math.NaN()
}

// equal compares two dense arrays.
func (s *suite) equal(t *testing.T, what string, got, want kernel.Array) {
	t.Helper()
	if !got.Spec().Equal(want.Spec()) || !got.Contiguous() || got.Offset != 0 {
		t.Errorf("%s: got %v (dense: %v), want %v", what, got.Spec(), got.Contiguous(), want.Spec())
		return
	}
	w := want.DType.HostBytes()
	for i := range want.Size() {
		if string(got.Buf[i*w:i*w+w]) == string(want.Buf[i*w:i*w+w]) {
			continue
		}
		x, y := number(got, i), number(want, i)
		if s.tolerance > 0 && math.Abs(x-y) <= s.tolerance*max(math.Abs(x), math.Abs(y), 1e-3) {
			continue
		}
		t.Errorf("%s: element %d of %v: got %v (%x), want %v (%x)", what, i, want.Spec(), x, got.Buf[i*w:i*w+w], y, want.Buf[i*w:i*w+w])
		return
	}
}

// inputs fills and uploads what a graph needs.
func inputs(t *testing.T, d device.Device, g *graph.Graph) (bufs []device.Buffer, host []kernel.Array) {
	t.Helper()
	for i, n := range g.Inputs {
		a := fill(n.Outs[0], uint64(i))
		b, err := d.Upload(n.Outs[0], a.Buf, device.Owner{What: "input"})
		if err != nil {
			t.Fatal(err)
		}
		bufs, host = append(bufs, b), append(host, a)
	}
	return bufs, host
}

// launch makes a launch of g with inputs in.
func launch(g *graph.Graph, in []device.Buffer) *device.Launch {
	l := &device.Launch{Number: 1, In: in, Owners: make([]device.Owner, len(g.Outputs)), Donate: make([]bool, len(in))}
	for _, n := range g.Nodes {
		l.Attrs = append(l.Attrs, n.Attrs)
	}
	return l
}

func compile(t *testing.T, d device.Device, g *graph.Graph, level device.Level) device.Executable {
	t.Helper()
	x, err := d.Compile(g, level)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func run(t *testing.T, x device.Executable, l *device.Launch) {
	t.Helper()
	if err := x.Run(l); err != nil {
		t.Fatal(err)
	}
}

// compare runs a case twice and compares with the reference.
func (s *suite) compare(t *testing.T, c testCase, level device.Level) {
	g := c.build(&Builder{t: t})
	d := s.start(t)
	in, host := inputs(t, d, g)
	want := reference(t, g, host)
	used := d.HBM().Used()
	x := compile(t, d, g, level)
	for range 2 {
		l := launch(g, in)
		run(t, x, l)
		if len(l.Out) != len(want) {
			t.Fatalf("%d outputs, want %d", len(l.Out), len(want))
		}
		var padded int64
		for i, o := range l.Out {
			s.equal(t, fmt.Sprintf("output %d", i), o.Host(), want[i])
			if !o.Spec().Equal(want[i].Spec()) || o.Freed() || o.PaddedBytes() != o.Spec().PaddedBytes() {
				t.Errorf("output %d: %v, freed %v, %d B in HBM", i, o.Spec(), o.Freed(), o.PaddedBytes())
			}
			padded += o.PaddedBytes()
		}
		if d.HBM().Used() < used+padded {
			t.Errorf("%d B in use with the outputs, want at least %d", d.HBM().Used(), used+padded)
		}
		for _, o := range l.Out {
			o.Free()
		}
		if d.HBM().Used() != used {
			t.Errorf("%d B in use after the outputs were freed, want %d", d.HBM().Used(), used)
		}
	}
	for i, b := range in {
		s.equal(t, fmt.Sprintf("input %d afterwards", i), b.Host(), host[i])
	}
}

// double is x+x for f32[n].
func double(t *testing.T, n int) *graph.Graph {
	b := &Builder{t: t}
	x := b.In(shape.Of(dtype.F32, n))
	return b.Out(b.Do("add", nil, x, x))
}

func (s *suite) bigGraph(t *testing.T) {
	b := &Builder{t: t}
	x, y := b.In(shape.Of(dtype.F32, 3, 5)), b.In(shape.Of(dtype.F32, 3, 5))
	v := []graph.Ref{x, y}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 2000 {
		p, q := v[r.IntN(len(v))], v[max(0, len(v)-1-r.IntN(3))]
		v = append(v, b.Do([]op.Name{"add", "sub", "maximum"}[i%3], nil, p, q))
	}
	g := b.Out(v[len(v)-1], v[len(v)/2], v[len(v)-7])
	s.compare(t, testCase{build: func(*Builder) *graph.Graph { return g }}, device.FastRun)
}

func (s *suite) planAddsUp(t *testing.T) {
	for _, level := range []device.Level{device.FastCompile, device.FastRun} {
		for _, c := range cases {
			g := c.build(&Builder{t: t})
			p := compile(t, s.start(t), g, level).Plan()
			if len(p.Kernels) == 0 || p.DurationNS <= 0 || p.SavedBytes < 0 {
				t.Errorf("%s: %+v", c.name, p)
			}
			var ns, read, write int64
			seen := make([]bool, len(g.Nodes))
			for _, k := range p.Kernels {
				ns, read, write = ns+k.DurationNS, read+k.ReadBytes, write+k.WriteBytes
				for _, i := range k.Nodes {
					seen[i] = true
				}
				if k.Name == "" || k.Bound == "" || k.Why == "" {
					t.Errorf("%s: kernel %+v", c.name, k)
				}
			}
			if read != p.ReadBytes || write != p.WriteBytes || ns > p.DurationNS {
				t.Errorf("%s: kernels take %d ns, read %d and write %d; the plan says %d, %d and %d", c.name, ns, read, write, p.DurationNS, p.ReadBytes, p.WriteBytes)
			}
			for i, ok := range seen {
				if !ok && !graph.IsView(g.Nodes[i]) {
					t.Errorf("%s: node %d is in no kernel", c.name, i)
				}
			}
		}
	}
}

// constants reads the large constants of one program in another, in every way.
func (s *suite) constants(t *testing.T) {
	d := s.start(t)
	b := &Builder{t: t}
	g := b.Out(b.Do("full", attrs("size", []int{200, 300}, "fill_value", 1.5)))
	l := launch(g, nil)
	run(t, compile(t, d, g, device.FastCompile), l)
	full := reference(t, g, nil)

	b = &Builder{t: t}
	c, x := b.In(f32(200, 300)), b.In(f32(200, 300))
	v := b.Do("transpose", attrs("dim0", 0, "dim1", 1), c)
	w := b.Do("as_strided", attrs("size", []int{7, 3}, "stride", []int{5, 1}, "storage_offset", 11), c)
	g = b.Out(b.Do("add", nil, c, x), b.Do("neg", nil, v), b.Do("neg", nil, w), w, v, c, b.Do("matmul", nil, v, x))
	e := compile(t, d, g, device.FastRun)
	other := fill(f32(200, 300), 3)
	plain, err := d.Upload(other.Spec(), other.Buf, device.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	// The constant goes in first, then an ordinary buffer, then the constant again.
	for round, p := range []struct {
		buf  device.Buffer
		host kernel.Array
	}{{l.Out[0], full[0]}, {plain, other}, {l.Out[0], full[0]}} {
		m := launch(g, []device.Buffer{p.buf, plain})
		run(t, e, m)
		for i, want := range reference(t, g, []kernel.Array{p.host, other}) {
			s.equal(t, fmt.Sprintf("round %d, output %d", round, i), m.Out[i].Host(), want)
			m.Out[i].Free()
		}
	}
	s.equal(t, "the constant", l.Out[0].Host(), full[0])
}

func (s *suite) roundTrip(t *testing.T) {
	d := s.start(t)
	for i, sp := range []shape.Spec{shape.Of(dtype.F32), shape.Of(dtype.F32, 3, 7), shape.Of(dtype.BF16, 33), shape.Of(dtype.I64, 2, 2, 2), shape.Of(dtype.Bool, 9), shape.Of(dtype.F32, 0, 4)} {
		a := fill(sp, uint64(i))
		keep := kernel.Array{DType: a.DType, View: a.View, Buf: append(kernel.Alloc(0), a.Buf...)}
		b, err := d.Upload(sp, a.Buf, device.Owner{What: "input"})
		if err != nil {
			t.Fatal(err)
		}
		clear(a.Buf) // the device has a copy
		s.equal(t, sp.String(), b.Host(), keep)
		if (b.PaddedBytes() == 0) != (sp.Size() == 0) {
			t.Errorf("%v takes %d B", sp, b.PaddedBytes())
		}
	}
	if _, err := d.Upload(shape.Of(dtype.F32, 4), make([]byte, 12), device.Owner{}); err == nil {
		t.Error("an upload of too few bytes was taken")
	}
}

func (s *suite) freeOnce(t *testing.T) {
	d := s.start(t)
	base := d.HBM().Used()
	a := fill(shape.Of(dtype.F32, 100), 1)
	b, err := d.Upload(a.Spec(), a.Buf, device.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	b.Free()
	b.Free()
	if !b.Freed() || d.HBM().Used() != base {
		t.Errorf("freed %v, %d B in use, want %d", b.Freed(), d.HBM().Used(), base)
	}
	s.equal(t, "host bytes of a freed buffer", b.Host(), a)
}

func (s *suite) revive(t *testing.T) {
	d := s.start(t)
	g := double(t, 64)
	in, host := inputs(t, d, g)
	x := compile(t, d, g, device.FastCompile)
	used := d.HBM().Used()
	in[0].Free()
	var freed *device.FreedBufferError
	if err := x.Run(launch(g, in)); !errors.As(err, &freed) {
		t.Errorf("a freed input: got %v", err)
	}
	if err := in[0].Revive(device.Owner{What: "revived"}); err != nil || in[0].Freed() || d.HBM().Used() != used {
		t.Fatalf("revive: %v, freed %v, %d B in use, want %d", err, in[0].Freed(), d.HBM().Used(), used)
	}
	if err := in[0].Revive(device.Owner{}); err != nil || d.HBM().Used() != used {
		t.Errorf("revived twice: %v, %d B in use", err, d.HBM().Used())
	}
	l := launch(g, in)
	run(t, x, l)
	s.equal(t, "output", l.Out[0].Host(), reference(t, g, host)[0])
}

func (s *suite) donation(t *testing.T) {
	d := s.start(t)
	g := double(t, 4096)
	g.Donated = []bool{true}
	in, host := inputs(t, d, g)
	want := reference(t, g, host)[0]
	used := d.HBM().Used()
	d.HBM().ResetPeak()
	l := launch(g, in)
	l.Donate[0] = true
	run(t, compile(t, d, g, device.FastRun), l)
	s.equal(t, "output", l.Out[0].Host(), want)
	if !in[0].Freed() || l.Out[0].Freed() || d.HBM().Used() != used || d.HBM().Peak() != used {
		t.Errorf("donor freed %v, output freed %v, %d B in use, peak %d, want %d", in[0].Freed(), l.Out[0].Freed(), d.HBM().Used(), d.HBM().Peak(), used)
	}
	l.Out[0].Free()
	if d.HBM().Used() != used-in[0].PaddedBytes() {
		t.Errorf("%d B in use after the output was freed", d.HBM().Used())
	}
}

func (s *suite) outOfMemory(t *testing.T) {
	d := s.start(t)
	g := double(t, 4096)
	in, host := inputs(t, d, g)
	x := compile(t, d, g, device.FastCompile)
	used := d.HBM().Used()
	d.HBM().SetLimit(used)
	l := launch(g, in)
	l.Owners[0].What = "add"
	var oom *device.OutOfMemoryError
	if err := x.Run(l); !errors.As(err, &oom) || oom.What != "add" || oom.LimitBytes != d.HBM().Limit() {
		t.Fatalf("got %v", err)
	}
	if d.HBM().Used() != used || in[0].Freed() {
		t.Errorf("%d B in use, want %d; input freed %v", d.HBM().Used(), used, in[0].Freed())
	}
	if _, err := d.Upload(shape.Of(dtype.F32, 4096), make([]byte, 4*4096), device.Owner{What: "input"}); !errors.As(err, &oom) {
		t.Errorf("upload: got %v", err)
	}
	d.HBM().SetLimit(d.Chip().HBMBytes)
	run(t, x, l)
	s.equal(t, "output", l.Out[0].Host(), reference(t, g, host)[0])
	if _, err := d.Compile(double(t, 1<<50), device.FastCompile); !errors.As(err, &oom) {
		t.Errorf("a program that can never fit: got %v", err)
	}
}

func (s *suite) wrongInputs(t *testing.T) {
	d := s.start(t)
	g := double(t, 8)
	x := compile(t, d, g, device.FastCompile)
	a := fill(shape.Of(dtype.F32, 9), 1)
	b, err := d.Upload(a.Spec(), a.Buf, device.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]device.Buffer{"none": nil, "too many": {b, b}, "another shape": {b}} {
		var bad *device.InputError
		if err := x.Run(&device.Launch{In: in}); !errors.As(err, &bad) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
