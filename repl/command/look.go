package command

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/viz"
)

func lookCommands() []Command {
	return []Command{
		{
			Name: "hbm", Group: Look, Args: "[map|top N]",
			Doc:     "shows HBM: used, peak, limit, padding, largest free block, the largest owners by source line, what freeing names would give, and a map",
			Example: "x := tpu.Ones(512, 512)\n:hbm", Run: hbm, Complete: words("map", "top"),
		},
		{
			Name: "fusion", Aliases: []string{"fu"}, Group: Look, Args: "[gN|last|N]",
			Doc:     "lists the fusion groups: operations, source lines, why each was cut, HBM traffic saved; gN shows one with its kernels",
			Example: "x := tpu.Ones(8)\ny := x.Add(1).Mul(2)\n:fusion", Run: fusion,
		},
		{
			Name: "graph", Group: Look, Args: "[gN|last] [--text]",
			Doc:     "draws the program of a group as a graph: operations in layers; without a group what waits, else what ran last; --text prints it in SSA form",
			Example: "x := tpu.Ones(2)\ny := x.Add(1)\n:graph", Run: graphCommand, Complete: words("--text", "last"),
		},
		{
			Name: "roofline", Group: Look, Args: "[N]",
			Doc:     "draws the kernels under the ceilings of the chip: FLOP/s against FLOPs for each byte of HBM traffic; lists the N that took most time",
			Example: "x := tpu.Ones(256, 256)\ny := x.MatMul(x).Tanh()\n:roofline", Run: roofline,
		},
		{
			Name: "events", Group: Look, Args: "[N] [FILTER]",
			Doc:     "lists the last N events of the recording: FILTER is part of a kind or a name, gN, #N or In[N]",
			Example: "x := tpu.Ones(2)\n:events 5 launch", Run: events,
		},
		{
			Name: "cache", Group: Look, Args: "[N]",
			Doc:     "shows the compilation cache: requests, hits, the last N programs and why each was compiled",
			Example: "x := tpu.Ones(2)\ny := tpu.Ones(3)\n:cache", Run: cache,
		},
	}
}

func hbm(c *Call) (Answer, error) {
	const usage = "[map|top N]"
	form, n := "", 10
	if len(c.Args) > 0 {
		form = c.Args[0]
	}
	switch {
	case form != "" && form != "map" && form != "top":
		return Answer{}, &UsageError{"hbm", usage, fmt.Sprintf("no form %q", form)}
	case form == "top" && len(c.Args) > 1:
		if _, err := fmt.Sscanf(c.Args[1], "%d", &n); err != nil || n < 1 {
			return Answer{}, &UsageError{"hbm", usage, fmt.Sprintf("%q is no count", c.Args[1])}
		}
	}
	m := view.New(c.Session).Memory()
	var b strings.Builder
	fmt.Fprintf(&b, "HBM %s  %s\n", m.Chip, picture(c.Session, 72, m.Gauge()))
	fmt.Fprintf(&b, "peak %s   limit %s   largest free block %s   padding %s   %d values live\n",
		viz.Bytes(m.PeakBytes), viz.Bytes(m.LimitBytes), viz.Bytes(m.LargestFreeBytes), viz.Bytes(m.PaddingBytes), m.Allocations)
	if form != "map" && len(m.Owners) > 0 {
		b.WriteString(picture(c.Session, width, m.Table(n)) + "\n")
		if len(m.Names) > 0 {
			b.WriteString(picture(c.Session, width, viz.Lines{Rows: m.Holders(n)}) + "\n")
		}
	}
	if form != "top" {
		b.WriteString(picture(c.Session, 84, m.Map()))
	}
	return Answer{Text: b.String()}, nil
}

func roofline(c *Call) (Answer, error) {
	n, err := optionalCount(c, "roofline", "[N]", 9)
	if err != nil {
		return Answer{}, err
	}
	r, err := view.New(c.Session).Roofline()
	if err != nil {
		return Answer{}, err
	}
	if len(r.Kernels) == 0 {
		return text("no kernel ran yet")
	}
	left := max(0, len(r.Kernels)-n)
	r.Kernels = r.Kernels[:len(r.Kernels)-left]
	answer := r.Summary() + "\n" + picture(c.Session, width, r.Drawing(-1)) + "\n" + picture(c.Session, width, r.Table())
	if left > 0 {
		answer += fmt.Sprintf("\n… and %d more kernels", left)
	}
	return Answer{Text: answer}, nil
}

func events(c *Call) (Answer, error) {
	args := inspect.EventsArgs{Last: 20}
	rest := c.Rest
	if len(c.Args) > 0 {
		var n int
		if _, err := fmt.Sscanf(c.Args[0], "%d", &n); err == nil {
			if n < 1 {
				return Answer{}, &UsageError{"events", "[N] [FILTER]", fmt.Sprintf("%q is no count", c.Args[0])}
			}
			args.Last, rest = n, strings.TrimPrefix(rest, c.Args[0])
		}
	}
	args.Filter = strings.TrimSpace(rest)
	e, err := view.New(c.Session).Events(args)
	if err != nil {
		return Answer{}, err
	}
	if len(e.Rows) == 0 {
		return text("no event matches; %s", e.Summary())
	}
	return Answer{Text: e.Summary() + "\n" + picture(c.Session, 120, e.Table())}, nil
}

func cache(c *Call) (Answer, error) {
	n, err := optionalCount(c, "cache", "[N]", 12)
	if err != nil {
		return Answer{}, err
	}
	x, err := view.New(c.Session).Cache()
	if err != nil {
		return Answer{}, err
	}
	answer := x.Rate()
	if len(x.Entries) > 0 {
		reasons := x.Reasons()
		left := len(x.Entries) + x.Left - n
		x.Entries = x.Entries[:min(n, len(x.Entries))]
		answer += "\n" + picture(c.Session, 120, x.Table())
		if left > 0 {
			answer += fmt.Sprintf("\n… and %d more programs", left)
		}
		answer += "\ncompiled because\n" + picture(c.Session, 72, reasons)
	}
	return Answer{Text: answer}, nil
}

// Views are the rows that only the table of commands can fill: what can be typed.
func Views() []view.View {
	return []view.View{{Name: "help", Doc: "the commands", Take: view.Plain(func(*view.Views) (any, error) {
		var h inspect.Help
		for _, g := range Groups() {
			for _, c := range All() {
				if c.Group == g {
					h.Rows = append(h.Rows, inspect.HelpRow{Group: string(g), Name: ":" + c.Name, Args: c.Args, Doc: c.Doc, Example: c.Example})
				}
			}
		}
		return h, nil
	})}}
}
