package panel

import (
	"encoding/json"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Trace shows what ran when: host, queue, device, transfers and HBM over time.
type Trace struct {
	t      *inspect.Trace
	args   inspect.TraceArgs
	lane   int                 // under the cursor
	seq    uint64              // of the slice under the cursor, 0 for none
	search string              // last searched for
	found  bool                // the next snapshot puts the cursor on what was searched for
	hit    *inspect.TraceSlice // what was found last
	cols   int
}

// NewTrace makes the panel: it follows the last cell that used the device.
func NewTrace() *Trace { return &Trace{args: inspect.TraceArgs{Cell: -1}, lane: deviceLane, cols: 100} }

const deviceLane = 2 // of the snapshot's lanes

// Name implements Panel.
func (*Trace) Name() string { return "trace" }

// Title implements Panel.
func (*Trace) Title() string { return "Trace" }

// Wants implements Panel.
func (p *Trace) Wants() (string, any) {
	args := p.args
	args.Cols, args.Card = p.cols, p.seq
	return "trace", args
}

// Load implements Panel.
func (p *Trace) Load(data json.RawMessage) error {
	if err := decode(data, &p.t); err != nil {
		return err
	}
	t := p.t
	if p.found && t.Found != nil {
		p.seq, p.hit = t.Found.Seq, t.Found
		for i, l := range t.Lanes {
			for _, s := range l.Slices {
				if s.Seq == p.seq {
					p.lane = i
				}
			}
		}
		p.args.Cell, p.args.StartNS, p.args.EndNS = 0, t.StartNS, t.EndNS // the window that shows it stays
	}
	p.found = false
	p.args.Find, p.args.Group, p.args.Op, p.args.Value, p.args.At = "", 0, 0, 0, inspect.At{}
	return nil
}

// View implements Panel.
func (p *Trace) View(ctx Context, w, h int) []string {
	p.cols = max(20, w-20)
	top := head{title: "TRACE"}
	if p.t == nil {
		return empty(ctx, w, h, top, waiting)
	}
	t := p.t
	if t.Off {
		top.note = "recording is off (:trace on)"
	}
	if t.LastNS <= t.FirstNS {
		why := "nothing used the device yet: x := tpu.Ones(64, 64) does"
		if t.Off {
			why = "nothing was recorded: recording is off, :trace on switches it on"
		}
		return empty(ctx, w, h, top, why)
	}
	if t.Cell > 0 {
		top.title = "TRACE " + inspect.CellName(t.Cell)
	}
	parts := []viz.StackPart{{Drawing: paragraph{t.Summary(), viz.Normal}, Min: 1, Max: 2}}
	chosen := uint64(0)
	if ctx.Focused {
		chosen = p.seq
	}
	d := t.Drawing(chosen)
	if ctx.Focused && p.lane < len(d.Lanes) {
		d.Lanes[p.lane].Name = ctx.Theme.Mark + d.Lanes[p.lane].Name
	}
	lines := d.Height(w)
	parts = append(parts, viz.StackPart{Drawing: d, Min: min(lines, 4), Max: lines})
	parts = append(parts, viz.StackPart{Drawing: p.position(), Min: 1, Max: 1})
	switch {
	case t.Card != nil && t.Card.Event.Seq == p.seq:
		parts = append(parts, viz.StackPart{Drawing: viz.Lines{Rows: t.Card.Rows()}, Min: 1, Grow: true})
	case h >= 12:
		parts = append(parts, viz.StackPart{Drawing: paragraph{ctx.hint("trace-left trace-right", "another slice", "trace-up trace-down", "another lane", "trace-zoom-in trace-zoom-out", "zoom", "trace-pan-left trace-pan-right", "pan", "trace-find", "search"), viz.Dim}, Min: 1, Grow: true})
	}
	return stack(ctx, w, h, top, parts...)
}

// position is where the window is in all that was recorded.
func (p *Trace) position() viz.Lines {
	t := p.t
	text := "window " + viz.DurationNS(t.StartNS-t.FirstNS) + " to " + viz.DurationNS(t.EndNS-t.FirstNS) + " of " + viz.DurationNS(t.LastNS-t.FirstNS)
	if t.Dropped > 0 {
		text += "   " + viz.Plural(t.Dropped, "older event") + " dropped"
	}
	return viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Dim, text)}}
}

// window sets the stretch of time explicitly.
func (p *Trace) window(start, end int64) Effect {
	if p.t == nil {
		return Effect{}
	}
	const narrowest = 20 // ns
	if end-start < narrowest {
		mid := (start + end) / 2
		start, end = mid-narrowest/2, mid+narrowest/2
	}
	whole := max(p.t.LastNS-p.t.FirstNS, narrowest)
	if end-start >= whole {
		start, end = p.t.FirstNS, p.t.FirstNS+whole
	}
	if start < p.t.FirstNS {
		start, end = p.t.FirstNS, p.t.FirstNS+end-start
	}
	if end > p.t.LastNS && end-start < whole {
		start, end = p.t.LastNS-(end-start), p.t.LastNS
	}
	p.args.Cell, p.args.StartNS, p.args.EndNS = 0, start, end
	return Effect{Refresh: true}
}

// slices are those of the lane under the cursor.
func (p *Trace) slices() []inspect.TraceSlice {
	if p.t == nil || p.lane >= len(p.t.Lanes) {
		return nil
	}
	return p.t.Lanes[p.lane].Slices
}

