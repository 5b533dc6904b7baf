package sim

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

func open(t testing.TB, o Options) *Device {
	t.Helper()
	c, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	return New(c, o)
}

func upload(t testing.TB, d *Device, dims []int, x ...float32) device.Buffer {
	t.Helper()
	var host []byte
	if len(x) > 0 {
		host = unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
	}
	b, err := d.Upload(f32(dims...), host, device.Owner{What: "input"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func numbers(b device.Buffer) []float32 { return slices.Clone(kernel.As[float32](b.Host().Buf)) }

func compile(t testing.TB, d *Device, g *graph.Graph, level device.Level) device.Executable {
	t.Helper()
	x, err := d.Compile(g, level)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// run compiles and runs g at both levels, twice each, and compares the results.
func run(t *testing.T, g *graph.Graph, want [][]float32, in func(d *Device) []device.Buffer) {
	t.Helper()
	for _, level := range []device.Level{device.FastCompile, device.FastRun} {
		d := open(t, Options{})
		x := compile(t, d, g, level)
		bufs := in(d)
		base := d.HBM().Used()
		for range 2 {
			l := &device.Launch{In: bufs}
			if err := x.Run(l); err != nil {
				t.Fatal(err)
			}
			for i, o := range l.Out {
				if got := numbers(o); !slices.Equal(got, want[i]) {
					t.Errorf("level %d, output %d: got %v, want %v", level, i, got, want[i])
				}
				if o.Freed() || o.PaddedBytes() != o.Spec().PaddedBytes() || !o.Host().Contiguous() {
					t.Errorf("output %d: freed %v, padded %d", i, o.Freed(), o.PaddedBytes())
				}
				o.Free()
				o.Free()
			}
			if d.HBM().Used() != base {
				t.Errorf("%d B of HBM are left after everything was freed, want %d", d.HBM().Used(), base)
			}
		}
	}
}

func TestRunGraphs(t *testing.T) {
	t.Run("a chain whose intermediates share the arena", func(t *testing.T) {
		b := builder{}
		x := b.input(f32(4))
		v := x
		for range 10 {
			v = b.do(add, f32(4), v, x)
		}
		g := b.graph(v)
		run(t, g, [][]float32{{11, 22, 33, 44}}, func(d *Device) []device.Buffer { return []device.Buffer{upload(t, d, []int{4}, 1, 2, 3, 4)} })
		e := compile(t, open(t, Options{}), g, device.FastRun).(*executable)
		if e.arenaBytes != 128 {
			t.Errorf("arena of %d B, want two lines of 64", e.arenaBytes)
		}
	})
	t.Run("diamond and several outputs, one of them twice", func(t *testing.T) {
		b := builder{}
		x, y := b.input(f32(2)), b.input(f32(2))
		s := b.do(add, f32(2), x, y)
		p := b.do(mul, f32(2), s, x)
		q := b.do(mul, f32(2), s, y)
		r := b.do(add, f32(2), p, q)
		run(t, b.graph(r, s, r), [][]float32{{9, 36}, {3, 6}, {9, 36}}, func(d *Device) []device.Buffer {
			return []device.Buffer{upload(t, d, []int{2}, 1, 2), upload(t, d, []int{2}, 2, 4)}
		})
	})
	t.Run("several results of a node, one of them unused", func(t *testing.T) {
		b := builder{}
		x := b.input(f32(3))
		n := b.all(minMax, nil, []shape.Spec{f32(), f32()}, x)
		run(t, b.graph(b.do(relu, f32(), graph.Ref{Node: n, Out: 1})), [][]float32{{5}}, func(d *Device) []device.Buffer {
			return []device.Buffer{upload(t, d, []int{3}, -1, 5, 2)}
		})
	})
	t.Run("views: read through, copied as outputs, copied when not expressible", func(t *testing.T) {
		b := builder{}
		x := b.input(f32(2, 3))
		v := b.do(transpose, f32(3, 2), x)
		w := b.do(flatten, f32(6), v)
		s := graph.Ref{Node: b.all(strided, op.Attrs{{Name: "size", Value: []int{2, 2}}, {Name: "stride", Value: []int{0, 2}}, {Name: "offset", Value: 1}}, []shape.Spec{f32(2, 2)}, v)}
		run(t, b.graph(b.do(relu, f32(6), w), b.do(transpose, f32(3, 2), x), b.do(relu, f32(2, 2), s)),
			[][]float32{{1, 4, 2, 5, 3, 6}, {1, 4, 2, 5, 3, 6}, {4, 5, 4, 5}}, func(d *Device) []device.Buffer {
				return []device.Buffer{upload(t, d, []int{2, 3}, 1, 2, 3, 4, 5, 6)}
			})
	})
	t.Run("a view keeps the bytes of an intermediate alive", func(t *testing.T) {
		b := builder{}
		x := b.input(f32(2, 2))
		y := b.do(add, f32(2, 2), x, x)
		v := b.do(transpose, f32(2, 2), y)
		z := b.do(add, f32(2, 2), x, x)
		z = b.do(mul, f32(2, 2), z, z)
		run(t, b.graph(b.do(add, f32(2, 2), z, v)), [][]float32{{6, 22, 40, 72}}, func(d *Device) []device.Buffer {
			return []device.Buffer{upload(t, d, []int{2, 2}, 1, 2, 3, 4)}
		})
	})
	t.Run("an input as output", func(t *testing.T) {
		b := builder{}
		x := b.input(f32(2))
		run(t, b.graph(x, b.do(add, f32(2), x, x)), [][]float32{{1, 2}, {2, 4}}, func(d *Device) []device.Buffer {
			return []device.Buffer{upload(t, d, []int{2}, 1, 2)}
		})
	})
	t.Run("no elements", func(t *testing.T) {
		b := builder{}
		x := b.input(f32(0, 3))
		run(t, b.graph(b.do(add, f32(0, 3), x, x), b.do(sumAll, f32(), x)), [][]float32{{}, {0}}, func(d *Device) []device.Buffer {
			return []device.Buffer{upload(t, d, []int{0, 3})}
		})
	})
	t.Run("an absent operand", func(t *testing.T) {
		b := builder{}
		x := b.input(f32(2))
		run(t, b.graph(b.do(mul, f32(2), x, graph.Ref{})), [][]float32{{9, 16}}, func(d *Device) []device.Buffer {
			return []device.Buffer{upload(t, d, []int{2}, 3, 4)}
		})
	})
}

func TestRunUsesTheAttributesOfTheLaunch(t *testing.T) {
	b := builder{}
	x := b.input(f32(1))
	g := b.graph(graph.Ref{Node: b.all(addK, op.Attrs{{Name: "k", Value: 1.0}}, []shape.Spec{f32(1)}, x)})
	d := open(t, Options{})
	e := compile(t, d, g, device.FastCompile)
	in := []device.Buffer{upload(t, d, []int{1}, 10)}
	for _, k := range []float64{2, 3} {
		l := &device.Launch{In: in, Attrs: []op.Attrs{{{Name: "k", Value: k}}}}
		if err := e.Run(l); err != nil {
			t.Fatal(err)
		}
		if got := numbers(l.Out[0])[0]; got != 10+float32(k) {
			t.Errorf("k %v: got %v", k, got)
		}
	}
}

func double(s shape.Spec) *graph.Graph {
	b := builder{}
	x := b.input(s)
	return b.graph(b.do(add, s, x, x))
}

func TestRunOutOfMemoryLeavesEverything(t *testing.T) {
	d := open(t, Options{HBMLimitBytes: 3 << 12})
	e := compile(t, d, double(f32(1024)), device.FastCompile)
	in := []device.Buffer{upload(t, d, []int{1024}, make([]float32, 1024)...)}
	l := &device.Launch{In: in, Owners: []device.Owner{{What: "add"}}}
	for range 2 {
		if err := e.Run(l); err != nil {
			t.Fatal(err)
		}
	}
	err := e.Run(l)
	var oom *device.OutOfMemoryError
	if !errors.As(err, &oom) || oom.What != "add" || oom.PaddedBytes != 4096 || oom.FreeBytes != 0 {
		t.Fatalf("got %v", err)
	}
	if in[0].Freed() || d.HBM().Used() != 3<<12 {
		t.Errorf("input freed %v, used %d", in[0].Freed(), d.HBM().Used())
	}
	l.Out[0].Free()
	if err := e.Run(l); err != nil {
		t.Errorf("after a buffer was freed: %v", err)
	}
}

func TestRunFreesEarlierOutputsWhenALaterOneDoesNotFit(t *testing.T) {
	b := builder{}
	x := b.input(f32(1024))
	g := b.graph(b.do(add, f32(1024), x, x), b.do(mul, f32(1024), x, x))
	d := open(t, Options{HBMLimitBytes: 2 << 12})
	in := []device.Buffer{upload(t, d, []int{1024}, make([]float32, 1024)...)}
	var oom *device.OutOfMemoryError
	if err := compile(t, d, g, device.FastCompile).Run(&device.Launch{In: in}); !errors.As(err, &oom) {
		t.Fatalf("got %v", err)
	}
	if d.HBM().Used() != 1<<12 {
		t.Errorf("%d B in use, want the input only", d.HBM().Used())
	}
}

func TestCompileRefusesWhatCanNeverFit(t *testing.T) {
	d := open(t, Options{})
	for _, n := range []int{1 << 34, 1 << 61, math.MaxInt} {
		b := builder{}
		g := b.graph(b.do(relu, f32(n)))
		_, err := d.Compile(g, device.FastCompile)
		var oom *device.OutOfMemoryError
		if !errors.As(err, &oom) || oom.What != "relu" {
			t.Errorf("%d elements: got %v", n, err)
		}
	}
}

func TestHostMemoryLimit(t *testing.T) {
	d := open(t, Options{HostLimitBytes: 256 << 20})
	b := builder{}
	g := b.graph(b.do(&op.Def{Name: "zeros", Kernel: func(*kernel.Call) error { return nil }}, f32(1<<28)))
	err := compile(t, d, g, device.FastCompile).Run(&device.Launch{})
	var host *device.HostMemoryError
	if !errors.As(err, &host) || host.RequestedBytes != 1<<30 {
		t.Errorf("got %v", err)
	}
	if d.HBM().Used() != 0 {
		t.Errorf("%d B of HBM left", d.HBM().Used())
	}
	// An intermediate of that size is refused as well.
	c := builder{}
	big := c.do(relu, f32(1<<28))
	err = compile(t, d, c.graph(c.do(sumAll, f32(), big)), device.FastRun).Run(&device.Launch{})
	if !errors.As(err, &host) || d.HBM().Used() != 0 {
		t.Errorf("got %v, %d B of HBM", err, d.HBM().Used())
	}
}

func TestLargeConstantsTakeNoHostMemory(t *testing.T) {
	d := open(t, Options{HostLimitBytes: 1 << 20})
	b := builder{}
	row := op.Must(op.Full)
	n := b.all(row, op.Attrs{{Name: "size", Value: []int{1 << 28}}, {Name: "fill_value", Value: 1.5}, {Name: "dtype", Value: dtype.F32}}, []shape.Spec{f32(1 << 28)})
	e := compile(t, d, b.graph(graph.Ref{Node: n}), device.FastCompile)
	var held []device.Buffer
	for range 15 {
		l := &device.Launch{}
		if err := e.Run(l); err != nil {
			t.Fatal(err)
		}
		held = append(held, l.Out[0])
	}
	var oom *device.OutOfMemoryError
	if err := e.Run(&device.Launch{}); !errors.As(err, &oom) || d.HBM().Used() != 15<<30 {
		t.Errorf("%v, %d B of HBM", err, d.HBM().Used())
	}
	if _, ok := held[3].(*buffer); !ok || !held[3].(*buffer).constant() {
		t.Error("a large constant is held in full")
	}
	// Its array is there when asked for.
	c := builder{}
	x := c.input(f32(1 << 18))
	k := c.all(row, op.Attrs{{Name: "size", Value: []int{1 << 18}}, {Name: "fill_value", Value: 1.5}, {Name: "dtype", Value: dtype.F32}}, []shape.Spec{f32(1 << 18)})
	g := c.graph(graph.Ref{Node: k}, c.do(add, f32(1<<18), x, graph.Ref{Node: k}))
	d = open(t, Options{})
	l := &device.Launch{In: []device.Buffer{upload(t, d, []int{1 << 18}, make([]float32, 1<<18)...)}}
	if err := compile(t, d, g, device.FastRun).Run(l); err != nil {
		t.Fatal(err)
	}
	for i, o := range l.Out {
		if a := numbers(o); len(a) != 1<<18 || a[0] != 1.5 || a[1<<18-1] != 1.5 {
			t.Errorf("output %d: %v … %v", i, a[0], a[len(a)-1])
		}
	}
}

func TestOutOfMemoryOfARegionCountsAllItNeeds(t *testing.T) {
	b := builder{}
	x := b.input(f32(1024))
	g := b.graph(b.do(add, f32(1024), x, x), b.do(mul, f32(1024), x, x))
	g.Name = "add+mul"
	d := open(t, Options{HBMLimitBytes: 3<<12 - 512})
	in := []device.Buffer{upload(t, d, []int{1024}, make([]float32, 1024)...)}
	err := compile(t, d, g, device.FastCompile).Run(&device.Launch{In: in})
	var oom *device.OutOfMemoryError
	if !errors.As(err, &oom) || oom.What != "add+mul" || oom.PaddedBytes != 2<<12+512 || oom.UsedBytes != 1<<12 {
		t.Errorf("got %v, %+v", err, oom)
	}
}

func TestDonation(t *testing.T) {
	d := open(t, Options{HBMLimitBytes: 1 << 12})
	e := compile(t, d, double(f32(1024)), device.FastCompile)
	x := make([]float32, 1024)
	x[7] = 3
	in := upload(t, d, []int{1024}, x...)
	l := &device.Launch{In: []device.Buffer{in}, Donate: []bool{true}, Owners: []device.Owner{{Value: 5}}}
	if err := e.Run(l); err != nil {
		t.Fatal(err)
	}
	if !in.Freed() || l.Out[0].Freed() || d.HBM().Used() != 1<<12 || d.HBM().Peak() != 1<<12 {
		t.Errorf("donor freed %v, output freed %v, used %d, peak %d", in.Freed(), l.Out[0].Freed(), d.HBM().Used(), d.HBM().Peak())
	}
	if numbers(in)[7] != 3 || numbers(l.Out[0])[7] != 6 {
		t.Errorf("donor reads %v, output %v", numbers(in)[7], numbers(l.Out[0])[7])
	}
	if o := d.HBM().Blocks()[0].Owner; o.Value != 5 {
		t.Errorf("block belongs to %+v", o)
	}
	var freed *device.FreedBufferError
	if err := e.Run(l); !errors.As(err, &freed) {
		t.Errorf("donor used again: %v", err)
	}
	var oom *device.OutOfMemoryError
	if err := in.Revive(device.Owner{}); !errors.As(err, &oom) || !in.Freed() {
		t.Errorf("revived into a full HBM: %v", err)
	}
	l.Out[0].Free()
	if err := in.Revive(device.Owner{}); err != nil || in.Freed() || d.HBM().Used() != 1<<12 {
		t.Errorf("revive: %v, used %d", err, d.HBM().Used())
	}
}

func TestDonationPairsEachDonorOnce(t *testing.T) {
	b := builder{}
	x, y := b.input(f32(8)), b.input(f32(2, 4))
	g := b.graph(b.do(relu, f32(2, 4), y), b.do(relu, f32(8), x), b.do(add, f32(8), x, x))
	d := open(t, Options{})
	a, c := upload(t, d, []int{8}, make([]float32, 8)...), upload(t, d, []int{2, 4}, make([]float32, 8)...)
	before := d.HBM().Used()
	l := &device.Launch{In: []device.Buffer{a, c}, Donate: []bool{true, true}}
	if err := compile(t, d, g, device.FastRun).Run(l); err != nil {
		t.Fatal(err)
	}
	if !a.Freed() || !c.Freed() || d.HBM().Used() != before+512 {
		t.Errorf("used %d, want %d", d.HBM().Used(), before+512)
	}
}

func TestKernelFailures(t *testing.T) {
	for _, bad := range []*op.Def{fails, panics} {
		b := builder{}
		x := b.input(f32(2))
		g := b.graph(b.do(add, f32(2), b.do(bad, f32(2), b.do(relu, f32(2), x)), x))
		d := open(t, Options{})
		in := upload(t, d, []int{2}, 1, 2)
		used := d.HBM().Used()
		err := compile(t, d, g, device.FastRun).Run(&device.Launch{In: []device.Buffer{in}, Donate: []bool{true}})
		var k *device.KernelError
		if !errors.As(err, &k) || k.Node != 1 || k.Op != string(bad.Name) {
			t.Fatalf("%s: got %v", bad.Name, err)
		}
		if (k.Panic != nil) != (bad == panics) || bad == fails && !errors.Is(err, errSingular) {
			t.Errorf("%s: %+v", bad.Name, k)
		}
		if d.HBM().Used() != used || in.Freed() {
			t.Errorf("%s: used %d, want %d; donor freed %v", bad.Name, d.HBM().Used(), used, in.Freed())
		}
	}
}

func TestRunChecksItsInputs(t *testing.T) {
	d, other := open(t, Options{}), open(t, Options{})
	e := compile(t, d, double(f32(2)), device.FastCompile)
	for name, in := range map[string][]device.Buffer{
		"none": nil, "nil": {nil}, "another type": {upload(t, d, []int{3}, 1, 2, 3)}, "another device": {upload(t, other, []int{2}, 1, 2)},
	} {
		var bad *device.InputError
		if err := e.Run(&device.Launch{In: in}); !errors.As(err, &bad) || err.Error() == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := d.Upload(f32(3), make([]byte, 8), device.Owner{}); err == nil {
		t.Error("upload of too few bytes was taken")
	}
}

func TestCompileRefusesMalformedGraphs(t *testing.T) {
	late := builder{}
	x := late.input(f32(1))
	n := late.do(add, f32(1), x, x)
	n.Node.In[1] = graph.Ref{Node: late.do(add, f32(1), x, x).Node}
	result := builder{}
	y := result.input(f32(1))
	noOut := result.graph(graph.Ref{Node: result.do(add, f32(1), y, y).Node, Out: 3})
	other := builder{}
	g3 := other.graph(other.do(add, f32(1), y, y))
	for name, g := range map[string]*graph.Graph{"later node": late.graph(n), "no such result": noOut, "input of another graph": g3} {
		if _, err := open(t, Options{}).Compile(g, device.FastRun); err == nil {
			t.Errorf("%s: compiled", name)
		}
	}
}

func TestRunOfASmallAddIsCheap(t *testing.T) {
	d := open(t, Options{})
	e := compile(t, d, double(f32(4)), device.FastCompile)
	l := &device.Launch{In: []device.Buffer{upload(t, d, []int{4}, 1, 2, 3, 4)}, Owners: make([]device.Owner, 1)}
	if n := testing.AllocsPerRun(100, func() {
		if err := e.Run(l); err != nil {
			t.Fatal(err)
		}
		l.Out[0].Free()
	}); n > 3 {
		t.Errorf("%v allocations, want at most 3", n)
	}
}

func BenchmarkRunAdd4(b *testing.B) {
	d := open(b, Options{})
	e := compile(b, d, double(f32(4)), device.FastCompile)
	l := &device.Launch{In: []device.Buffer{upload(b, d, []int{4}, 1, 2, 3, 4)}, Owners: make([]device.Owner, 1)}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Run(l); err != nil {
			b.Fatal(err)
		}
		l.Out[0].Free()
	}
}

func BenchmarkCompileChain100(b *testing.B) {
	w := builder{}
	x := w.input(f32(4))
	v := x
	for range 100 {
		v = w.do(add, f32(4), v, x)
	}
	g := w.graph(v)
	d := open(b, Options{})
	for b.Loop() {
		compile(b, d, g, device.FastRun)
	}
}
