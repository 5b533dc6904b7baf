package tpu

import (
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/trace"
)

// What docs/differences.md says beyond the cases and probes.

func TestIntegerDivisionByZero(t *testing.T) {
	for _, m := range exec.Modes() {
		l := newLab(t, m)
		x := I32.Of(7, -7, 0)
		l.want(x.FloorDivide(0), -1, -1, -1)
		l.want(x.Remainder(0), 7, -7, 0)
	}
}

func TestIndicesOfBothWidths(t *testing.T) {
	l := newLab(t, exec.Debug)
	x := Of(10.0, 11.0, 12.0)
	for _, d := range []DType{I32, I64} {
		l.want(x.IndexSelect(0, d.Of(2, 0)), 12, 10)
		l.want(x.Take(d.Of(-1)), 12)
		l.want(x.Index(d.Of(1)), 11)
	}
}

func TestCacheEntriesSayWhatTheyAre(t *testing.T) {
	l := newLab(t, exec.Strict)
	x := Of(1.0, 2.0)
	x.Exp()
	x.Exp()
	for _, e := range l.d.CacheEntries() {
		if e.Name != "exp" {
			continue
		}
		if strings.Count(e.Key, "_") != 2 || len(e.Ops) != 1 || e.Ops[0] != "exp" || len(e.Inputs) != 1 || e.Inputs[0].String() != "f32[2]" || e.Reads != 1 || e.CompileTime <= 0 {
			t.Errorf("%+v", e)
		}
		return
	}
	t.Error("no entry for exp")
}

func TestTheTraceSaysWhyAProgramWasCompiled(t *testing.T) {
	l := newLab(t, exec.Strict)
	Of(1.0, 2.0).Exp()
	Of(1.0, 2.0, 3.0).Exp()
	var why []string
	for _, e := range l.rec.Snapshot().Events {
		if e.Kind == trace.Compile {
			why = append(why, e.Reason)
		}
	}
	if len(why) != 2 || why[0] != "new program" || why[1] != "input 0 changed from [2] to [3]" {
		t.Errorf("%q", why)
	}
}

// Reading one element of a large array moves four bytes, not the array.
func TestAPartTravelsAlone(t *testing.T) {
	l := newLab(t, exec.Strict)
	x := Ones(1024, 1024)
	l.end(x)
	for what, f := range map[string]struct {
		read  func()
		bytes int64
	}{
		"an element":       {func() { x.Index(3, 4).Item() }, 4},
		"a row":            {func() { x.Index(3).Float32s() }, 4096},
		"a repeated view":  {func() { x.Index(0, 0).Expand(8).Float32s() }, 32},
		"everything":       {func() { x.Float32s() }, 4 << 20},
		"stretched beyond": {func() { x.Unsqueeze(0).Expand(2, 1024, 1024).Float32s() }, 4 << 20},
	} {
		f.read()
		events := l.rec.Snapshot().Events
		if e := events[len(events)-1]; e.Kind != trace.Transfer || e.Bytes != f.bytes {
			t.Errorf("%s: %v of %d bytes, want %d", what, e.Kind, e.Bytes, f.bytes)
		}
	}
}
