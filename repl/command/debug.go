package command

import (
	"fmt"
	"go/ast"
	"go/parser"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/interp"
)

// stopExample is a cell that a breakpoint stops, for the examples.
const stopExample = "func double(n int) int { m := n * 2; return m }\n:break double\ndouble(21)\n"

func debugCommands() []Command {
	return []Command{
		{
			Name: "break", Replay: true, Aliases: []string{"b"}, Group: Debug, Args: "[PLACE|EVENT] [if COND] [hit [OP] N]",
			Doc: "sets a breakpoint: at a line, a function, an operation, nan, inf, mem, cut, error or change", Help: breakHelp,
			Example: "x := 1\n:break 2:1 if x > 0\n:breaks", Run: func(c *Call) (Answer, error) { return setBreak(c, false) },
			Complete: words("op", "nan", "inf", "mem", "cut", "error", "change"),
		},
		{
			Name: "tbreak", Replay: true, Aliases: []string{"tb"}, Group: Debug, Args: "PLACE|EVENT [if COND]", Doc: "sets a breakpoint that stops once",
			Example: ":tbreak op matmul\n:breaks", Run: func(c *Call) (Answer, error) { return setBreak(c, true) },
		},
		{
			Name: "breaks", Aliases: []string{"bp", "breakpoints"}, Group: Debug, Doc: "lists the breakpoints with their hits",
			Example: ":break 1:1\n:breaks", Run: func(c *Call) (Answer, error) { return listBreaks(c.Session) },
		},
		{
			Name: "clear", Replay: true, Group: Debug, Args: "N|all", Doc: "takes a breakpoint out", Example: ":break 1:1\n:clear 1", Run: clearBreak,
		},
		{
			Name: "toggle", Replay: true, Group: Debug, Args: "N", Doc: "switches a breakpoint off or on again", Example: ":break 1:1\n:toggle 1", Run: toggleBreak,
		},
		{
			Name: "cond", Replay: true, Aliases: []string{"condition"}, Group: Debug, Args: "N [COND] [hit [OP] N]", Doc: "gives a breakpoint another condition or hit count",
			Help: "COND is Go of type bool. It is type-checked where the breakpoint is, and compiled once. :cond -hitcount N > 3 is the same as :cond N hit > 3.", Example: ":break 1:1\n:cond 1 hit > 3",
			Run: condBreak,
		},
		{
			Name: "on", Replay: true, Group: Debug, Args: "N [COMMAND|clear]", Doc: "adds a command that runs when a breakpoint stops",
			Help:    "The commands run in order. One of them that resumes the cell (:continue, :next …) ends the list: a list that ends in continue never waits for you. The colon may be left out.",
			Example: ":break 1:1\n:on 1 print 1 + 1\n:on 1 continue", Run: onBreak,
		},
		{Name: "continue", Aliases: []string{"c"}, Group: Debug, Doc: "lets the stopped cell run on", Example: stopExample + ":continue", Resumes: true, Run: resume(debug.Continue)},
		{Name: "next", Aliases: []string{"n"}, Group: Debug, Doc: "runs to the next statement of the function, over calls", Example: stopExample + ":next", Resumes: true, Run: resume(debug.StepNext)},
		{Name: "step", Aliases: []string{"s"}, Group: Debug, Doc: "runs to the next statement, into calls", Example: stopExample + ":step", Resumes: true, Run: resume(debug.StepIn)},
		{Name: "out", Aliases: []string{"so", "stepout"}, Group: Debug, Doc: "runs out of the function and shows what it returned", Example: stopExample + ":out", Resumes: true, Run: resume(debug.StepOut)},
		{Name: "until", Aliases: []string{"u"}, Group: Debug, Args: "[LINE]", Doc: "runs to a line of the function, or out of it", Example: stopExample + ":until 2", Resumes: true, Run: resume(debug.Until)},
		{Name: "op", Group: Debug, Doc: "runs to the next operation", Example: "x := tpu.Ones(2)\n:break 2:1\ny := x.Add(1)\n:op", Resumes: true, Run: resume(debug.StepOp)},
		{
			Name: "pause", Group: Debug, Doc: "stops the running cell at its next statement", Help: "From another terminal or a screen: a cell that runs takes no typed commands.", Example: ":pause",
			Run: func(c *Call) (Answer, error) {
				if c.Session.Debugger().Pause() {
					return text("the cell stops at its next statement")
				}
				return text("nothing runs")
			},
		},
		{Name: "list", Aliases: []string{"ls"}, Group: Debug, Doc: "shows where and why the cell is stopped", Example: stopExample + ":list", Run: listStop},
		{Name: "stack", Aliases: []string{"bt", "where"}, Group: Debug, Doc: "lists the frames of the stopped goroutine", Example: stopExample + ":stack", Run: showStack},
		{Name: "up", Group: Debug, Args: "[N]", Doc: "looks at the caller's frame", Example: stopExample + ":up", Run: move(1)},
		{Name: "down", Group: Debug, Args: "[N]", Doc: "looks at the called frame", Example: stopExample + ":up\n:down", Run: move(-1)},
		{Name: "frame", Group: Debug, Args: "N", Doc: "looks at a frame of the stack, 0 is innermost", Example: stopExample + ":frame 1", Run: selectFrame},
		{Name: "locals", Group: Debug, Doc: "lists the variables of the frame", Help: "At the level of a cell these are the session's.", Example: stopExample + ":locals", Run: showLocals},
		{Name: "args", Group: Debug, Doc: "lists the parameters of the frame's function", Example: stopExample + ":args", Run: showArgs},
		{
			Name: "print", Aliases: []string{"p"}, Group: Debug, Args: "EXPR, …", Doc: "evaluates Go in the frame",
			Help:    "Calls of functions and methods run, with their side effects; breakpoints in them are passed by. Without a stop it is evaluated in the session.",
			Example: stopExample + ":print n * 2", Run: printHere, Complete: names,
		},
		{Name: "whatis", Group: Debug, Args: "EXPR", Doc: "gives the type of an expression in the frame", Example: stopExample + ":whatis n", Run: whatis, Complete: names},
		{
			Name: "set-var", Group: Debug, Args: "NAME = EXPR", Doc: "changes a variable of the frame", Help: "Any place that Go can assign to: x, x.field, xs[2].",
			Example: stopExample + ":set-var n = 4", Run: setVar, Complete: names,
		},
		{Name: "goroutines", Aliases: []string{"grs"}, Group: Debug, Doc: "lists the goroutines that run cells", Example: stopExample + ":goroutines", Run: showGoroutines},
		{Name: "goroutine", Aliases: []string{"gr"}, Group: Debug, Args: "N", Doc: "looks at another goroutine", Help: "Steps stay on the one that is stopped.", Example: stopExample + ":goroutines\n:goroutine $STOPPED", Run: selectGoroutine},
		{
			Name: "watch", Replay: true, Aliases: []string{"display"}, Group: Debug, Args: "[EXPR]", Doc: "shows an expression at each stop and after each cell",
			Example: "x := 3\n:watch x * 2", Run: watch, Complete: names,
		},
		{Name: "unwatch", Replay: true, Group: Debug, Args: "N", Doc: "takes a watch out", Example: ":watch 1 + 1\n:unwatch 1", Run: unwatch},
		{
			Name: "debug", Group: Debug, Doc: "looks at the last error: frames and variables as they were",
			Help:    "Until the next cell runs, :stack, :up, :down, :frame, :locals and :print show the frames of the failure. They can be read, not changed.",
			Example: "func third(xs []int) int { i := 2; return xs[i] }\nthird([]int{1, 2})\n:debug", Fails: true, Run: postMortem,
		},
	}
}

