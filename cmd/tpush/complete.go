package main

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/runtime/tpu"
)

// maxFiles bounds the names of files that are offered.
const maxFiles = 200

// fileCommands take the name of a file as their last word.
var fileCommands = []string{"export ", "load ", "save ", "open ", "cd ", "!"}

// filePrefix gives what is typed of a file name before the cursor: inside of a
// string, or as an argument of a command that takes one.
func filePrefix(code string, pos int) (prefix string, ok bool) {
	text := code[:pos]
	if cmd, found := strings.CutPrefix(text, ":"); found {
		for _, c := range fileCommands {
			if rest, ok := strings.CutPrefix(cmd, c); ok {
				return rest[strings.LastIndexByte(rest, ' ')+1:], c != "export " || strings.Contains(rest, " ")
			}
		}
		return "", false
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	fset := token.NewFileSet()
	f := fset.AddFile("", fset.Base(), len(line))
	var s scanner.Scanner
	s.Init(f, []byte(line), func(token.Position, string) {}, 0)
	for {
		p, tok, lit := s.Scan()
		if tok == token.EOF {
			return "", false
		}
		if at := f.Offset(p); tok == token.STRING && lit[0] == '"' && at+len(lit) >= len(line) && (len(lit) == 1 || !strings.HasSuffix(lit, `"`)) {
			return lit[1:], true
		}
	}
}

// fileCandidates lists the files that a name may become. Names that begin with
// a dot are offered when one is typed.
func fileCandidates(prefix string) []kernel.Candidate {
	dir, base := filepath.Split(prefix)
	where := dir
	if where == "" {
		where = "."
	}
	entries, err := os.ReadDir(where)
	if err != nil {
		return nil
	}
	var list []kernel.Candidate
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || name[0] == '.' && !strings.HasPrefix(base, ".") {
			continue
		}
		c := kernel.Candidate{Text: dir + name, Kind: "file"}
		if e.IsDir() {
			c.Text += string(filepath.Separator)
			c.Detail = "folder"
		}
		if list = append(list, c); len(list) == maxFiles {
			break
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Text < list[j].Text })
	return list
}

// withShapes tells of the session's tensors what they are: f32[4,8] instead of
// *tpu.Tensor. While a cell runs nothing may be looked at, and the types stay.
func (h *handler) withShapes(list []kernel.Candidate) {
	wanted := map[string]int{}
	for i, c := range list {
		if c.Kind == "var" && strings.HasSuffix(c.Detail, "Tensor") {
			wanted[c.Text] = i
		}
	}
	if len(wanted) == 0 {
		return
	}
	h.s.Quiet(func() {
		for _, v := range h.s.Interp().Variables() {
			i, ok := wanted[v.Name]
			if t, isTensor := v.Value.(*tpu.Tensor); ok && isTensor && t != nil {
				list[i].Detail = t.Spec().String() + "  " + t.State().String()
			}
		}
	})
}

// Check type-checks a cell that is being typed.
func (h *handler) Check(code string) []kernel.ErrorContent {
	if repl.IsCommand(code) {
		return nil
	}
	var list []kernel.ErrorContent
	for _, d := range h.s.Interp().Precheck(code) {
		list = append(list, kernel.ErrorContent{Name: d.Kind, Value: d.Msg, Cell: d.Cell, Line: d.Line, Column: d.Column})
	}
	return list
}
