package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/viz"
)

func insideCommand() Command {
	return Command{
		Name: "inside", Group: Look, Args: "[gN|#OP]",
		Doc:     "computes a fused or compiled region again op by op, with the same bits: shows what stayed on chip",
		Help:    "gN replays a launch, #OP the region of an operation up to it with all its numbers; without an argument the last launch, or the queue when something is queued. Nothing is launched and nothing changes.",
		Example: ":mode fuse\nx := tpu.Ones(2)\ny := x.Add(1).Mul(3).Exp()\n:inside", Run: inside,
	}
}

func inside(c *Call) (Answer, error) {
	d := c.Session.Dispatcher()
	if opn, ok := opNumber(c.Rest); ok {
		r, err := inspect.ReplayOf(d, opn)
		if err != nil {
			return Answer{}, err
		}
		step, err := r.To(opn)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Text: replayed(c, r, step)}, nil
	}
	var r *inspect.Replay
	var err error
	if queued := d.QueuedOps(); c.Rest == "" && len(queued) > 0 {
		r, err = inspect.ReplayOf(d, queued[0])
	} else {
		number, nerr := launchNumber(c)
		if nerr != nil {
			return Answer{}, nerr
		}
		r, err = inspect.ReplayGroup(d, number)
	}
	if err != nil {
		return Answer{}, err
	}
	tb := viz.Table{Columns: []viz.Column{{Title: "step", Right: true}, {Title: "op", Right: true}, {Title: "what"}, {Title: "result"}, {Title: "numbers"}, {Title: "line"}, {Title: "source"}}}
	for r.Left() > 0 {
		s, err := r.Step()
		if err != nil {
			return Answer{}, err
		}
		f := s.Record.Stack.Top()
		for i, a := range s.Out {
			tb.Rows = append(tb.Rows, []string{
				fmt.Sprint(s.Index + 1), fmt.Sprintf("#%d", s.Record.OpN), string(s.Record.Def.Name), s.Record.Out[i].Spec.String(),
				arrayNumbers(a, inspect.Live, nil), placeOf(f), firstLine(sourceLine(c.Session, f), 40),
			})
		}
	}
	return Answer{Text: r.Where() + "\n" + picture(c.Session, 160, tb)}, nil
}

// launchNumber reads gN; without an argument it is the last launch.
func launchNumber(c *Call) (int64, error) {
	if c.Rest == "" {
		n := c.Session.Dispatcher().Stats().Launches
		if n == 0 {
			return 0, &UsageError{"inside", "[gN|#OP]", "nothing was launched yet"}
		}
		return n, nil
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(c.Rest, "g"), 10, 64)
	if err != nil || !strings.HasPrefix(c.Rest, "g") {
		return 0, &UsageError{"inside", "[gN|#OP]", fmt.Sprintf("%q is no group", c.Rest)}
	}
	return n, nil
}

// replayed shows the step that a replay came to.
func replayed(c *Call, r *inspect.Replay, s *inspect.Step) string {
	var b strings.Builder
	f := s.Record.Stack.Top()
	fmt.Fprintf(&b, "%s: #%d %s   %s  %s\n", r.Where(), s.Record.OpN, s.Record.Def.Name, placeOf(f), firstLine(sourceLine(c.Session, f), 60))
	bound := c.Session.Dispatcher().NamesAt(s.Record.OpN)
	params := s.Record.Def.Inputs()
	for i, a := range s.In {
		if !a.Valid() {
			continue
		}
		name := params[min(i, len(params)-1)].Name
		if v := nameOf(bound, s.Record.In[i].ID); v != "" {
			name += " " + v
		}
		fmt.Fprintf(&b, "  %s  %v  %s\n", name, a.Spec(), arrayNumbers(a, inspect.Live, nil))
	}
	for i, a := range s.Out {
		fmt.Fprintf(&b, "  result  %v  %v\n%s\n", s.Record.Out[i].Spec, inspect.StatsOf(a), tpu.FormatArray(a))
	}
	return b.String()
}
