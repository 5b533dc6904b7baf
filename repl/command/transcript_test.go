package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl"
)

// TestTranscripts plays the sessions of testdata/debug: lines after > and those
// after . that go on with it are a cell or a command; what follows is what must
// be said. A cell that stops says where, the commands behind it run at the stop.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/debug/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := string(b)
			got := transcript(t, want)
			if got == want {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
			for i := range g {
				if i >= len(w) || g[i] != w[i] {
					t.Fatalf("line %d:\n got %s\nwant %s\n\n%s", i+1, g[i], append(w, "(nothing)")[min(i, len(w))], got)
				}
			}
			t.Fatalf("more was said:\n%s", got)
		})
	}
}

// inputs gives the cells and commands of a transcript, and the comments before them.
func inputs(text string) (list []string) {
	for _, l := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(l, "# "):
			list = append(list, l)
		case strings.HasPrefix(l, "> "):
			list = append(list, l[2:])
		case strings.HasPrefix(l, ". ") && len(list) > 0:
			list[len(list)-1] += "\n" + l[2:]
		}
	}
	return list
}

// transcript plays the inputs of a session and writes down what is said.
func transcript(t *testing.T, text string) string {
	s := session(t)
	g := newStage(s)
	var b strings.Builder
	say := func(text string) {
		for _, x := range g.texts {
			b.WriteString("| " + x + "\n")
		}
		g.texts = nil
		if text != "" {
			b.WriteString(text + "\n")
		}
	}
	for _, in := range inputs(text) {
		if strings.HasPrefix(in, "# ") {
			b.WriteString(in + "\n")
			continue
		}
		b.WriteString("> " + strings.ReplaceAll(in, "\n", "\n. ") + "\n")
		if strings.HasPrefix(in, ":") {
			a, c, err := g.command(in)
			if err != nil {
				say("error: " + err.Error())
				continue
			}
			if c == nil {
				say(a.Text)
				continue
			}
			say(ended(g, c))
			continue
		}
		if c := g.cell(in); c != nil {
			say(ended(g, c))
			continue
		}
		say(strings.Join(s.StopText(s.Debugger().Stopped()), "\n"))
	}
	g.finish()
	return b.String()
}

// ended says how a cell ended.
func ended(g *stage, c *repl.Cell) string {
	text := fmt.Sprintf("cell %d %s", c.ID, c.Status)
	for _, r := range c.Reports {
		text += fmt.Sprintf(": %s: %s", r.Kind, r.Message)
	}
	if len(c.Values) > 0 {
		text += ": " + g.s.FormatAll(c.Values)
	}
	return text
}
