// Package publish writes a notebook with its outputs for people who do not
// have tpush: as a Jupyter notebook and as one HTML file.
//
// It runs nothing: what cells showed is given to it. It imports store of this
// module. Invariant: the same document gives the same bytes, and every text of
// a user is escaped for where it stands.
package publish

import (
	"strings"

	"github.com/tpush/tpush/repl/store"
)

// A Document is a notebook and what it showed.
type Document struct {
	Title    string
	Cells    []Cell
	Pictures []Picture
}

// A Cell is one cell, or a : command.
type Cell struct {
	Title  string // of the separator before it, "" for none
	Source string
	Output store.Output // the zero value when it did not run
}

// A Picture is a drawing of a panel.
type Picture struct {
	Name string
	SVG  string
}

// lines are the lines of a text with their ends, as notebooks keep them.
func lines(s string) []string {
	if s == "" {
		return []string{}
	}
	list := strings.SplitAfter(s, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}
