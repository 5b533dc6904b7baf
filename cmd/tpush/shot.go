package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/repl/shot"
	"github.com/tpush/tpush/repl/store"
	"github.com/tpush/tpush/repl/store/atomicfile"
	"github.com/tpush/tpush/repl/tui"
)

// shotFlags are the flags of shot.
type shotFlags struct {
	keys, size, out, theme, palette string
	text, ansi, run, ascii          bool
}

func (a *app) shotCommand() *cobra.Command {
	k, f := &kernelFlags{}, &shotFlags{}
	cmd := &cobra.Command{
		Use: "shot [FILE] -o PICTURE.svg", Short: "Draw what the screen shows, without a terminal",
		Long: `Open a notebook on a screen that is not there, play keys, and write a picture of it.
In --keys text is typed, <enter> or <ctrl+r> is a key, <paste:TEXT> a paste and
<lt> the sign <; each key waits for what it starts. Host times and the process
number are left out, so the same keys give the same picture.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return a.fail("shot: one file at most")
			}
			return a.shot(k, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.keys, "keys", "", "keys to play")
	fl.StringVar(&f.size, "size", "120x36", "columns and rows")
	fl.StringVarP(&f.out, "output", "o", "", "write to `FILE` instead of standard output")
	fl.StringVar(&f.theme, "theme", "dark", "colours of the screen")
	fl.StringVar(&f.palette, "palette", "", "colours of the terminal that is imitated: dark, light (default by theme)")
	fl.BoolVar(&f.text, "text", false, "write the letters instead of a picture")
	fl.BoolVar(&f.ansi, "ansi", false, "write the letters with their colours, for a terminal to show")
	fl.BoolVar(&f.run, "run", false, "run all cells of FILE first")
	fl.BoolVar(&f.ascii, "ascii", false, "draw with ASCII letters only")
	k.add(fl)
	return cmd
}

// shotTimeout bounds a shot: keys that start an endless cell must not hang.
const shotTimeout = 2 * time.Minute

func (a *app) shot(k *kernelFlags, f *shotFlags, args []string) error {
	w, h, ok := shot.Size(f.size)
	if !ok {
		return a.fail("shot: %q is no size, want columns and rows such as 120x36", f.size)
	}
	steps, err := shot.Parse(f.keys)
	if err != nil {
		return a.fail("shot: %v", err)
	}
	if f.run {
		first, err := shot.Parse("<esc>A")
		if err != nil {
			return a.fail("shot: %v", err)
		}
		first[len(first)-1].Settle = true
		steps = append(first, steps...)
	}
	name := f.theme
	if f.ascii {
		name = "ascii"
	}
	theme, ok := tui.ThemeNamed(name)
	if !ok {
		return a.fail("shot: no theme %q", f.theme)
	}
	if f.palette == "" {
		f.palette = "dark"
		if f.theme == "light" {
			f.palette = "light"
		}
	}
	palette, ok := shot.LookupPalette(f.palette)
	if !ok {
		return a.fail("shot: no palette %q", f.palette)
	}
	o := tui.Options{Keys: config.Default().Keys, Welcome: true, Theme: theme, Now: func() time.Time { return time.Unix(0, 0).UTC() }, AnswerWithin: shotTimeout}
	if len(args) == 1 {
		file, text, err := store.Open(args[0])
		if err != nil {
			return a.fail("%v", cause(err))
		}
		if _, err := a.notebook(args[0]); err != nil {
			return a.fail("%v", err)
		}
		o.Files.File, o.Files.Original, o.File = file, text, args[0]
	}
	o.Start = func() (tui.Kernel, error) {
		p, err := a.startKernel(k, args)
		return still{p}, err
	}
	ctx, stop := a.context(shotTimeout)
	defer stop()
	screens, err := tui.Shoot(ctx, o, w, h, steps)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the screen was not still after %v", shotTimeout)
		}
		fmt.Fprintf(a.stderr, "tpush: shot: %v\n", err)
		return exitError(plain.ExitFailed)
	}
	write := func(out io.Writer) error {
		if !f.text && !f.ansi {
			return screens[len(screens)-1].WriteSVG(out, palette)
		}
		var b strings.Builder
		for _, s := range screens {
			if f.ansi {
				b.WriteString(s.ANSI())
				continue
			}
			b.WriteString(s.Text())
		}
		_, err := io.WriteString(out, b.String())
		return err
	}
	if f.out == "" {
		return write(a.stdout)
	}
	if _, err := atomicfile.Write(f.out, 0o644, write); err != nil {
		return a.fail("%v", err)
	}
	return nil
}

// still is a kernel whose answers are the same every time: what the host's
// clock says, and the number of a process, are left out.
type still struct{ *kernel.Process }

// Execute leaves the wall time out.
func (s still) Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error) {
	rep, err := s.Process.Execute(ctx, r, ev)
	rep.WallNS = 0
	return rep, err
}

// Info leaves the process out.
func (s still) Info(ctx context.Context) (kernel.KernelInfo, error) {
	info, err := s.Process.Info(ctx)
	info.PID = 0
	return info, err
}
