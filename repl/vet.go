package repl

import (
	"errors"
	"go/scanner"
	"go/token"
	"sort"
	"strings"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
)

// A Finding is one thing that Vet says of a file.
type Finding struct {
	Line, Column int    // in the file
	Kind         string // syntax, type, unused, kept, note
	Msg          string
}

// Fatal tells whether the cell can't run because of it.
func (f Finding) Fatal() bool { return f.Kind == "syntax" || f.Kind == "type" }

// Vet compiles the cells of a notebook, runs none of them, and lists mistakes
// and warnings in the order of the file. Cells that a block expects to fail may.
func Vet(nb *Notebook) ([]Finding, error) {
	in, err := interp.New(interp.Options{Universe: interp.TPU()})
	if err != nil {
		return nil, err
	}
	var out []Finding
	n := 0
	for i, s := range nb.Steps {
		if s.Kind != Code {
			continue
		}
		n++
		warnings, err := in.Check(interp.Source{Cell: n, File: nb.Path, FirstLine: s.Line, Text: s.Text})
		var ce *cell.CompileError
		switch {
		case errors.As(err, &ce):
			if !nb.expectsError(i) {
				warnings = append(warnings, ce.Diagnostics...)
			}
		case err != nil:
			return nil, err
		}
		for _, d := range warnings {
			if name, ok := unusedImport(d); ok && nb.usesLater(i, name) {
				continue
			}
			out = append(out, Finding{s.Line + d.Line - 1, d.Column, d.Kind, d.Msg})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Line < out[j].Line })
	return out, nil
}

// expectsError tells whether an Error block follows in the cell of step i.
func (n *Notebook) expectsError(i int) bool {
	for _, s := range n.Steps[i+1:] {
		if s.Part != n.Steps[i].Part {
			return false
		}
		if s.Kind == Expect && s.Want == WantError {
			return true
		}
	}
	return false
}

// unusedImport gives the name that an import is known by which the cell does not use.
func unusedImport(d cell.Diagnostic) (name string, ok bool) {
	path, ok := strings.CutSuffix(d.Msg, " imported and not used")
	if !ok {
		_, name, ok = strings.Cut(d.Msg, " imported as ")
		name = strings.TrimSuffix(name, " and not used")
		return name, ok
	}
	path = strings.Trim(path, `"`)
	return path[strings.LastIndexByte(path, '/')+1:], true
}

// usesLater tells whether a cell after step i names a package.
func (n *Notebook) usesLater(i int, pkg string) bool {
	for _, s := range n.Steps[i+1:] {
		if s.Kind != Code {
			continue
		}
		var sc scanner.Scanner
		sc.Init(token.NewFileSet().AddFile("", -1, len(s.Text)), []byte(s.Text), func(token.Position, string) {}, 0)
		last := ""
		for {
			_, tok, lit := sc.Scan()
			if tok == token.EOF {
				break
			}
			if tok == token.PERIOD && last == pkg {
				return true
			}
			if last = ""; tok == token.IDENT {
				last = lit
			}
		}
	}
	return false
}
