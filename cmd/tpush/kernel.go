package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/dap"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/runtime/stdpipe"
	"github.com/tpush/tpush/viz"
)

// kernelCommand is the child process: frames on standard input and output.
func (a *app) kernelCommand() *cobra.Command {
	k := &kernelFlags{}
	cmd := &cobra.Command{
		Use: "kernel [-- ARGS]", Short: "Serve the kernel protocol on standard input and output", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			o, err := k.options(args)
			if err != nil {
				return a.fail("%v", err)
			}
			limitMemory()
			h, err := newHandler(o)
			if err != nil {
				return a.fail("%v", err)
			}
			defer h.s.Close()
			if err := applySettings(h.s, k.set); err != nil {
				return a.fail("%v", err)
			}
			in, out, err := stdpipe.Claim()
			if err != nil {
				return a.fail("%v", err)
			}
			os.Stdout = os.Stderr // a stray print must not break the frames
			return kernel.Serve(in, out, h)
		},
	}
	k.add(cmd.Flags())
	cmd.Flags().StringVar(&k.name, "name", "", "name of the session")
	cmd.Flags().StringArrayVar(&k.set, "set", nil, "a setting of :set and its value, as in print.lines=30")
	return cmd
}

// handler answers the kernel protocol with a session and the command table.
type handler struct {
	s     *repl.Session
	b     kernel.Broadcast
	views *view.Views
	stops stopTeller
	debug *dap.Adapter
}

// Attach keeps the way to the front end for what belongs to no execution.
func (h *handler) Attach(b kernel.Broadcast) { h.b = b }

// Debug answers a request of the Debug Adapter Protocol.
func (h *handler) Debug(ctx context.Context, request json.RawMessage) json.RawMessage {
	return h.debug.Handle(ctx, request)
}

// View gives a snapshot of the session.
func (h *handler) View(r kernel.ViewRequest) kernel.ViewReply {
	data, err := h.views.Take(r.Name, r.Args)
	if err != nil {
		return kernel.ViewReply{Status: "error", Error: err.Error()}
	}
	return kernel.ViewReply{Status: "ok", Data: data}
}

func newHandler(o repl.Options) (*handler, error) {
	s, err := repl.NewSession(o)
	if err != nil {
		return nil, err
	}
	h := &handler{s: s, views: view.New(s, command.Views()...)}
	h.debug = dap.New(s, h.stops.send)
	return h, nil
}

