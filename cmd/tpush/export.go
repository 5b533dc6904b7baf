package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/repl/publish"
	"github.com/tpush/tpush/repl/store"
	"github.com/tpush/tpush/repl/store/atomicfile"
	"github.com/tpush/tpush/repl/tui"
)

// An exportFormat is a form of a notebook that is exported from the command line.
type exportFormat struct {
	flag, doc string
	write     func(a *app, k *kernelFlags, nb *repl.Notebook) ([]byte, error)
}

// exportFormats is the table of them.
var exportFormats = []exportFormat{
	{"go", "as a Go program", func(_ *app, _ *kernelFlags, nb *repl.Notebook) ([]byte, error) { return repl.WriteGo(nb) }},
	{"html", "run it, and write one page with outputs and panels", func(a *app, k *kernelFlags, nb *repl.Notebook) ([]byte, error) {
		return a.published(k, nb, publish.WriteHTML)
	}},
	{"ipynb", "run it, and write a Jupyter notebook with outputs", func(a *app, k *kernelFlags, nb *repl.Notebook) ([]byte, error) {
		return a.published(k, nb, publish.WriteIPYNB)
	}},
	{"tpu", "as a .tpu file: for a FILE that is a Jupyter notebook", func(_ *app, _ *kernelFlags, nb *repl.Notebook) ([]byte, error) {
		return nb.Restore(strings.Join(nb.Lines, "\n")), nil
	}},
}

func (a *app) exportCommand() *cobra.Command {
	var out string
	k := &kernelFlags{}
	chosen := make([]bool, len(exportFormats))
	var names []string
	for _, f := range exportFormats {
		names = append(names, "--"+f.flag)
	}
	cmd := &cobra.Command{
		Use: "export " + strings.Join(names, "|") + " FILE", Short: "Write a notebook as Go, HTML, or a Jupyter notebook",
		Long: `Write a .tpu file, or a Jupyter notebook (.ipynb), in another form.

--html and --ipynb run the cells, up to the first failure, and keep what they
show; host times are those of this run, device times are simulated.

--go writes a plain Go program that prints what tpush run prints. It builds in a
module that requires github.com/tpush/tpush. Declarations come first, the
statements of the cells in main; sugar is written as the calls it stands for, a
name that is declared again with another type gets a number. Values that cells
show are not printed, commands become comments, apart from those that set the
mode or the chip. A method that a later cell gives a type exists from the start.`,
		RunE: func(_ *cobra.Command, args []string) error {
			var f *exportFormat
			for i := range chosen {
				switch {
				case chosen[i] && f != nil:
					return a.fail("export: one format at a time")
				case chosen[i]:
					f = &exportFormats[i]
				}
			}
			switch {
			case len(args) != 1:
				return a.fail("export: one file is wanted, or - for standard input")
			case f == nil:
				return a.fail("export: a format is wanted: %s", strings.Join(names, ", "))
			}
			return a.publishAs(k, f, args[0], out)
		},
	}
	for i, f := range exportFormats {
		cmd.Flags().BoolVar(&chosen[i], f.flag, false, f.doc)
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output")
	k.add(cmd.Flags())
	return cmd
}

// publishAs writes file in a format.
func (a *app) publishAs(k *kernelFlags, f *exportFormat, file, out string) error {
	nb, err := a.notebookOf(file)
	if err != nil {
		return a.fail("%v", err)
	}
	text, err := f.write(a, k, nb)
	var fe *repl.FormatError
	switch {
	case errors.As(err, &fe):
		fmt.Fprintf(a.stderr, "%s:%d:%d: %s\n", fe.File, fe.Line, fe.Column, fe.Msg)
		return exit(plain.ExitFailed)
	case err != nil:
		return a.fail("%s: %v", file, err)
	}
	if out == "" {
		_, _ = a.stdout.Write(text) // a failure is remembered by the writer
		return nil
	}
	if _, err := atomicfile.Write(out, 0o644, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return a.fail("%s: %v", out, cause(err))
	}
	return nil
}

// notebookOf reads a .tpu file, or a Jupyter notebook as one.
func (a *app) notebookOf(file string) (*repl.Notebook, error) {
	if filepath.Ext(file) != ".ipynb" {
		return a.notebook(file)
	}
	b, err := a.read(file)
	if err != nil {
		return nil, err
	}
	text, err := publish.FromIPYNB(b)
	if err != nil {
		return nil, &fileError{file, err}
	}
	return repl.ParseNotebook(file, []byte(text)), nil
}

// published runs a notebook and writes it with what it showed.
func (a *app) published(k *kernelFlags, nb *repl.Notebook, write func(io.Writer, publish.Document) error) ([]byte, error) {
	k.name = filepath.Base(nb.Path)
	p, err := a.startKernel(k, []string{nb.Path})
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	ctx, stop := a.context(0)
	defer stop()
	d := publish.Document{Title: filepath.Base(nb.Path)}
	part, failed := 0, false
	for _, s := range nb.Steps {
		if s.Kind == repl.Expect {
			continue
		}
		c := publish.Cell{Source: strings.Trim(s.Text, "\n")}
		if s.Part != part {
			c.Title, part = s.Title, s.Part
		}
		if !failed {
			c.Output, err = collect(ctx, p, kernel.ExecuteRequest{Code: s.Text, File: nb.Path, FirstLine: s.Line})
			if err != nil {
				return nil, err
			}
			failed = c.Output.Status == "error"
		}
		d.Cells = append(d.Cells, c)
	}
	if theme, ok := tui.ThemeNamed("dark"); ok {
		d.Pictures = tui.PanelPictures(ctx, p, theme)
	}
	var b bytes.Buffer
	err = write(&b, d)
	return b.Bytes(), err
}

// collect runs a cell and keeps what it shows. A stop of the debugger goes on
// at once.
func collect(ctx context.Context, p *kernel.Process, r kernel.ExecuteRequest) (store.Output, error) {
	o := store.Output{Source: r.Code}
	shown := func(v kernel.ResultContent) {
		if v.Warning {
			o.Stderr += v.Data["text/plain"] + "\n"
			return
		}
		if o.Data == nil {
			o.Data = map[string]string{}
		}
		for name, t := range v.Data {
			if old := o.Data[name]; old != "" && name == "text/plain" {
				t = old + "\n" + t
			}
			o.Data[name] = t
		}
	}
	rep, err := p.Execute(ctx, r, kernel.Events{
		Stream: func(s kernel.StreamContent) {
			if s.Name == "stderr" {
				o.Stderr += s.Text
			} else {
				o.Stdout += s.Text
			}
		},
		Result: shown, Display: shown,
		Error: func(e kernel.ErrorContent) {
			o.Error = append(append(o.Error, e.Name+": "+e.Value), e.Traceback...)
		},
		Debug: func(event json.RawMessage) {
			var e struct{ Event string }
			if json.Unmarshal(event, &e) == nil && e.Event == "stopped" {
				_, _ = p.Debug(ctx, json.RawMessage(`{"seq":1,"type":"request","command":"continue","arguments":{"threadId":1}}`))
			}
		},
	})
	o.Count, o.Status, o.WallNS, o.DeviceNS = rep.ExecutionCount, rep.Status, rep.WallNS, rep.DeviceNS
	o.HBMDeltaBytes, o.Launches = rep.HBMDeltaBytes, rep.Launches
	return o, err
}
