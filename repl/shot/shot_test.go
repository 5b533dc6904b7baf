package shot

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/config"
)

// note is a model that shows what is typed; enter makes it busy until a
// command answers.
type note struct {
	w, h    int
	text    string
	busy    bool
	waiting []Settled
}

func newNote(func(tea.Msg)) tea.Model { return &note{} }

type answer string

func (n *note) Init() tea.Cmd { return nil }

func (n *note) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		n.w, n.h = m.Width, m.Height
	case tea.PasteMsg:
		n.text += m.Content
	case tea.KeyPressMsg:
		switch m.String() {
		case "enter":
			n.busy = true
			return n, func() tea.Msg { return answer("=" + strings.ToUpper(n.text)) }
		case "ctrl+d":
			return n, tea.Quit
		case "ctrl+x":
			panic("boom")
		}
		n.text += m.Text
	case answer:
		n.text, n.busy = string(m), false
	case Settled:
		n.waiting = append(n.waiting, m)
	}
	if !n.busy {
		for _, s := range n.waiting {
			s.Reply(n.View())
		}
		n.waiting = nil
	}
	return n, nil
}

func (n *note) View() tea.View {
	v := tea.NewView(fmt.Sprintf("\x1b[31m%d\x1b[0mx%d \x1b[1m%s\x1b[0m", n.w, n.h, n.text))
	v.Cursor = tea.NewCursor(3, 1)
	return v
}

func TestPlay(t *testing.T) {
	steps, err := Parse("a<lt>世<shot><enter><paste:x\\ny><size:30x4>")
	if err != nil {
		t.Fatal(err)
	}
	screens, err := Play(context.Background(), Options{New: newNote, Width: 20, Height: 3, Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"20x3 a<世\n\n\n", "30x4 =A<世x\ny\n\n\n"}
	for i, s := range screens {
		if got := s.Text(); i >= len(want) || got != want[i] {
			t.Errorf("screen %d: %q", i, got)
		}
	}
	if len(screens) != len(want) || !screens[0].Cursor || screens[0].CursorX != 3 {
		t.Errorf("%d screens, cursor %v", len(screens), screens[0].Cursor)
	}
}

func TestPlayEnds(t *testing.T) {
	for _, keys := range []string{"a<ctrl+d>b<esc>", "<ctrl+x>"} {
		steps, err := Parse(keys)
		if err != nil {
			t.Fatal(err)
		}
		var ee *EndedError
		if _, err := Play(context.Background(), Options{New: newNote, Width: 9, Height: 2, Steps: steps}); !errors.As(err, &ee) {
			t.Errorf("%s: got %v, want an EndedError", keys, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, keys := range []string{"<", "a<nokey>", "<ctrl+>", "<size:1>", "<size:0x3>", "<f99>", "<>"} {
		var ke *KeysError
		if _, err := Parse(keys); !errors.As(err, &ke) {
			t.Errorf("%q: got %v, want a KeysError", keys, err)
		}
	}
}

// TestEveryKeyOfTheTable: a key that an action has can be written, and arrives
// under its name.
func TestEveryKeyOfTheTable(t *testing.T) {
	for _, a := range config.Actions() {
		for _, seq := range a.Keys {
			for _, k := range strings.Split(seq, " ") {
				steps, err := Parse("<" + k + ">")
				if err != nil {
					t.Errorf("%s: %v", a.Name, err)
					continue
				}
				if got := steps[0].Msg.(tea.KeyPressMsg); got.String() != k {
					t.Errorf("%s: <%s> arrives as %q", a.Name, k, got.String())
				}
			}
		}
	}
}

func TestSVG(t *testing.T) {
	s := NewScreen("\x1b[31mred\x1b[0m & \x1b[7mrev\x1b[0m 世界 \x1b[38;2;1;2;3mtrue\x1b[0m\n\x1b[1;3;4;2m<all>\x1b[0m", 30, 2, false)
	for _, p := range Palettes() {
		var b strings.Builder
		if err := s.WriteSVG(&b, p); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", p.Name, err, b.String())
			}
		}
		for _, want := range []string{p.base[1], "#010203", "&amp;", "世", "&lt;all&gt;", "bold", "italic", "underline"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: %s is missing in\n%s", p.Name, want, b.String())
			}
		}
	}
	plain := NewScreen("\x1b[31mred\x1b[0m", 5, 1, true)
	if plain.cells[0].fg != nil {
		t.Error("a plain screen has colours")
	}
	long := NewScreen("0123456789", 5, 2, true)
	if got := long.Text(); strings.Contains(got, "\n0") || strings.Count(got, "\n") != 2 {
		t.Errorf("a line that is too long wraps: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a<enter><paste:x><size:3x4><shot>")
	f.Fuzz(func(t *testing.T, s string) { _, _ = Parse(s) })
}

// TestANSIShowsTheSame: a terminal that is given the text shows the same screen.
func TestANSIShowsTheSame(t *testing.T) {
	for _, frame := range []string{
		"\x1b[31mred\x1b[0m & \x1b[1;7mrev\x1b[0m 世界 \x1b[38;2;1;2;3mtrue\x1b[0m\n\x1b[1;3;4;2m<all>\x1b[0m", "", "plain\n\n  x", "\x1b[44m  \x1b[0m", "\x1b[95;103mbright\x1b[0m",
	} {
		s := NewScreen(frame, 30, 3, false)
		again := NewScreen(strings.TrimSuffix(s.ANSI(), "\n"), 30, 3, false)
		for i := range s.cells {
			if s.cells[i] != again.cells[i] {
				t.Errorf("%q: cell %d: %+v became %+v", frame, i, s.cells[i], again.cells[i])
				break
			}
		}
	}
}
