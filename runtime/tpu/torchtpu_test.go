package tpu

import (
	"errors"
	"reflect"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/trace"
)

// A lab is a program under observation: a dispatcher of its own, a recorder,
// and roots that reach exactly the tensors it holds. When the test ends, the
// recording must obey the laws of traces and every region the invariant of graphs.
type lab struct {
	testing.TB
	d     *exec.Dispatcher
	rec   *trace.Recorder
	held  []*Tensor
	lines map[int]*trace.Stack
	line  int

	restore func()
}

// newLab opens a v5e in a mode.
func newLab(t testing.TB, m *exec.Mode) *lab {
	t.Helper()
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{TB: t, rec: trace.NewRecorder(1 << 15), lines: map[int]*trace.Stack{}}
	l.d = exec.New(sim.New(chip, sim.Options{Sink: l.rec}), exec.Options{Mode: m, Tracer: l.rec})
	l.d.SetPlace(l)
	l.d.SetRoots(func(m *exec.Marker) { Walk(m, reflect.ValueOf(l.held)) })
	l.restore = Use(l.d)
	t.Cleanup(l.close)
	return l
}

// close ends the lab and verifies what it saw; a second call does nothing.
func (l *lab) close() {
	if l.restore == nil {
		return
	}
	l.restore()
	l.restore = nil
	l.verify()
}

// verify checks the laws of the recording and the graphs that were compiled.
func (l *lab) verify() {
	l.Helper()
	if err := trace.Validate(l.rec.Snapshot().Events); err != nil {
		l.Errorf("the trace breaks a law: %v", err)
	}
	for _, g := range l.d.Groups() {
		if err := graph.Check(g.Graph); err != nil {
			l.Errorf("group %d: %v", g.Number, err)
		}
	}
}

// Where is the line set by at.
func (l *lab) Where() *trace.Stack { return l.lines[l.line] }

// Depth is that of a program without functions.
func (l *lab) Depth() int { return 1 }

// at says that the program is at a line of its cell.
func (l *lab) at(line int) {
	if l.lines[line] == nil {
		l.lines[line] = &trace.Stack{Frames: []trace.Frame{{Cell: 1, Line: line, Func: "(cell)"}}}
	}
	l.line = line
}

// end ends a statement after which the program reaches exactly ts.
func (l *lab) end(ts ...*Tensor) {
	l.held = ts
	l.d.Touch()
	l.d.StatementEnd(1)
}

// counts are the counters that a probe watches.
type counts struct{ launches, requests, hits int64 }

func (l *lab) counts() counts {
	s, c := l.d.Stats(), l.d.CacheStats()
	return counts{s.Launches, c.Requests, c.Hits}
}

// cost runs f and gives what it cost: launches, requests to the cache, hits.
func (l *lab) cost(f func()) counts {
	a := l.counts()
	f()
	b := l.counts()
	return counts{b.launches - a.launches, b.requests - a.requests, b.hits - a.hits}
}

// wantCost checks the launches and the programs that had to be compiled.
func (l *lab) wantCost(what string, launches, compiled int64, f func()) {
	l.Helper()
	if c := l.cost(f); c.launches != launches || c.requests-c.hits != compiled {
		l.Errorf("%s: %d launches and %d programs compiled, want %d and %d", what, c.launches, c.requests-c.hits, launches, compiled)
	}
}

// grew runs f and gives the bytes that the peak of the HBM rose above what was in use.
func (l *lab) grew(f func()) int64 {
	l.Helper()
	h := l.d.Device().HBM()
	h.ResetPeak()
	base := h.Used()
	f()
	return h.Peak() - base
}

const mib = 1 << 20

// wantNone checks that f took less than 4 MiB more, as an in-place write that
// reuses its operand does; wantCopy that it took at least 12 MiB.
func (l *lab) wantNone(f func()) {
	l.Helper()
	if n := l.grew(f); n >= 4*mib {
		l.Errorf("the peak rose by %d MiB, want none: the operand's HBM should be reused", n/mib)
	}
}

func (l *lab) wantCopy(f func()) {
	l.Helper()
	if n := l.grew(f); n < 12*mib {
		l.Errorf("the peak rose by %d MiB, want a whole copy", n/mib)
	}
}

// want compares the numbers of t.
func (l *lab) want(t *Tensor, xs ...float64) {
	l.Helper()
	if got := t.Float64s(); !reflect.DeepEqual(got, append([]float64{}, xs...)) {
		l.Errorf("%v is %v, want %v", t.Spec(), got, xs)
	}
}

// near compares the numbers of t up to a relative error of 1e-6.
func (l *lab) near(t *Tensor, xs ...float64) {
	l.Helper()
	got := t.Float64s()
	if len(got) != len(xs) {
		l.Fatalf("%d numbers, want %d", len(got), len(xs))
	}
	for i, x := range xs {
		if d := got[i] - x; d > 1e-6*(1+abs(x)) || d < -1e-6*(1+abs(x)) || got[i] != got[i] {
			l.Errorf("element %d is %v, want %v", i, got[i], x)
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }

// every checks that all numbers of t are x.
func (l *lab) every(t *Tensor, x float64) {
	l.Helper()
	for i, y := range kernel.Float64s(t.Array()) {
		if y != x {
			l.Fatalf("element %d of %v is %v, want %v", i, t.Spec(), y, x)
		}
	}
}

// state checks where a tensor is in its life.
func (l *lab) state(name string, t *Tensor, want ...exec.State) {
	l.Helper()
	got := t.State()
	for _, w := range want {
		if got == w {
			return
		}
	}
	l.Errorf("%s is %v, want %v", name, got, want)
}

// groups gives the ops of the launches since the first n, one string a launch.
func (l *lab) groups(n int) []string {
	var s []string
	for _, g := range l.d.Groups()[n:] {
		line := ""
		for i, o := range g.Ops {
			if i > 0 {
				line += " "
			}
			line += o.Name
		}
		s = append(s, line)
	}
	return s
}

// refused runs f, which must be refused with an error of type E, and gives it.
func refused[E error](l *lab, f func()) (e E) {
	l.Helper()
	err := Try(f)
	if err == nil {
		l.Fatalf("not refused, want %T", e)
	}
	if !errors.As(err, &e) {
		l.Fatalf("got %T: %v, want %T", errors.Unwrap(err), err, e)
	}
	return e
}

// A conformance is one case of the recorded behaviour of TorchTPU.
type conformance struct {
	name string
	mode *exec.Mode // Strict when nil
	run  func(l *lab)
	skip string // why it waits
}

// TestTorchTPU runs the conformance cases: what TorchTPU's own tests, source and
// recorded runs say of in-place writes, donation, queues, errors, sizes and
// values. docs/differences.md lists where tpush does otherwise on purpose; the
// cases then assert what tpush does.
func TestTorchTPU(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range allCases() {
		number := c.name[:len("case_00")]
		if seen[number] {
			t.Errorf("%s exists twice", number)
		}
		seen[number] = true
		t.Run(c.name, func(t *testing.T) {
			if c.skip != "" {
				t.Skip(c.skip)
			}
			m := c.mode
			if m == nil {
				m = exec.Strict
			}
			c.run(newLab(t, m))
		})
	}
	if len(seen) != 54 {
		t.Errorf("%d cases, want 54", len(seen))
	}
}

func allCases() []conformance {
	var all []conformance
	for _, s := range [][]conformance{inPlaceCases, donationCases, queueCases, errorCases, sizeCases, valueCases} {
		all = append(all, s...)
	}
	return all
}
