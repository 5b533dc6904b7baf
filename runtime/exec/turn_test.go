package exec

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/trace"
)

// fragile fails for large numbers: a turn that went well may fail the next time.
var fragile = op.Def{Name: "fragile", Params: []op.Param{{Name: "self"}}, Shape: like, DType: f32, Cost: perElem, Lower: noLower, Kernel: func(c *kernel.Call) error {
	for _, x := range kernel.Float32s(c.In[0]) {
		if math.Abs(float64(x)) > 1e3 {
			return errors.New("too large")
		}
	}
	return neg.Kernel(c)
}}

// A loopProgram is a random program of loops: what it does hangs on its seed alone.
type loopProgram struct {
	r     *rand.Rand
	d     *Dispatcher
	vs    []*Value
	said  []string
	slabs bool // results go to slabs
	calm  bool // loops go on for long, and nobody asks for the state of results: there are streaks
	slab  *testSlab
	in    map[*Value]*testSlab
}

// A testSlab is a slab and which of its values are held, and which the collector
// will find when none is.
type testSlab struct {
	Slot
	held, gone uint32
}

// apply is Apply1 with the result in a slab, if it may be.
func (p *loopProgram) apply(def *op.Def, attrs op.Attrs, in ...*Value) (*Value, error) {
	if !p.slabs {
		return p.d.Apply1(def, attrs, in...)
	}
	s := p.slab
	if s == nil || s.At == SlabValues {
		s = &testSlab{}
		s.Husk = new(Husk)
		s.Slab = p.d.NewSlab(s.Husk)
		p.slab = s
	}
	v, err := p.d.Apply1At(&s.Slot, def, attrs, in...)
	if v == s.Value() {
		v.Hold()
		s.held |= 1 << s.At
		p.in[v] = s
		s.At++
	}
	return v, err
}

// drop gives a value up: at once or, of a slab, as Go's collector does, or as
// somebody who knows that nobody else has it.
func (p *loopProgram) drop(v *Value) {
	s := p.in[v]
	if s == nil {
		p.d.Release(v)
		return
	}
	bit := uint32(1) << slices.IndexFunc(s.Slab.vals[:], func(w Value) bool { return w.id == v.id })
	s.held &^= bit
	switch p.r.IntN(3) {
	case 0:
		s.gone |= bit
	case 1:
		v.Unhold()
		p.d.Discard(v)
	default:
		p.d.Drop(v)
	}
	if s.held == 0 && s.At == SlabValues {
		p.d.DropHusk(s.Husk, s.gone)
	}
}

// loop runs a body of a few operations many times. Now and then a turn is unlike
// the others: another operand, another attribute, a value given up or not, a read.
func (p *loopProgram) loop() {
	type step struct {
		def             *op.Def
		from, other, to int  // values read and written
		release         bool // what is overwritten
		by              float64
	}
	body := make([]step, 1+p.r.IntN(4))
	draw := func() step {
		def := []*op.Def{&add, &neg, &scale}[p.r.IntN(3)]
		if !p.calm && p.r.IntN(10) == 0 { // it is elementwise, and those fail the first time or never
			def = &fragile
		}
		return step{def, p.r.IntN(len(p.vs)), p.r.IntN(len(p.vs)), p.r.IntN(len(p.vs)), p.r.IntN(3) > 0, float64(p.r.IntN(2))}
	}
	for i := range body {
		body[i] = draw()
	}
	scopes := p.r.IntN(3) == 0
	turns, rarely := 4+p.r.IntN(12), 1
	if p.calm {
		turns, rarely = 40+p.r.IntN(60), 20
		scopes = false
		for i := range body {
			body[i].release = p.r.IntN(6) == 0
		}
	}
	for range turns {
		var temps []*Value
		if scopes {
			p.d.BeginScope()
		}
		for _, s := range body {
			if p.r.IntN(25*rarely) == 0 {
				s = draw()
			}
			var attrs op.Attrs
			in := []*Value{p.vs[s.from]}
			switch s.def {
			case &add:
				in = append(in, p.vs[s.other])
				if p.r.IntN(9*rarely) == 0 {
					in[1] = p.d.Scalar(s.by)
				}
			case &scale:
				attrs = op.Attrs{{Name: "by", Value: s.by}, {Name: "tag", Value: 1}}
			}
			v, err := p.apply(s.def, attrs, in...)
			p.note(v, err)
			if err != nil {
				continue
			}
			if old := p.vs[s.to]; s.release && old != v && !slices.Contains(p.vs[:s.to], old) && !slices.Contains(p.vs[s.to+1:], old) {
				if scopes {
					temps = append(temps, old)
				} else {
					p.drop(old)
				}
			}
			p.vs[s.to] = v
			switch p.r.IntN(60 * rarely) {
			case 0:
				p.read(v)
			case 1:
				p.note(nil, p.d.Sync())
			case 2:
				p.note(nil, p.d.Flush(ReasonSync))
			case 3:
				p.d.ClearCache()
			}
		}
		if scopes {
			for _, v := range temps {
				p.drop(v)
			}
			p.note(nil, p.d.EndScope())
		}
	}
}

