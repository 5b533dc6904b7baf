package tpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
)

// splitting is the row of neg that asks for cuts around it.
func splitting(t op.Traits) *op.Def {
	d := *op.Must("neg")
	d.Traits |= t
	return &d
}

var queueCases = []conformance{
	{name: "case_23_a_read_takes_the_whole_queue", mode: exec.DeferAndFuse, run: func(l *lab) {
		x := Of(1.0, 2.0)
		a := x.Neg()
		b := a.Abs()
		c := b.Exp()
		d := a.Sqrt()
		e := d.Log()
		vb := b.Value()
		l.end(x, a, c, d, e)
		l.wantCost("the read", 1, 1, func() { Sync(d) })
		for name, t := range map[string]*Tensor{"a": a, "c": c, "d": d, "e": e} {
			l.state(name, t, exec.Ready)
		}
		if s := l.d.State(vb); s != exec.Swallowed {
			l.Errorf("b is %v, want swallowed: it stays on chip", s)
		}
		if got := l.groups(0); !slices.Equal(got, []string{"neg abs exp sqrt log"}) {
			l.Errorf("groups %q, want one with everything", got)
		}
	}},
	{name: "case_24_sync_of_nothing_and_of_zero_size", mode: exec.DeferAndFuse, run: func(l *lab) {
		l.wantCost("nothing", 0, 0, func() { Sync() })
		z := Zeros(0, 3)
		l.end(z)
		l.state("z", z, exec.Deferred)
		Sync(z)
		l.state("z", z, exec.Ready, exec.Pending)
		if n := len(z.Float64s()); n != 0 {
			l.Errorf("%d numbers", n)
		}
	}},
	{name: "case_25_level_by_mode", run: func(l *lab) {
		for m, want := range map[*exec.Mode]device.Level{
			exec.Strict: device.FastCompile, exec.Debug: device.FastCompile,
			exec.DeferAndFuse: device.FastRun, exec.Compiled: device.FastRun, exec.DeferAll: device.FastRun,
		} {
			if m.Level != want {
				l.Errorf("%s compiles at level %v, want %v", m.Name, m.Level, want)
			}
		}
	}},
	{name: "case_26_one_region_in_order", mode: exec.DeferAndFuse, run: func(l *lab) {
		x := Of(4.0)
		a := x.Neg()
		b := x.Abs()
		c := x.Sqrt()
		l.end(x, a, b, c)
		Sync(b)
		if got := l.groups(0); !slices.Equal(got, []string{"neg abs sqrt"}) {
			l.Errorf("groups %q, want one in order", got)
		}
		l.state("c", c, exec.Ready)
	}},
	{name: "case_27_three_outputs_in_order", mode: exec.DeferAndFuse, run: func(l *lab) {
		x := Of(4.0)
		a, b, c := x.Neg(), x.Abs(), x.Sqrt()
		l.end(x, a, b, c)
		Sync()
		g := l.d.Groups()
		if len(g) != 1 || len(g[0].Graph.Outputs) != 3 {
			l.Fatalf("groups %q", l.groups(0))
		}
		for i, o := range g[0].Graph.Outputs {
			if o.Node.Index != i {
				l.Errorf("output %d is op %d", i, o.Node.Index)
			}
		}
		l.want(a, -4)
		l.want(b, 4)
		l.want(c, 2)
	}},
	{name: "case_28_ops_that_ask_for_cuts", mode: exec.DeferAndFuse, run: func(l *lab) {
		x := Of(1.0)
		l.end(x)
		a := do(splitting(op.CutAfter), nil, x)
		b := do(op.Must("neg"), nil, a)
		c := do(splitting(op.CutBefore), nil, b)
		d := do(splitting(op.CutBefore|op.CutAfter), nil, c)
		e := do(op.Must("neg"), nil, d)
		l.end(x, e)
		Sync()
		if got := l.groups(0); !slices.Equal(got, []string{"neg", "neg", "neg", "neg", "neg"}) {
			l.Errorf("groups %q, want five of one op", got)
		}
		l.want(e, -1)
	}},
	{name: "case_29_sync_leaves_the_ready_alone", mode: exec.DeferAndFuse, run: func(l *lab) {
		x, n := Of(1.0), Empty(3)
		l.end(x, n)
		Sync()
		l.wantCost("a second time", 0, 0, func() { Sync(); Sync(x, n) })
	}},
	{name: "case_30_cut_points", mode: exec.DeferAndFuse, run: func(l *lab) {
		// a → b → {c, d}, cut after b: with both alive two regions, and what is dead is in none.
		x := Of(1.0)
		a := x.Abs()
		b := do(splitting(op.CutAfter), nil, a)
		c, d := b.Exp(), b.Sqrt()
		l.end(x, c, d)
		Sync()
		if got := l.groups(0); !slices.Equal(got, []string{"abs neg", "exp sqrt"}) {
			l.Errorf("groups %q", got)
		}
		b = do(splitting(op.CutAfter), nil, x.Abs())
		b.Exp()
		d = b.Sqrt()
		l.end(x, d)
		Sync()
		if got := l.groups(2); !slices.Equal(got, []string{"abs neg", "sqrt"}) {
			l.Errorf("groups %q: the dead op must be in none", got)
		}
	}},
	{name: "case_31_graph_text", run: func(l *lab) {
		for _, m := range []*exec.Mode{exec.DeferAndFuse, exec.Strict} {
			l.Run(m.Name, func(l *lab) {
				l.at(3)
				z := Ones(2, 2).Add(1).Mul(2)
				l.end(z)
				l.every(z, 4)
				last := l.d.Groups()[len(l.d.Groups())-1]
				text := last.Graph.String()
				both := strings.Contains(text, "add(") && strings.Contains(text, "mul(")
				if both != (m == exec.DeferAndFuse) {
					l.Errorf("%s: add and mul together: %v\n%s", m.Name, both, text)
				}
				if !strings.Contains(text, "// In[1]:3") {
					l.Errorf("no source line in\n%s", text)
				}
			}, m)
		}
	}},
	{name: "case_32_loop_detector_fires", run: func(l *lab) {
		for _, c := range []struct {
			body int
			want []int
		}{{1, []int{6, 8, 10}}, {2, []int{6, 8, 10}}, {3, []int{9, 12, 15}}, {5, []int{15, 20, 25}}, {20, []int{60, 80}}, {100, []int{300}}, {171, nil}} {
			l.Run(fmt.Sprint(c.body), func(l *lab) {
				if got := l.firings(c.body, max(520, 4*c.body)); len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) || c.want == nil && len(got) > 0 {
					l.Errorf("fires at %v, want %v", got[:min(len(got), 5)], c.want)
				}
			}, exec.DeferAndFuse)
		}
	}},
}

