package command

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/viz"
)

// ours lists the packages that cells have without import.
func ours() []string { return []string{"tpu", "nn", "optim", "data"} }

// members lists what a package holds that cells may use under this name; none
// if it is no such package.
func members(s *repl.Session, name string) []interp.Candidate {
	if !token.IsIdentifier(name) {
		return nil
	}
	if all, _ := s.Interp().Complete("", 0); !holds(all, name, "package") {
		return nil
	}
	list, _ := s.Interp().Complete(name+".", len(name)+1)
	return list
}

func holds(list []interp.Candidate, name, kind string) bool {
	for _, c := range list {
		if c.Text == name && c.Kind == kind {
			return true
		}
	}
	return false
}

// packageManual is the page of a package: its names, a line each.
func packageManual(s *repl.Session, name string, list []interp.Candidate) string {
	t := viz.Table{Columns: []viz.Column{{}, {}, {}}}
	for _, c := range list {
		t.Rows = append(t.Rows, []string{"  " + name + "." + c.Text, c.Kind, c.Detail})
	}
	return fmt.Sprintf("package %s\n%s\n", name, picture(s, 132, t))
}

// inPackages finds a name in the packages that cells have without import, however
// its letters are written: tpu.Ones for ones. It is empty if none has it.
func inPackages(s *repl.Session, name string) string {
	if !token.IsIdentifier(name) {
		return ""
	}
	for _, p := range ours() {
		for _, c := range members(s, p) {
			if strings.EqualFold(c.Text, strings.ReplaceAll(name, "_", "")) {
				return p + "." + c.Text
			}
		}
	}
	return ""
}
