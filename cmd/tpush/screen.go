package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/repl/store"
	"github.com/tpush/tpush/repl/tui"
)

// screenFlags are the flags of the notebook on a terminal. Those that were given win over the configuration.
type screenFlags struct {
	theme string
	ascii bool
	mouse bool
}

func (s *screenFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.theme, "theme", "", "colours of the screen: auto, dark, light, mono, high-contrast")
	f.BoolVar(&s.ascii, "ascii", false, "draw with ASCII letters only")
	f.BoolVar(&s.mouse, "mouse", true, "wheel and clicks")
}

// apply lets the flags that were given win.
func (s *screenFlags) apply(c *config.Config, f *pflag.FlagSet) error {
	for _, x := range []struct{ flag, key, value string }{{"theme", "ui.theme", s.theme}, {"ascii", "ui.ascii", strconv.FormatBool(s.ascii)}, {"mouse", "ui.mouse", strconv.FormatBool(s.mouse)}} {
		if f.Changed(x.flag) {
			if err := c.Set(x.key, x.value, "--"+x.flag); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasScreen says whether there is a terminal that can show the notebook.
func (a *app) hasScreen(getenv func(string) string) bool {
	if t := getenv("TERM"); t == "dumb" || t == "" {
		return false
	}
	out, ok := a.stdout.(*outputWriter)
	return ok && isTerminal(a.stdin) && isTerminal(out.w)
}

// screenTheme gives the theme of a configuration; ask says that the terminal's
// background decides.
func screenTheme(c *config.Config) (t tui.Theme, ask bool) {
	name := c.Theme
	if name == "auto" {
		name, ask = "dark", true
	}
	if c.ASCII {
		return mustTheme("ascii"), false
	}
	return mustTheme(name), ask
}

// mustTheme finds a theme whose name the configuration has checked.
func mustTheme(name string) tui.Theme {
	t, ok := tui.ThemeNamed(name)
	if !ok {
		panic("no theme " + name)
	}
	return t
}

// notebookScreen shows the notebook, with the cells of a file if one is named.
func (a *app) notebookScreen(args []string, flags *pflag.FlagSet) error {
	c, err := a.configured(&a.kernel)
	if err == nil {
		err = a.screen.apply(c, flags)
	}
	if err != nil {
		return a.fail("%v", err)
	}
	state := config.StateFolder(os.Getenv)
	o := tui.Options{Keys: c.Keys, Mouse: c.Mouse, Welcome: c.Welcome, FPS: c.FPS, Panels: c.Panels, SkipSpace: c.SkipSpace, Timeout: c.Timeout, Config: c, ConfigFile: config.Here(".").User}
	o.Theme, o.AskTheme = screenTheme(c)
	history, err := store.OpenHistory(state, c.History)
	if err != nil {
		o.Files.Warn = append(o.Files.Warn, fmt.Sprintf("no history: %v", cause(err)))
	}
	o.History = history
	if err := a.openFiles(&o, args, state, c.Autosave); err != nil {
		return a.fail("%v", err)
	}
	if _, err := a.kernel.options(nil); err != nil {
		return a.fail("%v", err)
	}
	o.Start = func() (tui.Kernel, error) { return a.startKernel(&a.kernel, args) }
	code, err := tui.Run(o)
	var ended *tui.EndedError
	if err != nil && !errors.As(err, &ended) {
		fmt.Fprintf(a.stderr, "tpush: %v\n", err)
		return exit(plain.ExitFailed)
	}
	return exit(code)
}

// openFiles opens the notebook that is named, takes its lock, and looks for
// what a crash left.
func (a *app) openFiles(o *tui.Options, args []string, state string, every time.Duration) error {
	f, path := &o.Files, ""
	f.State, f.Autosave = state, every
	if len(args) == 1 {
		path = args[0]
		file, text, err := store.Open(path)
		if err != nil {
			return err
		}
		if len(text) > 0 {
			if _, err := a.notebook(path); err != nil { // text that is no program
				return err
			}
		}
		f.File, f.Original, f.Outputs, o.File = file, text, store.LoadOutputs(path), path
		a.kernel.name = filepath.Base(path)
	}
	session, err := store.Begin(state, path, time.Now())
	var locked *store.LockedError
	switch {
	case errors.As(err, &locked):
		f.Warn = append(f.Warn, err.Error()+"; saving here may undo what is done there")
		f.Session = session
	case err != nil: // a state folder that cannot be written: the notebook works without
		f.Warn = append(f.Warn, fmt.Sprintf("no autosave: %v", cause(err)))
	default:
		f.Session = session
	}
	f.Kept = store.Kept(state, path, string(f.Original), time.Now())
	return nil
}
