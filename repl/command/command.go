// Package command is the table of : commands: what can be asked of a session.
//
// A command returns text; it never prints and knows no screen. The package
// imports repl, inspect, trace, trace/export, viz, op and exec. Invariant:
// every row has a help text and an example, which a test runs.
package command

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/debug"

	"github.com/tpush/tpush/runtime/spelling"
)

// A Group is a section of :help.
type Group string

// The groups, in the order of :help.
const (
	Cells   Group = "cells"
	Look    Group = "look"
	Time    Group = "time"
	Runtime Group = "runtime"
	Session Group = "session"
	Debug   Group = "debugger"
)

// Groups lists the groups in order.
func Groups() []Group { return []Group{Cells, Look, Time, Runtime, Debug, Session} }

// A Command is one row.
type Command struct {
	Name    string
	Aliases []string
	Group   Group
	Args    string // usage after the name
	Doc     string // one sentence
	Help    string // more, may be empty
	Example string // lines of a cell and the command, run by a test
	Replay  bool   // it changes what later cells do: a kernel that replaces this one is asked it, too
	Idle    bool   // may not run while a cell does
	Resumes bool   // lets a stopped cell go on
	Fails   bool   // a cell of the example fails
	TPU     bool   // the example needs the TPU compiler
	Run     func(c *Call) (Answer, error)
	// Complete gives what may stand as the argument that begins with prefix.
	Complete func(s *repl.Session, prefix string) []string
}

// A Call is one use of a command.
type Call struct {
	Ctx     context.Context
	Session *repl.Session
	Out     repl.Output // where a cell that the command runs prints
	Args    []string    // words of the rest of the line
	Rest    string      // the rest of the line
}

// An Answer is what a command gives back.
type Answer struct {
	Text    string
	Cell    *repl.Cell // the command ran this cell
	Quit    bool       // the session shall end
	Restart bool       // the kernel process shall be replaced
	Replay  bool       // what the kernel before was asked shall be asked again

	Replayed bool // belongs to what a replay asks again
}

// text makes an answer of text alone.
func text(format string, args ...any) (Answer, error) {
	return Answer{Text: fmt.Sprintf(format, args...)}, nil
}

// All lists the commands.
func All() []Command {
	var all []Command
	for _, t := range [][]Command{cellCommands(), lookCommands(), compilerCommands(), pastCommands(), diffCommands(), timeCommands(), runtimeCommands(), debugCommands(), sessionCommands()} {
		all = append(all, t...)
	}
	return all
}

// An UnknownError says that no command has this name, or that a prefix is not unique.
type UnknownError struct {
	Name    string
	Matches []string // commands that begin so
	Nearest string
}

// Error names the command and what may have been meant.
func (e *UnknownError) Error() string {
	switch {
	case len(e.Matches) > 0:
		return fmt.Sprintf("command :%s is not unique: %s", e.Name, strings.Join(e.Matches, " "))
	case e.Nearest != "":
		return fmt.Sprintf("unknown command :%s, did you mean :%s?", e.Name, e.Nearest)
	}
	return fmt.Sprintf("unknown command :%s, see :help", e.Name)
}

// A UsageError says that the arguments of a command are wrong.
type UsageError struct {
	Command string
	Args    string
	Why     string
}

// Error gives the reason and the usage.
func (e *UsageError) Error() string {
	return fmt.Sprintf(":%s: %s (usage: %s)", e.Command, e.Why, strings.TrimSpace(":"+e.Command+" "+e.Args))
}

// Lookup finds a command by name, alias or unique prefix.
func Lookup(name string) (*Command, error) {
	all := All()
	var prefixed []int
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		for _, a := range all[i].Aliases {
			if a == name {
				return &all[i], nil
			}
		}
		if strings.HasPrefix(all[i].Name, name) {
			prefixed = append(prefixed, i)
		}
	}
	if len(prefixed) == 1 {
		return &all[prefixed[0]], nil
	}
	e := &UnknownError{Name: name}
	for _, i := range prefixed {
		e.Matches = append(e.Matches, ":"+all[i].Name)
	}
	best := 3
	for i := range all {
		if d := spelling.Distance(name, all[i].Name); d < best {
			best, e.Nearest = d, all[i].Name
		}
	}
	return nil, e
}

// Recorded tells whether a command only looks at what was recorded, and need not
// wait for an operation that still runs.
func Recorded(line string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), ":"), " ")
	c, err := Lookup(name)
	return err == nil && (c.Name == "export" || c.Name == "history")
}

// Run runs a command line. ?x is :help x.
func Run(ctx context.Context, s *repl.Session, line string, out repl.Output) (Answer, error) {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "?"); ok {
		line = ":help " + strings.TrimLeft(rest, "?")
	}
	line = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(line, ":"), ";"))
	name, rest, _ := strings.Cut(line, " ")
	c, err := Lookup(name)
	if err != nil {
		return Answer{}, err
	}
	rest = strings.TrimSpace(rest)
	if c.Idle && s.Running() {
		return Answer{}, &debug.BusyError{}
	}
	a, err := c.Run(&Call{Ctx: ctx, Session: s, Out: out, Args: strings.Fields(rest), Rest: rest})
	a.Replayed = c.Replay && err == nil
	return a, err
}

// Complete gives what may stand at the end of a command line, and where the
// word that it replaces begins.
func Complete(s *repl.Session, line string) (start int, words []string) {
	body := strings.TrimPrefix(line, ":")
	name, rest, hasArg := strings.Cut(body, " ")
	if !hasArg {
		for _, c := range All() {
			if strings.HasPrefix(c.Name, name) {
				words = append(words, c.Name)
			}
		}
		sort.Strings(words)
		return len(line) - len(name), words
	}
	c, err := Lookup(name)
	if err != nil || c.Complete == nil {
		return len(line), nil
	}
	prefix := rest[strings.LastIndexByte(rest, ' ')+1:]
	for _, w := range c.Complete(s, prefix) {
		if strings.HasPrefix(w, prefix) {
			words = append(words, w)
		}
	}
	sort.Strings(words)
	return len(line) - len(prefix), words
}

// words makes a completion of fixed words.
func words(list ...string) func(*repl.Session, string) []string {
	return func(*repl.Session, string) []string { return list }
}

// names completes the variables of the session.
func names(s *repl.Session, _ string) []string {
	var list []string
	for _, v := range s.Interp().Variables() {
		list = append(list, v.Name)
	}
	return list
}

// width is how wide answers are drawn.
const width = 100
