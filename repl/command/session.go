package command

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/device/pjrt/plugin"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/viz"
)

func sessionCommands() []Command {
	return []Command{
		{
			Name: "help", Aliases: []string{"h"}, Group: Session, Args: "[COMMAND|OP|NAME]",
			Doc:     "lists the commands, or explains a command, an operation or a variable",
			Help:    "?x is the same as :help x. An operation is named as in PyTorch (index_select) or as its method (IndexSelect).",
			Example: ":help mode", Run: help,
			Complete: func(s *repl.Session, p string) []string {
				list := names(s, p)
				for _, c := range All() {
					list = append(list, c.Name)
				}
				for _, t := range op.All() {
					for i := range t {
						list = append(list, string(t[i].Name))
					}
				}
				return list
			},
		},
		{
			Name: "set", Replay: true, Group: Session, Args: "[KEY VALUE]", Doc: "lists the settings or changes one",
			Example: ":set checks on", Run: set,
			Complete: func(_ *repl.Session, _ string) []string {
				var list []string
				for _, x := range repl.SettingTable() {
					list = append(append(list, x.Name), x.Values...)
				}
				return list
			},
		},
		{
			Name: "show", Group: Session, Doc: "shows the session at a glance: mode, chip, HBM, cells, launches, cache",
			Example: ":show", Run: show,
		},
		{
			Name: "history", Group: Session, Args: "[N]", Doc: "lists the cells that ran, the last N of them",
			Example: "x := 1\n:history", Run: history,
		},
		{
			Name: "packages", Group: Session, Doc: "lists the packages that cells may use",
			Example: ":packages", Run: packages,
		},
		{
			Name: "reset", Idle: true, Replay: true, Group: Session, Doc: "forgets every name and frees what they held",
			Example: "x := tpu.Ones(2)\n:reset", Run: reset,
		},
		{
			Name: "restart", Group: Session, Doc: "replaces the kernel process by a new one",
			Help: "Use it when a cell hangs in a place that cannot be interrupted. Names are lost; :history of the old kernel too. :replay brings them back.",
			Run:  func(*Call) (Answer, error) { return Answer{Text: "restarting the kernel", Restart: true}, nil }, Example: ":restart",
		},
		{
			Name: "replay", Group: Session, Doc: "runs the cells of the kernel before again, after it died or was restarted",
			Help: "The cells keep their numbers. What they print is not shown again, and they read no input. A cell that was interrupted takes only its number.",
			Run:  func(*Call) (Answer, error) { return Answer{Replay: true}, nil }, Example: ":replay",
		},
		{
			Name: "doctor", Group: Session, Doc: "says what this installation is and what it runs on",
			Example: ":doctor", Run: doctor,
		},
		{
			Name: "quit", Aliases: []string{"q", "exit"}, Group: Session, Doc: "ends the session",
			Example: ":quit", Run: func(*Call) (Answer, error) { return Answer{Quit: true}, nil },
		},
	}
}

func help(c *Call) (Answer, error) {
	if c.Rest == "" {
		var b strings.Builder
		for _, g := range Groups() {
			fmt.Fprintf(&b, "%s\n", g)
			tb := viz.Table{Columns: []viz.Column{{}, {}, {}}}
			for _, x := range All() {
				if x.Group == g {
					doc, _, _ := strings.Cut(x.Doc, ":") // what follows a colon is for :help NAME
					tb.Rows = append(tb.Rows, []string{"  :" + x.Name, x.Args, doc})
				}
			}
			b.WriteString(picture(c.Session, 132, tb) + "\n")
		}
		b.WriteString("?x explains x. A cell is Go; tpu, nn, optim and data are there without import. :help mode, ?matmul\n")
		return Answer{Text: b.String()}, nil
	}
	name := strings.TrimPrefix(c.Rest, ":")
	if x, err := Lookup(name); err == nil && (x.Name == name || strings.HasPrefix(c.Rest, ":")) {
		return Answer{Text: x.Manual()}, nil
	}
	if d := op.Find(name); d != nil {
		return Answer{Text: opManual(d)}, nil
	}
	if v := findVariable(c.Session, name); v != nil {
		return inspectValue(c.Session, *v)
	}
	if t, err := c.Session.Interp().TypeOf(c.Rest); err == nil {
		return text("%s  %s", c.Rest, t)
	}
	if list := members(c.Session, name); len(list) > 0 {
		return Answer{Text: packageManual(c.Session, name, list)}, nil
	}
	if x, err := Lookup(name); err == nil {
		return Answer{Text: x.Manual()}, nil
	}
	why := fmt.Sprintf("nothing is called %q", c.Rest)
	if near := inPackages(c.Session, name); near != "" {
		why += ", did you mean " + near + "?"
	}
	return Answer{}, &UsageError{"help", "[COMMAND|OP|NAME]", why}
}

