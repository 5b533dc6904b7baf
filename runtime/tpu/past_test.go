package tpu

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
)

// playKept runs a random program with its operations kept.
func playKept(t *testing.T, mode *exec.Mode, seed uint64, limitBytes int64) (*exec.Dispatcher, *randomProgram) {
	t.Helper()
	l := newLab(t, mode)
	t.Cleanup(l.close)
	l.d.SetHistory(1<<14, limitBytes)
	p := newProgram(seed)
	Seed(seed)
	for i := range p.vars {
		p.vars[i] = p.fresh(fuzzTypes[i], fuzzShapes[2+p.r.IntN(6)])
		l.end()
	}
	for range 1 + int(seed*7%40) {
		p.statement()
		l.end(p.vars[:]...)
	}
	if err := l.d.EndCell(); err != nil {
		t.Fatal(err)
	}
	return l.d, p
}

func rawBytes(a kernel.Array) []byte {
	c := kernel.Contiguous(a)
	return c.Buf[:a.Size()*a.DType.HostBytes()]
}

// Every region of random programs, replayed op by op, has the bits that the
// launch left behind.
func TestReplayHasTheSameBits(t *testing.T) {
	statements = fuzzStatements()
	compared, inner := 0, 0
	for _, mode := range []*exec.Mode{exec.DeferAndFuse, exec.Compiled, exec.Debug} {
		for seed := range uint64(60) {
			d, p := playKept(t, mode, seed, 64<<20)
			for _, g := range d.Groups() {
				r, err := inspect.ReplayGroup(d, g.Number)
				if err != nil {
					t.Fatal(err)
				}
				for r.Left() > 0 {
					s, err := r.Step()
					if err != nil {
						t.Fatalf("%v seed %d, %s: %v", mode.Name, seed, r.Where(), err)
					}
					for i, o := range s.Record.Out {
						want, known := d.Peek(o.Value)
						if !known {
							inner++
							continue
						}
						compared++
						if !bytes.Equal(rawBytes(want), rawBytes(s.Out[i])) {
							t.Fatalf("%v seed %d, %s, op #%d %s: the replay differs from the launch\n%s", mode.Name, seed, r.Where(), s.Record.OpN, s.Record.Def.Name, strings.Join(p.text, "\n"))
						}
					}
				}
			}
		}
	}
	if compared < 1000 || inner < 100 {
		t.Errorf("only %d results compared, %d kept on chip", compared, inner)
	}
}

// With no room for freed values they are recomputed from what still lives, or
// said to be gone; what is recomputed has the bits it had.
func TestFreedValuesAreRecomputed(t *testing.T) {
	statements = fuzzStatements()
	recomputed, gone := 0, 0
	for seed := range uint64(40) {
		all, _ := playKept(t, exec.Debug, seed, 64<<20)
		want := map[uint64][]byte{}
		for _, r := range all.History(0) {
			for _, o := range r.Out {
				if a, ok := all.Peek(o.Value); ok {
					want[o.ID] = rawBytes(a)
				}
			}
		}
		few, _ := playKept(t, exec.Debug, seed, 0)
		past := inspect.PastOf(few)
		for _, r := range few.History(0) {
			for _, o := range r.Out {
				a, source, err := past.Value(o)
				if err != nil {
					gone++
					continue
				}
				if source == inspect.Recomputed {
					recomputed++
				}
				if w, ok := want[o.ID]; ok && !bytes.Equal(w, rawBytes(a)) {
					t.Fatalf("seed %d, op #%d %s (%v): other bits than it had", seed, r.OpN, r.Def.Name, source)
				}
			}
		}
	}
	if recomputed < 100 || gone < 100 {
		t.Errorf("%d recomputed, %d gone: the test shows nothing", recomputed, gone)
	}
}

// The numbers that only the history holds stay within their limit, and HBM is
// as without it.
func TestHistoryIsBounded(t *testing.T) {
	use := func(ops int) int64 {
		l := newLab(t, exec.Debug)
		defer l.close()
		l.d.SetHistory(ops, 1<<20)
		x := Zeros(64, 1024) // 256 KiB
		l.end(x)
		for range 50 {
			x = x.Add(1)
			l.end(x)
		}
		held := int64(0)
		for _, r := range l.d.History(0) {
			if o := r.Out[0]; o.Value != nil && o.Value.HBMBytes() == 0 {
				held += int64(o.Spec.HostBytes())
			}
		}
		if held > 1<<20 {
			t.Errorf("%d freed bytes are held, the limit is %d", held, 1<<20)
		}
		if ops > 0 && held == 0 {
			t.Error("nothing is held")
		}
		return l.d.Device().HBM().Used()
	}
	if with, without := use(100), use(0); with != without {
		t.Errorf("HBM %d with the history, %d without", with, without)
	}
}

// TestHistoryOfDroppedResults: where Go's collector decides what lives, small
// results that the program has dropped give their HBM back, and their numbers
// count against the history's limit.
func TestHistoryOfDroppedResults(t *testing.T) {
	for _, m := range []*exec.Mode{exec.Debug, exec.Strict} {
		t.Run(m.Name, func(t *testing.T) {
			const ops, size, room = 20 * batchSize, 4 * 4, 100
			d := use(t, m)
			d.SetHistory(ops, room*size)
			x, y := F32.Ones(4), F32.Ones(4)
			kept := x.Add(y)
			for range ops - 1 {
				x.Add(y)
			}
			dropped := func() int {
				freed := 0
				for _, r := range d.History(ops) {
					if v := r.Out[0].Value; v != nil && v.HBMBytes() == 0 {
						freed++
					}
				}
				return freed
			}
			for i := 0; d.Device().HBM().Live() > 3*batchSize; i++ {
				if i == 100 {
					t.Fatalf("%d results have HBM", d.Device().HBM().Live())
				}
				heapBytes() // collects
				Of(1.0)     // takes what was collected into account
			}
			if n := dropped(); n == 0 || n > room {
				t.Errorf("the history holds %d results that the program has dropped, its limit is %d", n, room)
			}
			if got := kept.Float32s(); got[0] != 2 {
				t.Errorf("a result that the program holds is %v", got)
			}
		})
	}
}