func (p *loopProgram) note(v *Value, err error) {
	state := "none"
	if v != nil && !p.calm {
		state = p.d.State(v).String()
	}
	p.said = append(p.said, fmt.Sprint(state, " ", err))
}

func (p *loopProgram) read(v *Value) {
	a, err := p.d.Read(v, ReasonHostCopy)
	p.note(v, err)
	if err == nil {
		for _, x := range kernel.Float32s(a) {
			p.said = append(p.said, fmt.Sprintf("%08x", math.Float32bits(x)))
		}
	}
}

// TestTurnThatFails goes on in a loop until a region that went well fails: only
// the culprit and its heirs do.
func TestTurnThatFails(t *testing.T) {
	d, _ := open(t, DeferAndFuse)
	x := vec(t, d, 1)
	var sick, heir *Value
	for range 12 {
		x = apply(t, d, &add, nil, x, x)
		var err error
		if sick, err = d.Apply1(&fragile, nil, x); err != nil {
			t.Fatal(err)
		}
		heir, err = d.Apply1(&neg, nil, sick)
		var e *OpError
		if err != nil && (!errors.As(err, &e) || e.Op != "fragile") {
			t.Fatal(err)
		}
	}
	if d.turn.taken < 5 {
		t.Errorf("%d turns were recognized", d.turn.taken)
	}
	wantVec(t, d, x, 4096)
	_, err := d.Read(heir, ReasonHostCopy)
	var f *FailedValueError
	if !errors.As(err, &f) || f.Origin.Op != "fragile" {
		t.Errorf("got %v", err)
	}
}

// TestTurnsChangeNothing runs programs with and without recognizing the turns of
// their loops: everything that can be seen is alike.
func TestTurnsChangeNothing(t *testing.T) {
	taken, traced, streaks := 0, 0, 0
	for seed := range uint64(400) {
		var said [2][]string
		for i, off := range []bool{true, false} {
			d, rec := open(t, DeferAndFuse)
			d.turn.off, d.streak.off = off, off
			listens := seed%4 == 0 // a trace keeps late results from being late
			if !listens {
				d.tracer = nil
			}
			p := &loopProgram{r: rand.New(rand.NewPCG(seed, 7)), d: d, slabs: seed%4 > 1, calm: seed%8 > 5, in: map[*Value]*testSlab{}}
			for k := range 4 {
				xs := []float32{float32(k), 1, -2, 0.5}
				if p.calm && seed%16 > 7 { // results wait
					xs = slices.Repeat(xs, 20)
				}
				p.vs = append(p.vs, vec(t, d, xs...))
			}
			for range 4 {
				p.loop()
			}
			p.note(nil, d.Sync())
			for _, v := range p.vs {
				p.read(v)
			}
			for v := range p.in { // else a chain of slabs would hold its beginning
				if v.node != nil && v.readers == 0 {
					t.Fatalf("seed %d: a %s that nobody reads has a recipe", seed, d.State(v))
				}
			}
			s := d.Stats()
			s.HostNS = 0
			p.said = append(p.said, fmt.Sprintf("%+v %+v %+v", s, d.CacheStats(), *d.clock), fmt.Sprint(d.hbm.Used(), d.hbm.Peak(), d.hbm.Live()))
			for _, g := range d.Groups() {
				p.said = append(p.said, fmt.Sprint(g.Number, g.Reason, g.Name, g.Ops, g.Hit, g.StartNS, g.InputSpecs, g.OutSpecs))
			}
			for _, e := range d.CacheEntries() {
				p.said = append(p.said, fmt.Sprint(e.Key, e.Ops, e.Reads, e.Why, e.MadeAt, e.UsedAt))
			}
			if listens {
				for _, e := range rec.Snapshot().Events {
					if e.Kind == trace.Launch || e.Kind == trace.Compile {
						e.HostNS, e.RealNS = 0, 0
					}
					p.said = append(p.said, fmt.Sprintf("%+v", e))
					traced++
				}
			}
			said[i] = p.said
			taken += d.turn.taken
			streaks += d.streak.taken
		}
		if !slices.Equal(said[0], said[1]) {
			for i := range said[0] {
				if i >= len(said[1]) || said[0][i] != said[1][i] {
					t.Fatalf("seed %d, line %d: %q, want %q", seed, i, said[1][min(i, len(said[1])-1)], said[0][i])
				}
			}
			t.Fatalf("seed %d: %d lines, want %d", seed, len(said[1]), len(said[0]))
		}
	}
	if taken < 1000 || traced < 1000 || streaks < 1000 {
		t.Errorf("%d turns were recognized, %d of them in streaks, %d events compared", taken, streaks, traced)
	}
}