// Execute runs a cell or a command.
func (h *handler) Execute(ctx context.Context, r kernel.ExecuteRequest, out kernel.Output) kernel.ExecuteReply {
	var rep kernel.ExecuteReply
	var c *repl.Cell
	var left bool // an operation of the cell that was stopped goes on, and holds the dispatcher
	next := h.s.Next()
	theme, ok := viz.ThemeNamed(r.Look)
	if !ok {
		theme = viz.Plain()
	}
	h.s.SetStyle(repl.Style{Theme: theme, Columns: r.Columns})
	defer h.stops.begin(r, out)()
	if repl.IsCommand(r.Code) && !command.Recorded(r.Code) && h.s.Ready(ctx) != nil {
		out.Error(kernel.ErrorContent{Name: "interrupt", Value: "interrupted: an operation of an earlier cell still runs", File: r.File, Line: r.FirstLine, Cell: h.s.Next()})
		rep.Status, rep.ErrorName = "error", "interrupt"
	} else if repl.IsCommand(r.Code) {
		reads, writes := h.s.Uses("", func() { rep, c = h.command(ctx, r, out) })
		rep.Reads, rep.Writes = reads, writes
	} else {
		if r.Skip {
			c = h.s.Skip(r.Code, r.File, r.FirstLine)
		} else {
			rep.Reads, rep.Writes = h.s.Uses(r.Code, func() { c = h.s.Run(ctx, r.Code, r.File, r.FirstLine, out) })
		}
		rep.Status = "ok"
		left = c != nil && c.Status == "error" && h.s.Dispatcher().Busy()
		switch {
		case left:
			h.tell(ctx, c, r.Silent, out)
		case c != nil:
			before, queued := h.s.Dispatcher().Stats(), h.s.Dispatcher().Queued()
			h.tell(ctx, c, r.Silent, out)
			if r.Last && c.Status == "ok" && c.Exit == nil {
				if err := h.s.Dispatcher().Untold(); err != nil {
					h.report(c, err, out)
				}
			}
			after := h.s.Dispatcher().Stats()
			rep.ShownLaunches, rep.ShownNS = after.Launches-before.Launches, after.DeviceNS-before.DeviceNS
			if rep.ShownLaunches > 0 {
				rep.ShownOps = int64(queued - h.s.Dispatcher().Queued())
			}
		}
		if c != nil {
			rep.Status = c.Status
			if len(c.Reports) > 0 {
				rep.ErrorName = c.Reports[0].Kind
			}
		}
	}
	rep.Replayed = rep.Replayed || h.s.Next() > next
	hbm := h.s.Device().HBM()
	rep.Mode = h.s.Dispatcher().Mode().Name
	if !left {
		rep.QueuedOps = h.s.Dispatcher().Queued()
	}
	rep.HBMUsedBytes, rep.HBMPeakBytes, rep.HBMLimitBytes = hbm.Used(), hbm.Peak(), hbm.Limit()
	if c != nil {
		rep.ExecutionCount, rep.Exit = c.ID, c.Exit
		rep.WallNS, rep.DeviceNS, rep.Launches, rep.HBMDeltaBytes = c.Wall.Nanoseconds(), c.Stats.DeviceNS, c.Stats.Launches, c.HBMDelta
	}
	return rep
}

// tell sends what a cell produced.
func (h *handler) tell(ctx context.Context, c *repl.Cell, silent bool, out kernel.Output) {
	for _, w := range c.Warnings {
		if w.Kind == cell.OnlyImports {
			continue
		}
		out.Display(kernel.ResultContent{ExecutionCount: c.ID, Warning: true, Data: plainText(h.s.Warning(c, w))})
	}
	if len(c.Values) > 0 {
		shown, err := h.s.Show(ctx, c)
		if err != nil {
			h.report(c, err, out)
			return
		}
		if !silent {
			out.Result(kernel.ResultContent{ExecutionCount: c.ID, Data: richData(shown, c.Values)})
		}
	}
	for _, r := range c.Reports {
		out.Error(errorContent(r))
	}
	if lines := h.s.WatchText(); len(lines) > 0 {
		out.Display(kernel.ResultContent{ExecutionCount: c.ID, Data: plainText(strings.Join(lines, "\n"))})
	}
}

func (h *handler) report(c *repl.Cell, err error, out kernel.Output) {
	h.s.Fail(c, err)
	for _, r := range c.Reports {
		out.Error(errorContent(r))
	}
}

func errorContent(r *repl.Report) kernel.ErrorContent {
	return kernel.ErrorContent{Name: r.Kind, Value: r.Message, Traceback: r.Block, File: r.File, Cell: r.Cell, Line: r.Line, Column: r.Column}
}

func plainText(s string) map[string]string { return map[string]string{"text/plain": s} }

// command runs a : command.
func (h *handler) command(ctx context.Context, r kernel.ExecuteRequest, out kernel.Output) (kernel.ExecuteReply, *repl.Cell) {
	a, err := command.Run(ctx, h.s, r.Code, out)
	if err != nil {
		e := kernel.ErrorContent{Name: "command", Value: err.Error(), File: r.File, Line: r.FirstLine, Cell: h.s.Next()}
		var cellErr interface{ Reports() []*repl.Report }
		if errors.As(err, &cellErr) {
			for _, rep := range cellErr.Reports() {
				out.Error(errorContent(rep))
			}
		} else {
			if r.File == "" {
				e.Line = 0
			}
			out.Error(e)
		}
		return kernel.ExecuteReply{Status: "error", ErrorName: e.Name}, nil
	}
	if a.Text != "" {
		out.Display(kernel.ResultContent{Data: plainText(strings.TrimRight(a.Text, "\n"))})
	}
	return kernel.ExecuteReply{Status: "ok", Quit: a.Quit, Restart: a.Restart, Replay: a.Replay, Replayed: a.Replayed}, a.Cell
}