// chosen is the slice under the cursor, nil when it is not in the snapshot.
func (p *Trace) chosen() *inspect.TraceSlice {
	if p.t == nil || p.seq == 0 {
		return nil
	}
	for i := range p.t.Lanes {
		for k := range p.t.Lanes[i].Slices {
			if s := &p.t.Lanes[i].Slices[k]; s.Seq == p.seq {
				return s
			}
		}
	}
	if p.hit != nil && p.hit.Seq == p.seq { // it is joined with its neighbours
		return p.hit
	}
	return nil
}

// step moves the cursor along the lane.
func (p *Trace) step(by int) Effect {
	list := p.slices()
	at := -1
	for i := range list {
		if list[i].Seq == p.seq {
			at = i
		}
	}
	switch {
	case len(list) == 0:
		return Effect{}
	case at < 0 && by > 0:
		at = 0
	case at < 0:
		at = len(list) - 1
	default:
		at = max(0, min(at+by, len(list)-1))
	}
	p.seq = list[at].Seq
	return Effect{Refresh: true}
}

// switchLane moves the cursor to the next lane that has slices.
func (p *Trace) switchLane(by int) Effect {
	if p.t == nil {
		return Effect{}
	}
	mid := (p.t.StartNS + p.t.EndNS) / 2
	if s := p.chosen(); s != nil {
		mid = (s.StartNS + s.EndNS) / 2
	}
	for l := p.lane + by; l >= 0 && l < len(p.t.Lanes); l += by {
		if len(p.t.Lanes[l].Slices) == 0 {
			continue
		}
		p.lane = l
		best, least := uint64(0), int64(-1)
		for _, s := range p.t.Lanes[l].Slices {
			far := max(s.StartNS-mid, mid-s.EndNS, 0)
			if least < 0 || far < least {
				best, least = s.Seq, far
			}
		}
		p.seq = best
		return Effect{Refresh: true}
	}
	return Effect{}
}

// Do implements Panel.
func (p *Trace) Do(action string) (Effect, bool) {
	name, arg, _ := strings.Cut(action, " ")
	arg = strings.TrimSpace(arg)
	var start, end int64
	if p.t != nil {
		start, end = p.t.StartNS, p.t.EndNS
	}
	length := end - start
	mid := (start + end) / 2
	if s := p.chosen(); s != nil && s.EndNS >= start && s.StartNS <= end {
		mid = (max(s.StartNS, start) + min(s.EndNS, end)) / 2
	}
	switch name {
	case "left":
		return p.step(-1), true
	case "right":
		return p.step(1), true
	case "up":
		return p.switchLane(-1), true
	case "down":
		return p.switchLane(1), true
	case "zoom-in":
		return p.window(mid-length/4, mid+length/4), true
	case "zoom-out":
		return p.window(mid-length, mid+length), true
	case "pan-left":
		return p.window(start-length/4, end-length/4), true
	case "pan-right":
		return p.window(start+length/4, end+length/4), true
	case "all":
		p.args.Cell, p.args.StartNS, p.args.EndNS = 0, 0, 0
		return Effect{Refresh: true}, true
	case "cell":
		p.args.Cell, p.args.StartNS, p.args.EndNS = -1, 0, 0
		if s := p.chosen(); s != nil && s.At.Cell > 0 {
			p.args.Cell = s.At.Cell
		}
		return Effect{Refresh: true}, true
	case "find", "next", "previous":
		if name == "find" {
			p.search = arg
		}
		if p.search == "" {
			return Effect{}, true
		}
		p.args.Find, p.args.After, p.args.Back = p.search, p.seq, name == "previous"
		p.found = true
		return Effect{Refresh: true}, true
	case "choose":
		if s := p.chosen(); s != nil {
			return Effect{Selection: &Selection{Op: s.Op, Group: s.Group, Value: s.Value, Cell: s.At.Cell, Line: s.At.Line}}, true
		}
		return Effect{}, true
	case "mark":
		if arg == "" {
			return Effect{}, true
		}
		return Effect{Command: ":trace mark " + arg, Refresh: true}, true
	case "export":
		return Effect{Command: ":export " + arg}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Trace) Actions() []Action {
	return []Action{
		{Name: "left"},
		{Name: "right"},
		{Name: "up"},
		{Name: "down"},
		{Name: "zoom-in"},
		{Name: "zoom-out"},
		{Name: "pan-left"},
		{Name: "pan-right"},
		{Name: "all"},
		{Name: "cell"},
		{Name: "find", Arg: "an op, gN, #N or In[N]"},
		{Name: "next"},
		{Name: "previous"},
		{Name: "choose"},
		{Name: "mark", Arg: "a name"},
		{Name: "export", Arg: "a format and a file"},
	}
}

// Select implements Panel: the next snapshot is searched for it.
func (p *Trace) Select(s Selection) {
	p.args.Op, p.args.Value, p.args.Group, p.args.At = 0, 0, 0, inspect.At{}
	switch {
	case s.Group != 0:
		p.args.Group = s.Group
	case s.Op != 0:
		p.args.Op = s.Op
	case s.Value != 0:
		p.args.Value = s.Value
	case s.Line != 0:
		p.args.At = inspect.At{Cell: s.Cell, Line: s.Line}
	case s.Cell != 0:
		p.args.Cell, p.args.StartNS, p.args.EndNS = s.Cell, 0, 0
		return
	default:
		return
	}
	p.found = true
}
