package main

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A shownCommand is a command of a document and the output shown below it.
type shownCommand struct {
	line int    // of the output in the document, from 1
	args string // after go run ./cmd/tpush
	want []string
	last int // line after the output
}

const goRun = "$ go run ./cmd/tpush "

// shownCommands finds the commands in the console blocks of a document.
func shownCommands(t *testing.T, doc string) []shownCommand {
	var list []shownCommand
	inside := false
	for i, l := range strings.Split(doc, "\n") {
		switch {
		case l == "```console":
			inside = true
		case l == "```":
			inside = false
		case !inside:
		case strings.HasPrefix(l, goRun):
			list = append(list, shownCommand{line: i + 2, args: strings.TrimPrefix(l, goRun), last: i + 2})
		case strings.HasPrefix(l, "$"):
			t.Errorf("line %d: a command that no test runs: %s", i+1, l)
		default:
			c := &list[len(list)-1]
			c.want = append(c.want, l)
			c.last = i + 2
		}
	}
	return list
}

// fields splits a command line; single quotes hold words together.
func fields(s string) []string {
	var list []string
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// TestReadmeShowsWhatHappens runs the commands of the README and compares the
// output shown there. -update writes it anew.
func TestReadmeShowsWhatHappens(t *testing.T) {
	path := filepath.Join(root(t), "README.md")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commands := shownCommands(t, string(src))
	if len(commands) < 3 {
		t.Fatalf("the README shows %d commands", len(commands))
	}
	var out []string
	lines := strings.Split(string(src), "\n")
	next := 1
	for _, c := range commands {
		var both bytes.Buffer
		cmd := osexec.Command("tpush", fields(c.args)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = root(t), &both, &both
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		got := strings.Split(strings.TrimRight(both.String(), "\n"), "\n")
		for i := range got {
			got[i] = strings.TrimRight(got[i], " ")
		}
		out = append(append(out, lines[next-1:c.line-1]...), got...)
		next = c.last
		if want := strings.Join(c.want, "\n"); want != strings.Join(got, "\n") && !*update {
			t.Errorf("README.md:%d: %s\nshown:\n%s\nhappens:\n%s", c.line, c.args, want, strings.Join(got, "\n"))
		}
	}
	out = append(out, lines[next-1:]...)
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLinksOfDocuments: every relative link leads somewhere.
func TestLinksOfDocuments(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(docs, filepath.Join(root(t), "README.md")) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for rest := string(src); ; {
			i := strings.Index(rest, "](")
			if i < 0 {
				break
			}
			rest = rest[i+2:]
			target, _, ok := strings.Cut(rest, ")")
			if !ok || strings.Contains(target, "://") || strings.HasPrefix(target, "#") || strings.ContainsAny(target, " \n,`*") || !strings.Contains(target, ".md") {
				continue
			}
			target, _, _ = strings.Cut(target, "#")
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), target)); err != nil {
				t.Errorf("%s: link to %s: %v", filepath.Base(file), target, err)
			}
		}
	}
}