// Manual is the page of a command.
func (x *Command) Manual() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n", strings.TrimSpace(":"+x.Name+" "+x.Args), x.Doc)
	if len(x.Aliases) > 0 {
		fmt.Fprintf(&b, "  also :%s\n", strings.Join(x.Aliases, " :"))
	}
	if x.Help != "" {
		for _, l := range strings.Split(x.Help, "\n") {
			fmt.Fprintf(&b, "  %s\n", l)
		}
	}
	fmt.Fprintf(&b, "  example\n    %s\n", strings.ReplaceAll(x.Example, "\n", "\n    "))
	return b.String()
}

func opManual(d *op.Def) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  (PyTorch %s)\n  %s\n", d.Name, d.Torch, d.Doc)
	var ps []string
	for _, p := range d.Params {
		s := p.Name
		if p.Default != nil {
			s += fmt.Sprintf("=%v", p.Default)
		}
		ps = append(ps, s)
	}
	fmt.Fprintf(&b, "  parameters  %s\n", strings.Join(ps, ", "))
	if len(d.Results) > 0 {
		fmt.Fprintf(&b, "  results     %s\n", strings.Join(d.Results, ", "))
	}
	switch {
	case d.NoGrad != "":
		fmt.Fprintf(&b, "  gradient    none: %s\n", d.NoGrad)
	default:
		b.WriteString("  gradient    yes\n")
	}
	if d.Indices != nil {
		b.WriteString("  bounds      index values are checked in debug mode\n")
	}
	fmt.Fprintf(&b, "  example     %s\n", d.Example)
	return b.String()
}

func set(c *Call) (Answer, error) {
	if len(c.Args) == 0 {
		tb := viz.Table{Columns: []viz.Column{{Title: "setting"}, {Title: "value"}, {Title: "meaning"}}}
		for _, x := range repl.SettingTable() {
			doc := x.Doc
			if x.Values != nil {
				doc += " (" + strings.Join(x.Values, ", ") + ")"
			}
			tb.Rows = append(tb.Rows, []string{x.Name, x.Get(c.Session), doc})
		}
		return Answer{Text: picture(c.Session, width, tb)}, nil
	}
	if len(c.Args) != 2 {
		return Answer{}, &UsageError{"set", "[KEY VALUE]", "a key and a value are wanted"}
	}
	if err := c.Session.Change(c.Args[0], c.Args[1]); err != nil {
		return Answer{}, err
	}
	return text("%s = %s", c.Args[0], c.Args[1])
}

func show(c *Call) (Answer, error) {
	s := c.Session
	d, hbm := s.Dispatcher(), s.Device().HBM()
	st, cs := d.Stats(), d.CacheStats()
	tb := viz.Table{Columns: []viz.Column{{}, {}}, Rows: [][]string{
		{"mode", d.Mode().Name + ": " + d.Mode().Doc},
		{"chip", s.Device().Chip().Name + ", simulated"},
		{"device", s.RunsOn()},
		{"HBM", fmt.Sprintf("%s used, peak %s, limit %s", viz.Bytes(hbm.Used()), viz.Bytes(hbm.Peak()), viz.Bytes(hbm.Limit()))},
		{"cells", fmt.Sprint(len(s.Cells()))},
		{"ops", fmt.Sprintf("%d in %s, %d queued, %s", st.Ops, viz.Plural(st.Launches, "launch"), d.Queued(), viz.Plural(st.GraphBreaks, "graph break"))},
		{"TPU time", viz.DurationNS(st.DeviceNS) + " (simulated)"},
		{"cache", fmt.Sprintf("%s, %s, %s", viz.Plural(cs.Requests, "request"), viz.Plural(cs.Hits, "hit"), viz.Plural(cs.Compilations, "compilation"))},
		{"events", fmt.Sprintf("%d recorded, %d dropped", s.Recorder().Last(), s.Recorder().Dropped())},
	}}
	return Answer{Text: picture(s, width, tb)}, nil
}