// firings runs n ops of a loop whose body has the given number of distinct ops
// and tells after which ops the queue was cut.
func (l *lab) firings(body, n int) []int {
	x := Of(1.0)
	l.end(x)
	var at []int
	seen := l.d.Stats().Launches
	for i := range n {
		x = x.Roll([]int{i % body})
		if l.d.Queued() == 0 {
			at = append(at, i+1)
			if s := l.d.Stats().Launches; s == seen {
				l.Fatal("cut without a launch")
			} else {
				seen = s
			}
			if g := l.d.Groups(); g[len(g)-1].Reason != exec.ReasonLoop && g[len(g)-1].Reason != exec.ReasonSplit {
				l.Fatalf("cut because of %v", g[len(g)-1].Reason)
			}
		}
		l.end(x)
	}
	return at
}

var errorCases = []conformance{
	{name: "case_33_take_out_of_range", mode: exec.Debug, run: func(l *lab) {
		x := I32.Of(0, 1, 2)
		e := refused[*exec.BoundsError](l, func() { x.Take(I64.Of(0, 3)) })
		if e.Lo != -3 || e.Hi != 2 || e.Bad != 1 || e.First[0].Value != 3 || e.First[0].At[0] != 1 || e.Op != "take" {
			l.Errorf("%+v", e)
		}
		e = refused[*exec.BoundsError](l, func() { x.Take(I64.Of(0, -4)) })
		if e.First[0].Value != -4 {
			l.Errorf("%+v", e)
		}
		l.want(x.Take(I64.Of(-1, -3)), 2, 0)
	}},
	{name: "case_34_take_of_nothing", run: func(l *lab) {
		for _, m := range []*exec.Mode{exec.Debug, exec.Strict, exec.DeferAndFuse} {
			l.Run(m.Name, func(l *lab) {
				err := Try(func() { Zeros(0).Take(I64.Of(0)) })
				if err == nil || !strings.Contains(err.Error(), "empty") {
					l.Errorf("got %v, want a refusal that names the empty input", err)
				}
				if n := Zeros(0).Take(I64.Empty(0)).Size(); n != 0 {
					l.Errorf("%d elements", n)
				}
			}, m)
		}
	}},
	{name: "case_35_index_select_arguments", run: func(l *lab) {
		x := Of(1.0, 2.0, 3.0)
		r := refusedAs[rankError](l, func() { x.IndexSelect(0, I64.Zeros(2, 3)) })
		if !slices.Equal(r.Dims, []int{2, 3}) || r.Max != 1 {
			l.Errorf("%+v", r)
		}
		a := refusedAs[axisError](l, func() { x.IndexSelect(1, I64.Of(0)) })
		if a.Axis != 1 || a.Rank != 1 || !strings.Contains(a.Error(), "[-1, 0]") {
			l.Errorf("%v", a)
		}
		if err := Try(func() { Scalar(1.0).IndexSelect(0, I64.Of(0, 0)) }); err == nil {
			l.Error("a scalar gave two elements")
		}
	}},
	{name: "case_36_mm_shapes_and_types", run: func(l *lab) {
		e := refusedAs[mismatchError](l, func() { Ones(2, 3).MM(Ones(4, 2)) })
		if !slices.Equal(e.Left.Dims, []int{2, 3}) || !slices.Equal(e.Right.Dims, []int{4, 2}) || e.Op != "mm" {
			l.Errorf("%+v", e)
		}
		t := refusedAs[typesError](l, func() { Ones(2, 3).MM(I32.Ones(3, 2)) })
		if DType(t.Left.DType) != F32 || DType(t.Right.DType) != I32 {
			l.Errorf("%+v", t)
		}
	}},
	{name: "case_37_addmm_input", run: func(l *lab) {
		e := refusedAs[mismatchError](l, func() { Ones(2, 3).AddMM(Ones(2, 4), Ones(4, 2)) })
		if !strings.Contains(e.Error(), "[2,3]") || !strings.Contains(e.Error(), "[2,2]") {
			l.Errorf("%v: both shapes should be named", e)
		}
	}},
	{name: "case_38_index_fill_index", run: func(l *lab) {
		x := Ones(3)
		t := refusedAs[typeError](l, func() { x.IndexFillInPlace(0, I8.Of(0), 2.0) })
		if DType(t.DType) != I8 || t.Arg != "index" {
			l.Errorf("%+v", t)
		}
		r := refusedAs[rankError](l, func() { x.IndexFillInPlace(0, I64.Zeros(1, 1), 2.0) })
		if len(r.Dims) != 2 || r.Max != 1 {
			l.Errorf("%+v", r)
		}
		l.every(x, 1)
	}},
	{name: "case_39_index_put_types_and_masks", run: func(l *lab) {
		x := I32.Of(1, 2, 3)
		t := refusedAs[typesError](l, func() { x.IndexPutInPlace(I64.Of(7), I64.Of(0)) })
		if DType(t.Left.DType) != I32 || DType(t.Right.DType) != I64 {
			l.Errorf("%+v", t)
		}
		m := refused[*MaskError](l, func() { Ones(2, 5).SetIndex(0.0, Bool.Ones(3, 5)) })
		if !slices.Equal(m.Mask, []int{3, 5}) || !slices.Equal(m.Of, []int{2, 5}) || m.Axis != 0 {
			l.Errorf("%+v", m)
		}
	}},
	{name: "case_40_overlapping_view_is_not_written", run: func(l *lab) {
		x := Arange(5.0)
		v := x.AsStrided([]int{3, 3}, []int{1, 1})
		e := refusedAs[overlapError](l, func() { v.IndexPutInPlace(Scalar(1.0), I64.Of(0)) })
		if e.Op != "index_put" {
			l.Errorf("%+v", e)
		}
		refusedAs[overlapError](l, func() {
			Into(v, "index_copy", attr("dim", 0), v.Clone(), I64.Of(0), Ones(1, 3))
		})
		l.want(x, 0, 1, 2, 3, 4)
	}},
	{name: "case_41_out_of_memory_names_the_value", run: func(l *lab) {
		l.at(1)
		a, b := Ones(mi, 1), Ones(1, mi)
		l.at(2)
		c := a.MatMul(b)
		l.end(a, b, c)
		err := Try(func() { c.Float32s() })
		var oom *device.OutOfMemoryError
		var op *exec.OpError
		if !errors.As(err, &oom) || !errors.As(err, &op) {
			l.Fatalf("got %v, want an out of memory of an op", err)
		}
		if s := oom.Spec.String(); s != "f32[1048576,1048576]" || oom.RequestedBytes != 4<<40 {
			l.Errorf("names %s of %d bytes", s, oom.RequestedBytes)
		}
		if op.Op != "matmul" || op.Stack.Top().Line != 2 {
			l.Errorf("blames %s at line %d, want matmul at line 2", op.Op, op.Stack.Top().Line)
		}
		if !strings.Contains(err.Error(), "f32[1048576,1048576]") {
			l.Errorf("the text %q does not name the value", err)
		}
		l.want(a.Index(0), 1) // the rest of the program goes on
	}},
	{name: "case_42_eq_in_place_keeps_the_type", run: func(l *lab) {
		x := U8.Of(2, 2)
		x.EqInPlace(U8.Of(3, 2))
		l.want(x, 0, 1)
		if x.DType() != U8 {
			l.Errorf("the type became %v", x.DType())
		}
	}},
	{name: "case_43_types_that_do_not_exist", run: func(l *lab) {
		for _, name := range []string{"complex32", "int1", "c32", "i1"} {
			if t, ok := dtype.Parse(name); ok {
				l.Errorf("%s is %v", name, t)
			}
		}
	}},
	{name: "case_44_limits_of_sizes", run: func(l *lab) {
		e := refusedAs[sizeError](l, func() { Ones(-1) })
		if e.Op != "ones" || !slices.Equal(e.Dims, []int{-1}) || e.Axis != 0 {
			l.Errorf("%+v", e)
		}
		// There is no limit of 2³¹-1 elements: the shape is accepted, and what is
		// refused is what the HBM does not hold.
		big := U8.Empty(1 << 31)
		l.end(big)
		if err := Try(func() { F64.Empty(1 << 31).Sum() }); err != nil {
			var oom *device.OutOfMemoryError
			if !errors.As(err, &oom) {
				l.Errorf("got %v", err)
			}
		}
	}},
}