// Complete completes commands and Go.
func (h *handler) Complete(r kernel.CompleteRequest) kernel.CompleteReply {
	pos := min(max(r.CursorPos, 0), len(r.Code))
	rep := kernel.CompleteReply{Status: "ok", Matches: []string{}, CursorStart: pos, CursorEnd: pos}
	line := r.Code[strings.LastIndexByte(r.Code[:pos], '\n')+1 : pos]
	if prefix, ok := filePrefix(r.Code, pos); ok {
		rep.CursorStart = pos - len(prefix)
		rep.Details = fileCandidates(prefix)
		for _, d := range rep.Details {
			rep.Matches = append(rep.Matches, d.Text)
		}
		return rep
	}
	if repl.IsCommand(line) || line == ":" {
		start, words := command.Complete(h.s, line)
		rep.CursorStart = pos - len(line) + start
		for _, w := range words {
			rep.Matches = append(rep.Matches, w)
			rep.Details = append(rep.Details, kernel.Candidate{Text: w, Kind: "command", Detail: commandDoc(line, w)})
		}
		return rep
	}
	cands, start := h.s.Interp().Complete(r.Code, pos)
	rep.CursorStart = start
	for _, c := range cands {
		rep.Matches = append(rep.Matches, c.Text)
		rep.Details = append(rep.Details, kernel.Candidate{Text: c.Text, Kind: c.Kind, Detail: c.Detail})
	}
	h.withShapes(rep.Details)
	return rep
}

// commandDoc says what a command does, when its name is what is being typed.
func commandDoc(line, word string) string {
	c, err := command.Lookup(word)
	if err != nil || strings.Contains(strings.TrimSpace(line), " ") {
		return ""
	}
	return c.Doc
}

// Inspect explains the word at the cursor.
func (h *handler) Inspect(r kernel.InspectRequest) kernel.InspectReply {
	word := wordAt(r.Code, r.CursorPos)
	if h.s.Running() { // a value that a cell is changing must not be looked at
		t, err := h.s.Interp().TypeOf(word)
		return kernel.InspectReply{Status: "ok", Found: err == nil, Data: plainText(word + "  " + t)}
	}
	a, err := command.Run(context.Background(), h.s, ":help "+word, nil)
	if err != nil {
		return kernel.InspectReply{Status: "ok", Data: map[string]string{}}
	}
	return kernel.InspectReply{Status: "ok", Found: true, Data: plainText(a.Text)}
}

// wordAt gives the dotted name around a position.
func wordAt(code string, pos int) string {
	pos = min(max(pos, 0), len(code))
	isWord := func(c byte) bool {
		return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
	}
	from, to := pos, pos
	for from > 0 && isWord(code[from-1]) {
		from--
	}
	for to < len(code) && isWord(code[to]) {
		to++
	}
	return strings.Trim(code[from:to], ".")
}

// IsComplete says whether a cell is whole.
func (h *handler) IsComplete(code string) kernel.IsCompleteReply {
	if repl.IsCommand(code) || repl.IsWhole(code) {
		return kernel.IsCompleteReply{Status: "complete"}
	}
	return kernel.IsCompleteReply{Status: "incomplete", Indent: "\t"}
}

// Info says who this kernel is.
func (h *handler) Info() kernel.KernelInfo {
	return kernel.KernelInfo{
		Status: "ok", ProtocolVersion: "5.4", Implementation: "tpush", Version: version(), PID: os.Getpid(),
		Language: kernel.LanguageInfo{Name: "go", Version: strings.TrimPrefix(runtime.Version(), "go"), MIMEType: "text/x-go", FileExtension: ".tpu"},
		Banner:   "tpush: Go cells on a simulated TPU " + h.s.Device().Chip().Name,
	}
}