func history(c *Call) (Answer, error) {
	n, err := optionalCount(c, "history", "[N]", 20)
	if err != nil {
		return Answer{}, err
	}
	cells := c.Session.Cells()
	var b strings.Builder
	for _, x := range cells[max(0, len(cells)-n):] {
		shown := x.Source
		if x.Command != "" {
			shown = x.Command
		}
		lines := strings.Split(strings.TrimRight(shown, "\n"), "\n")
		mark := " "
		if x.Status != "ok" {
			mark = "!"
		}
		for i, l := range lines {
			head := fmt.Sprintf("In[%d]%s ", x.ID, mark)
			if i > 0 {
				head = strings.Repeat(" ", len(head))
			}
			b.WriteString(head + l + "\n")
		}
	}
	if b.Len() == 0 {
		return text("no cell has run yet")
	}
	return Answer{Text: b.String()}, nil
}

func optionalCount(c *Call, name, usage string, def int) (int, error) {
	if len(c.Args) == 0 {
		return def, nil
	}
	var n int
	if _, err := fmt.Sscanf(c.Args[0], "%d", &n); err != nil || n < 1 || len(c.Args) > 1 {
		return 0, &UsageError{name, usage, fmt.Sprintf("%q is no count", c.Rest)}
	}
	return n, nil
}

func packages(c *Call) (Answer, error) {
	return Answer{Text: strings.Join(c.Session.Interp().Packages(), "\n")}, nil
}

func reset(c *Call) (Answer, error) {
	n := len(c.Session.Interp().Variables())
	used := c.Session.Device().HBM().Used()
	if err := c.Session.Reset(); err != nil {
		return Answer{}, err
	}
	return text("forgot %s, freed %s of HBM", viz.Plural(n, "variable"), viz.Bytes(used-c.Session.Device().HBM().Used()))
}

func doctor(c *Call) (Answer, error) {
	version, dirty := "(devel)", ""
	if bi, ok := debug.ReadBuildInfo(); ok {
		version = bi.Main.Version
		for _, s := range bi.Settings {
			if s.Key == "vcs.revision" && len(s.Value) > 12 {
				dirty = " " + s.Value[:12]
			}
		}
	}
	chip := c.Session.Device().Chip()
	tb := viz.Table{Columns: []viz.Column{{}, {}}, Rows: [][]string{
		{"tpush", version + dirty},
		{"go", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		{"threads", fmt.Sprintf("%d of %d CPUs", runtime.GOMAXPROCS(0), runtime.NumCPU())},
		{"kernel", fmt.Sprintf("process %d", os.Getpid())},
		{"device", c.Session.RunsOn() + ", chip " + chip.Name + ": " + chip.Doc},
		{"HBM limit", viz.Bytes(c.Session.Device().HBM().Limit())},
		{"operations", fmt.Sprint(countOps())},
	}}
	for _, k := range plugin.All() {
		tb.Rows = append(tb.Rows, []string{"plug-in " + k.Name, pluginText(k)})
	}
	return Answer{Text: picture(c.Session, width, tb)}, nil
}

// pluginText says where a plug-in is, or how to get it.
func pluginText(k plugin.Known) string {
	in, err := plugin.Here(os.Getenv).Find(k.Name)
	switch {
	case err != nil:
		return err.Error()
	case in.Env != "":
		return in.Path + " (" + in.Env + ")"
	}
	return in.Version + ", " + in.Path
}

func countOps() int {
	n := 0
	for _, t := range op.All() {
		n += len(t)
	}
	return n
}
