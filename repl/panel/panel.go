// Package panel draws snapshots of a session: HBM, fusion, trace, variables,
// the debugger and more, each at an exact size, each with its own keys.
//
// A panel does no I/O: it says what it wants, is given data, and answers named
// actions. It knows no terminal, session or runtime; it imports inspect,
// inspect/xla, trace and viz. Invariant: View gives exactly h lines of exactly w cells, for any
// data, also before any was loaded.
package panel

import (
	"encoding/json"
	"strings"

	"github.com/tpush/tpush/viz"
)

// A Panel shows one kind of snapshot.
type Panel interface {
	Name() string                        // hbm, fusion, trace, …
	Title() string                       // of a tab
	Wants() (view string, args any)      // what to ask the kernel for; args change with zoom, order, selection
	Load(data json.RawMessage) error     // takes a new snapshot
	View(ctx Context, w, h int) []string // exactly h lines of exactly w cells
	Do(action string) (Effect, bool)     // a named action, with its argument after a space; false when it has none of that name
	Actions() []Action                   // the actions it understands
	Select(Selection)                    // something was selected elsewhere
}

// A Context is how a panel is drawn.
type Context struct {
	Theme   viz.Theme
	Focused bool // the cursor is drawn, and the keys are the panel's
	// Keys gives the keys of an action, named as in the table of repl/config; nil knows none.
	Keys func(action string) []string
}

// hint names keys and what they do, from actions and words in turn: "v other
// view, s sort". What no key does is left out.
func (c Context) hint(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs) && c.Keys != nil; i += 2 {
		var keys []string
		for action := range strings.FieldsSeq(pairs[i]) {
			if k := c.Keys(action); len(k) > 0 {
				keys = append(keys, k[0])
			}
		}
		if len(keys) > 0 {
			parts = append(parts, strings.Join(keys, " ")+" "+pairs[i+1])
		}
	}
	return strings.Join(parts, ", ")
}

// An Action is something a panel can be told to do. Its key and what it is for
// are in the table of repl/config, under the name of the panel and its own.
type Action struct {
	Name string
	Arg  string // what to ask the user for, "" when the action takes nothing
	row  bool   // it moves the cursor of a list, as in every panel that has one
}

// Key is the name of the action in the table of repl/config.
func (a Action) Key(p Panel) string {
	if a.row {
		return "row-" + a.Name
	}
	return p.Name() + "-" + a.Name
}

// A Selection is one thing seen everywhere: zero fields are unknown. Address
// is offset by one, so that 0 stands for none.
type Selection struct {
	Op, Group, Value uint64
	Cell, Line       int
	Address          int64
	Name             string // of a variable
}

// An Effect is what the screen should do after an action.
type Effect struct {
	Selection *Selection // select this everywhere and show its cell line
	Command   string     // run this command
	Refresh   bool       // ask the kernel again: Wants has changed
}

// All makes one of each panel, in the order of their tabs.
func All() []Panel {
	return []Panel{NewHBM(), NewVariables(), NewFusion(), NewTrace(), NewGraph(), NewRoofline(), NewEvents(), NewCache(), NewXLA(), NewDebug(), NewHelp()}
}

// Named makes the panel of that name, nil when there is none.
func Named(name string) Panel {
	for _, p := range All() {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// matches says how well a row fits a selection made elsewhere: 0 not at all,
// more for what is more particular.
func (s Selection) matches(row Selection) int {
	switch {
	case s == Selection{}:
		return 0
	case s.Name != "" && s.Name == row.Name:
		return 7
	case s.Address != 0 && s.Address == row.Address:
		return 6
	case s.Value != 0 && s.Value == row.Value:
		return 5
	case s.Op != 0 && s.Op == row.Op:
		return 4
	case s.Group != 0 && s.Group == row.Group:
		return 3
	case s.Cell != 0 && s.Cell == row.Cell && s.Line != 0 && s.Line == row.Line:
		return 2
	case s.Cell != 0 && s.Cell == row.Cell && (s.Line == 0 || row.Line == 0):
		return 1
	}
	return 0
}