const breakHelp = `PLACE is CELL:LINE (also of a cell that has not run), FILE:LINE of a .tpu file, LINE of the stopped cell, or a function: train, Model.Step.
EVENT is op NAME [PREDICATE], nan [in VAR], inf [in VAR], mem > 14GiB, cut [REASON], error [KIND] or change VAR.
A predicate asks for shape, dtype, rank, numel or bytes of any operand or of the result: op gather shape[0] > 4096, op add dtype == bf16; self.shape and out.dtype name one.
COND is Go in the scope of the place. hit > 3 stops from the fourth hit on; OP is > >= == < <= != or %.
Without arguments the breakpoints are listed.`

// breaker runs f with the debugger.
func breaker(c *Call) *debug.Debugger { return c.Session.Debugger() }

func setBreak(c *Call, once bool) (Answer, error) {
	if c.Rest == "" {
		return listBreaks(c.Session)
	}
	spec := c.Rest
	if word, rest, _ := strings.Cut(spec, " "); isNumber(word) { // a line of the stopped cell
		f, ok := stoppedPlace(c.Session)
		if !ok {
			return Answer{}, &UsageError{"break", "CELL:LINE", "no cell is stopped: name the cell, as in 3:" + word}
		}
		spec = fmt.Sprintf("%d:%s %s", f, word, rest)
	}
	b, err := debug.Parse(spec)
	if err != nil {
		return Answer{}, err
	}
	b.Once = once
	set, err := breaker(c).Set(b)
	if err != nil {
		return Answer{}, err
	}
	return text("%s", breakLine(c.Session, set))
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// stoppedPlace gives the cell that the stopped statement stands in.
func stoppedPlace(s *repl.Session) (cell int, ok bool) {
	st := s.Debugger().Stopped()
	if st == nil {
		return 0, false
	}
	return st.Place.Cell, true
}

// breakLine is one row of the table of breakpoints.
func breakLine(s *repl.Session, b *debug.Breakpoint) string {
	mark := "x"
	if b.Disabled {
		mark = " "
	}
	line := fmt.Sprintf("%d [%s] %s", b.ID, mark, b)
	if b.Once {
		line += "  once"
	}
	switch {
	case b.Kind != debug.Line:
	case b.Resolved == 0:
		line += "  pending"
	case b.File == "" && b.Resolved != b.Line:
		line += fmt.Sprintf("  at line %d", b.Resolved)
	}
	line += fmt.Sprintf("  hits %d", b.Hits)
	for _, x := range b.Commands {
		line += "\n      " + x
	}
	return line
}

func listBreaks(s *repl.Session) (Answer, error) {
	var lines []string
	for _, b := range s.Debugger().Breakpoints() {
		lines = append(lines, breakLine(s, b))
	}
	if len(lines) == 0 {
		return text("no breakpoints, :break sets one")
	}
	return Answer{Text: strings.Join(lines, "\n")}, nil
}

// numbered reads the number at the head of a command's argument.
func numbered(c *Call, name, args string) (n int, rest string, err error) {
	word, rest, _ := strings.Cut(c.Rest, " ")
	if n, err = strconv.Atoi(word); err != nil {
		return 0, "", &UsageError{name, args, "the number is missing"}
	}
	return n, strings.TrimSpace(rest), nil
}

func clearBreak(c *Call) (Answer, error) {
	if c.Rest == "all" {
		return text("%s cleared", countOf(breaker(c).ClearAll(), "breakpoint"))
	}
	n, _, err := numbered(c, "clear", "N|all")
	if err != nil {
		return Answer{}, err
	}
	b := breaker(c).Breakpoint(n)
	if err := breaker(c).Clear(n); err != nil {
		return Answer{}, err
	}
	return text("breakpoint %d cleared: %s", n, b)
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func changeBreak(c *Call, n int, f func(*debug.Breakpoint)) (Answer, error) {
	if err := breaker(c).Change(n, f); err != nil {
		return Answer{}, err
	}
	return text("%s", breakLine(c.Session, breaker(c).Breakpoint(n)))
}

func toggleBreak(c *Call) (Answer, error) {
	n, _, err := numbered(c, "toggle", "N")
	if err != nil {
		return Answer{}, err
	}
	return changeBreak(c, n, func(b *debug.Breakpoint) { b.Disabled = !b.Disabled })
}

func condBreak(c *Call) (Answer, error) {
	const args = "N [COND] [hit [OP] N]"
	if rest, ok := strings.CutPrefix(c.Rest, "-hitcount "); ok {
		n, rule, _ := strings.Cut(strings.TrimSpace(rest), " ")
		c.Rest = n + " hit " + rule
	}
	n, rest, err := numbered(c, "cond", args)
	if err != nil {
		return Answer{}, err
	}
	cond := debug.Breakpoint{}
	if rest != "" {
		text := "f if " + rest
		if strings.HasPrefix(rest, "hit ") {
			text = "f " + rest
		}
		if cond, err = debug.Parse(text); err != nil {
			return Answer{}, &UsageError{"cond", args, err.Error()}
		}
	}
	return changeBreak(c, n, func(b *debug.Breakpoint) {
		switch {
		case rest == "":
			b.Cond, b.Hit = "", debug.HitRule{}
		case cond.Cond != "":
			b.Cond = cond.Cond
		}
		if cond.Hit.Op != "" {
			b.Hit = cond.Hit
		}
	})
}

func onBreak(c *Call) (Answer, error) {
	n, rest, err := numbered(c, "on", "N [COMMAND|clear]")
	if err != nil {
		return Answer{}, err
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(rest, ":"), " ")
	if rest != "" && rest != "clear" {
		if _, err := Lookup(name); err != nil {
			return Answer{}, err
		}
	}
	return changeBreak(c, n, func(b *debug.Breakpoint) {
		switch rest {
		case "":
		case "clear":
			b.Commands = nil
		default:
			if line := ":" + strings.TrimPrefix(rest, ":"); !slices.Contains(b.Commands, line) {
				b.Commands = append(b.Commands, line)
			}
		}
	})
}

// resume makes a command that lets the stopped cell go on.
func resume(a debug.Action) func(*Call) (Answer, error) {
	return func(c *Call) (Answer, error) {
		r := debug.Resume{Action: a}
		if a == debug.Until && c.Rest != "" {
			n, err := strconv.Atoi(c.Rest)
			if err != nil {
				return Answer{}, &UsageError{"until", "[LINE]", "the line is a number"}
			}
			r.Line = n
		}
		return Answer{}, breaker(c).Resume(r)
	}
}

func listStop(c *Call) (Answer, error) {
	st := breaker(c).Stopped()
	if st == nil {
		if p := breaker(c).Looking(); p != nil {
			return showFailure(c.Session, p)
		}
		return Answer{}, &debug.NotStoppedError{}
	}
	return Answer{Text: strings.Join(c.Session.StopText(st), "\n")}, nil
}

func showStack(c *Call) (Answer, error) {
	frames, err := breaker(c).Frames()
	if err != nil {
		return Answer{}, err
	}
	return Answer{Text: stackText(c.Session, frames)}, nil
}

// shownFrames are listed of a stack; of a deeper one the outermost too.
const shownFrames = 50

func stackText(s *repl.Session, frames []debug.Frame) string {
	at := s.Debugger().Selected()
	var lines []string
	for i, f := range frames {
		if i >= shownFrames && i < len(frames)-1 && i != at {
			if i == shownFrames {
				lines = append(lines, fmt.Sprintf("   … %d more", len(frames)-1-shownFrames))
			}
			continue
		}
		mark := "  "
		if i == at {
			mark = "=>"
		}
		lines = append(lines, fmt.Sprintf("%s %d %s  %s", mark, i, f.Place.Place(), f.Place.Func))
	}
	return strings.Join(lines, "\n")
}

// frameText shows the selected frame.
func frameText(s *repl.Session) (Answer, error) {
	frames, err := s.Debugger().Frames()
	if err != nil {
		return Answer{}, err
	}
	i := s.Debugger().Selected()
	if i >= len(frames) {
		return text("no frames")
	}
	f := frames[i]
	return Answer{Text: strings.Join(append([]string{fmt.Sprintf("frame %d  %s  %s", i, f.Place.Place(), f.Place.Func)}, s.Around(f.Place, 1)...), "\n")}, nil
}

func move(step int) func(*Call) (Answer, error) {
	return func(c *Call) (Answer, error) {
		n := 1
		if c.Rest != "" {
			var err error
			if n, err = strconv.Atoi(c.Rest); err != nil || n < 1 {
				return Answer{}, &UsageError{map[int]string{1: "up", -1: "down"}[step], "[N]", "N is a number of frames"}
			}
		}
		if err := breaker(c).SelectFrame(breaker(c).Selected() + n*step); err != nil {
			return Answer{}, err
		}
		return frameText(c.Session)
	}
}

func selectFrame(c *Call) (Answer, error) {
	if c.Rest == "" {
		return frameText(c.Session)
	}
	n, _, err := numbered(c, "frame", "N")
	if err != nil {
		return Answer{}, err
	}
	if err := breaker(c).SelectFrame(n); err != nil {
		return Answer{}, err
	}
	return frameText(c.Session)
}

// frame gives the selected frame.
func frame(c *Call) (debug.Frame, error) {
	frames, err := breaker(c).Frames()
	if err != nil {
		return debug.Frame{}, err
	}
	if i := breaker(c).Selected(); i < len(frames) {
		return frames[i], nil
	}
	return debug.Frame{}, &debug.NoFrameError{}
}

func showLocals(c *Call) (Answer, error) {
	f, err := frame(c)
	if err != nil {
		return Answer{}, err
	}
	lines := localLines(c.Session, f.Locals)
	if f.Place.Func == "(cell)" {
		for _, v := range breaker(c).SessionVars() {
			lines = append(lines, fmt.Sprintf("%s = %s", v.Name, shownText(c.Session, interp.Shown{Value: v.Value, Type: v.Type, Name: v.Name})))
		}
	}
	if len(lines) == 0 {
		return text("no variables")
	}
	return Answer{Text: strings.Join(lines, "\n")}, nil
}

func localLines(s *repl.Session, locals []interp.Local) (lines []string) {
	for _, l := range locals {
		if !l.Ptr.IsValid() {
			lines = append(lines, l.Name+" is not known here")
			continue
		}
		lines = append(lines, fmt.Sprintf("%s = %s", l.Name, shownText(s, interp.Shown{Value: l.Value(), Type: s.Interp().TypeText(l.Type)})))
	}
	return lines
}

// shownText is a value and its type in one line.
func shownText(s *repl.Session, v interp.Shown) string {
	if text, ok := replayedText(s, v); ok {
		if len(text) <= width && !strings.Contains(text, "\n") {
			return text
		}
		return s.Brief(v)
	}
	if text := s.FormatAll([]interp.Shown{v}); len(text) <= width && !strings.Contains(text, "\n") {
		return text
	}
	return s.Brief(v) + "  " + v.Type
}

func showArgs(c *Call) (Answer, error) {
	f, err := frame(c)
	if err != nil {
		return Answer{}, err
	}
	lines := localLines(c.Session, f.Args())
	if len(lines) == 0 {
		return text("%s has no parameters", f.Place.Func)
	}
	return Answer{Text: strings.Join(lines, "\n")}, nil
}

func printExpr(c *Call) (Answer, error) {
	if c.Rest == "" {
		return Answer{}, &UsageError{"print", "EXPR", "the expression is missing"}
	}
	var all []interp.Shown
	for _, x := range expressions(c.Rest) {
		values, err := breaker(c).Eval(-1, x)
		if err != nil {
			return Answer{}, err
		}
		all = append(all, values...)
	}
	parts := make([]string, len(all))
	replayed := false
	for i, v := range all {
		text, ok := replayedText(c.Session, v)
		if !ok {
			text = c.Session.FormatAll([]interp.Shown{v})
		}
		parts[i], replayed = text, replayed || ok
	}
	if replayed {
		return Answer{Text: strings.Join(parts, ", ")}, nil
	}
	return Answer{Text: c.Session.FormatAll(all)}, nil
}

// expressions cuts a list of expressions at its commas.
func expressions(text string) []string {
	const open = "f("
	e, err := parser.ParseExpr(open + text + ")")
	call, ok := e.(*ast.CallExpr)
	if err != nil || !ok || len(call.Args) < 2 {
		return []string{text}
	}
	var list []string
	for _, a := range call.Args {
		list = append(list, text[int(a.Pos())-1-len(open):int(a.End())-1-len(open)])
	}
	return list
}

func whatis(c *Call) (Answer, error) {
	if c.Rest == "" {
		return Answer{}, &UsageError{"whatis", "EXPR", "the expression is missing"}
	}
	types, err := breaker(c).TypeOf(-1, c.Rest)
	if err != nil {
		return Answer{}, err
	}
	return text("%s", strings.Join(types, ", "))
}

func setVar(c *Call) (Answer, error) {
	name, value, ok := strings.Cut(c.Rest, "=")
	if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !ok || name == "" || value == "" {
		return Answer{}, &UsageError{"set-var", "NAME = EXPR", "an assignment is wanted"}
	}
	if p := breaker(c).Looking(); p != nil && breaker(c).Stopped() == nil {
		return Answer{}, &UsageError{"set-var", "NAME = EXPR", "what is left of a failure can be read, not changed"}
	}
	if _, err := breaker(c).Eval(-1, name+" = "+value); err != nil {
		return Answer{}, err
	}
	_ = breaker(c).Refresh()
	values, err := breaker(c).Eval(-1, name)
	if err != nil {
		return Answer{}, err
	}
	return text("%s = %s", name, c.Session.FormatAll(values))
}

func showGoroutines(c *Call) (Answer, error) {
	list, err := breaker(c).Threads()
	if err != nil {
		return Answer{}, err
	}
	var lines []string
	for _, t := range list {
		mark := "  "
		if t.Selected {
			mark = "=>"
		}
		line := fmt.Sprintf("%s %d", mark, t.ID)
		if len(t.Frames) > 0 {
			f := t.Frames[0].Place
			line += fmt.Sprintf("  %s  %s", f.Place(), f.Func)
		}
		if t.Stopped {
			line += "  stopped"
		}
		if t.Wait != "" {
			line += "  waits for " + t.Wait
		}
		lines = append(lines, line)
	}
	return Answer{Text: strings.Join(lines, "\n")}, nil
}

func selectGoroutine(c *Call) (Answer, error) {
	n, _, err := numbered(c, "goroutine", "N")
	if err != nil {
		return Answer{}, err
	}
	if err := breaker(c).SelectThread(n); err != nil {
		return Answer{}, err
	}
	return showStack(c)
}

func watch(c *Call) (Answer, error) {
	if c.Rest != "" {
		if _, err := breaker(c).Watch(c.Rest); err != nil {
			return Answer{}, err
		}
	}
	lines := c.Session.WatchText()
	if len(lines) == 0 {
		return text("nothing is watched")
	}
	return Answer{Text: strings.Join(lines, "\n")}, nil
}

func unwatch(c *Call) (Answer, error) {
	n, _, err := numbered(c, "unwatch", "N")
	if err != nil {
		return Answer{}, err
	}
	if err := breaker(c).Unwatch(n); err != nil {
		return Answer{}, err
	}
	return text("watch %d is gone", n)
}

func postMortem(c *Call) (Answer, error) {
	p, err := breaker(c).OpenPostMortem()
	if err != nil {
		return Answer{}, err
	}
	return showFailure(c.Session, p)
}

func showFailure(s *repl.Session, p *debug.PostMortem) (Answer, error) {
	lines := []string{"post-mortem: " + p.Err.Error()}
	if len(p.Frames) > 0 {
		lines = append(lines, s.Around(p.Frames[s.Debugger().Selected()].Place, 1)...)
		lines = append(lines, strings.Split(stackText(s, p.Frames), "\n")...)
	}
	return Answer{Text: strings.Join(lines, "\n")}, nil
}
