package exec

import (
	"testing"

	"github.com/tpush/tpush/runtime/device"
)

// TestStreaks runs a loop of two operations, so that its last turns wait, and then
// does something that must find them launched.
func TestStreaks(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  int // after the turns that began the streak
		then func(t *testing.T, p *streakLoop)
		end  bool // of the streak
	}{
		{name: "nothing", ops: 9, then: func(*testing.T, *streakLoop) {}},
		{name: "a Go number is made", ops: 9, then: func(t *testing.T, p *streakLoop) { p.d.Scalar(7.0) }},
		{name: "figures", ops: 9, end: true, then: func(t *testing.T, p *streakLoop) {
			if s := p.d.Stats(); s.Launches != p.launches {
				t.Errorf("%d launches, want %d", s.Launches, p.launches)
			}
		}},
		{name: "HBM", ops: 8, end: true, then: func(t *testing.T, p *streakLoop) {
			if n := p.d.Device().HBM().Live(); n != p.launched+2 {
				t.Errorf("%d arrays, want %d", n, p.launched+2)
			}
		}},
		{name: "the queue", ops: 9, end: true, then: func(t *testing.T, p *streakLoop) {
			if n := p.d.Queued(); n != 1 {
				t.Errorf("%d operations are queued, want 1", n)
			}
		}},
		{name: "a read in the middle of a turn", ops: 9, end: true, then: func(t *testing.T, p *streakLoop) { wantVec(t, p.d, p.x, p.want) }},
		{name: "another operand", ops: 8, end: true, then: func(t *testing.T, p *streakLoop) {
			v := p.apply(p.b, p.a)
			wantVec(t, p.d, v, 11)
		}},
		{name: "an operand is given up", ops: 9, end: true, then: func(t *testing.T, p *streakLoop) {
			p.d.Release(p.a)
			wantVec(t, p.d, p.x, p.want)
		}},
		{name: "the collector drops results", ops: 9, then: func(t *testing.T, p *streakLoop) {
			used := p.d.hbm.Used()
			p.d.Drop(p.a)
			p.step() // sees it
			if p.d.hbm.Used() <= used {
				t.Error("what waited was not launched before results were given back")
			}
		}, end: true},
		{name: "the HBM is full", ops: 0, then: func(t *testing.T, p *streakLoop) {
			s := &p.d.streak
			s.room = 1 << 60
			p.step()
			if len(s.vals) > 0 {
				t.Error("a result waits that there is no room for")
			}
		}, end: true},
		{name: "the device refuses", ops: 8, then: func(t *testing.T, p *streakLoop) {
			p.d.streak.run = refusing{p.d.streak.run}
			wantVec(t, p.d, p.x, p.want)
		}, end: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startStreak(t)
			for range c.ops {
				p.step()
			}
			c.then(t, p)
			if p.d.streak.ready == c.end {
				t.Errorf("the streak goes on: %v", c.end)
			}
			wantVec(t, p.d, p.x, p.want)
			if p.d.streak.ready || len(p.d.streak.vals) > 0 {
				t.Error("a read leaves something waiting")
			}
		})
	}
}

// refusing launches nothing.
type refusing struct{ device.Repeater }

func (refusing) RunRepeat(*device.Repeat) bool { return false }

// A streakLoop adds a and b to x in turns.
type streakLoop struct {
	t        *testing.T
	d        *Dispatcher
	a, b, x  *Value
	slot     Slot
	steps    int
	want     float32
	launched int   // results that were launched
	launches int64 // regions
}

func startStreak(t *testing.T) *streakLoop {
	d, _ := open(t, DeferAndFuse)
	d.tracer = nil
	p := &streakLoop{t: t, d: d, a: vec(t, d, 1), b: vec(t, d, 10), x: vec(t, d, 0)}
	for !d.streak.ready {
		if p.step(); p.steps > 40 {
			t.Fatal("no streak began")
		}
	}
	s := d.stats
	p.launches, p.launched = s.Launches, p.steps+1 // with the first x
	return p
}

func (p *streakLoop) step() {
	by := p.a
	if p.steps%2 == 1 {
		by = p.b
	}
	p.x = p.apply(p.x, by)
	p.steps++
	if p.want += 1; p.steps%2 == 0 {
		p.want += 9
	}
	p.launched++
	if p.steps%2 == 0 {
		p.launches++
	}
}

func (p *streakLoop) apply(x, y *Value) *Value {
	if s := &p.slot; s.Slab == nil || s.At == SlabValues {
		s.Husk, s.At = new(Husk), 0
		s.Slab = p.d.NewSlab(s.Husk)
	}
	v, err := p.d.Apply1At(&p.slot, &add, nil, x, y)
	if err != nil {
		p.t.Fatal(err)
	}
	if v == p.slot.Value() {
		v.Hold()
		p.slot.At++
	}
	return v
}
