package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/tui"
)

// hasScreen says whether there is a terminal that can show the notebook.
func (a *app) hasScreen(getenv func(string) string) bool {
	if t := getenv("TERM"); t == "dumb" || t == "" {
		return false
	}
	out, ok := a.stdout.(*outputWriter)
	return ok && isTerminal(a.stdin) && isTerminal(out.w)
}

func themeNames() []string {
	var list []string
	for _, t := range tui.Themes() {
		list = append(list, t.Name)
	}
	return list
}

// notebookScreen shows the notebook, with the cells of a file if one is named.
func (a *app) notebookScreen(args []string) error {
	theme, ok := tui.ThemeNamed(a.theme)
	if !ok {
		return a.fail("theme: %q is none%s", a.theme, didYouMean(command.Nearest(a.theme, themeNames())))
	}
	o := tui.Options{Theme: theme}
	if len(args) == 1 {
		nb, err := a.notebook(args[0])
		switch {
		case errors.Is(err, fs.ErrNotExist): // it is made when it is saved
		case err != nil:
			return a.fail("%v", err)
		default:
			o.Cells = notebookCells(nb)
		}
		o.File = args[0]
		a.kernel.name = filepath.Base(args[0])
	}
	if _, err := a.kernel.options(nil); err != nil {
		return a.fail("%v", err)
	}
	o.Start = func() (tui.Kernel, error) { return a.startKernel(&a.kernel, args) }
	code, err := tui.Run(o)
	if err != nil {
		return a.fail("%v", err)
	}
	return exit(code)
}

// notebookCells gives the steps of a file as cells.
func notebookCells(nb *repl.Notebook) []string {
	var cells []string
	for _, s := range nb.Steps {
		if s.Kind != repl.Expect {
			cells = append(cells, s.Text)
		}
	}
	return cells
}
