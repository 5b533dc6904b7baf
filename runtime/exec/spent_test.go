package exec

import (
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
)

// A spy notes of each launch which inputs may be written over.
type spy struct {
	device.Device
	inPlace [][]bool
}

func (s *spy) Compile(g *graph.Graph, level device.Level) (device.Executable, error) {
	x, err := s.Device.Compile(g, level)
	return &spied{x, s}, err
}

type spied struct {
	device.Executable
	s *spy
}

func (x *spied) Run(l *device.Launch) error {
	may := make([]bool, len(l.In))
	for i := range may {
		may[i] = l.InPlace && i < len(l.Spent) && l.Spent[i]
	}
	x.s.inPlace = append(x.s.inPlace, may)
	return x.Executable.Run(l)
}

// TestUpdatesInPlace replaces a parameter that operations of the same queue have
// read, in regions of their own: it may be written over unless something can
// still ask for what it was.
func TestUpdatesInPlace(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(d *Dispatcher, x *Value)
		want  bool
	}{
		{name: "only earlier regions read it", want: true},
		{name: "another storage holds it", setup: func(d *Dispatcher, x *Value) { x.Hold() }},
		{name: "the history holds it", setup: func(d *Dispatcher, x *Value) { d.SetHistory(100, 1<<20) }},
		{name: "a hook looks on", setup: func(d *Dispatcher, x *Value) { d.AddHook(noHook{}) }},
		{name: "a tape has it pinned", setup: func(d *Dispatcher, x *Value) { x.pins++ }},
	} {
		d, _ := open(t, DeferAndFuse)
		s := &spy{Device: d.dev}
		d.dev = s
		x, g := vec(t, d, 1, 2, 3), vec(t, d, 10, 20, 30)
		x.Hold()
		if c.setup != nil {
			c.setup(d, x)
		}
		// The edge from a to c crosses b: each of them is a region.
		a := apply(t, d, &add, nil, x, g)
		b := apply(t, d, &neg, nil, x)
		e := apply(t, d, &add, nil, a, b)
		d.Discard(a)
		y := apply(t, d, &add, nil, x, g)
		x.Unhold()
		d.Discard(x)
		if err := d.Flush(ReasonSync); err != nil {
			t.Fatal(err)
		}
		if n := len(s.inPlace); n != 4 {
			t.Fatalf("%s: %d regions, want 4", c.name, n)
		}
		if got := s.inPlace[3][0]; got != c.want {
			t.Errorf("%s: written in place: %v", c.name, got)
		}
		for i, may := range s.inPlace[:2] {
			if may[0] {
				t.Errorf("%s: region %d may write over what a later one reads", c.name, i)
			}
		}
		wantVec(t, d, b, -1, -2, -3)
		wantVec(t, d, e, 10, 20, 30)
		wantVec(t, d, y, 11, 22, 33)
		if a.HBMBytes() > 0 {
			t.Errorf("%s: what was given up before it was launched keeps its HBM", c.name)
		}
	}
}

type noHook struct{}

func (noHook) Before(*Call) error { return nil }
func (noHook) After(*Call)        {}

// TestRecipesEndWithWhatTheyMake swallows results in a program: those that were
// given up read their operands no more, so that these can be written over; those
// that somebody holds are computed again from what they were.
func TestRecipesEndWithWhatTheyMake(t *testing.T) {
	for _, c := range []struct {
		name string
		give bool
	}{{"given up", true}, {"held", false}} {
		d, _ := open(t, DeferAndFuse)
		s := &spy{Device: d.dev}
		d.dev = s
		x, g := vec(t, d, 1, 2, 3), vec(t, d, 10, 20, 30)
		x.Hold()
		if err := d.BeginProgram(); err != nil {
			t.Fatal(err)
		}
		h := apply(t, d, &neg, nil, x)
		u := apply(t, d, &neg, nil, h)
		z := apply(t, d, &add, nil, u, g)
		if err := d.EndProgram(z); err != nil {
			t.Fatal(err)
		}
		if c.give {
			d.Discard(h)
			d.Discard(u)
		}
		y := apply(t, d, &add, nil, x, g)
		x.Unhold()
		d.Discard(x)
		if err := d.Flush(ReasonSync); err != nil {
			t.Fatal(err)
		}
		if may := s.inPlace[len(s.inPlace)-1]; may[0] != c.give {
			t.Errorf("%s: written in place: %v", c.name, may[0])
		}
		wantVec(t, d, y, 11, 22, 33)
		wantVec(t, d, z, 11, 22, 33)
		if !c.give {
			wantVec(t, d, u, 1, 2, 3)
			wantVec(t, d, h, -1, -2, -3)
		} else if d.State(h) != Failed || d.State(u) != Failed {
			t.Errorf("%s: %s and %s", c.name, d.State(h), d.State(u))
		}
	}
}
