package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/repl/publish"
	"github.com/tpush/tpush/repl/shot"
	"github.com/tpush/tpush/repl/store"
	"github.com/tpush/tpush/repl/store/atomicfile"
)

// A notebookFormat is a form in which the notebook itself is exported. What was
// recorded is exported by the session's own :export.
type notebookFormat struct {
	name, doc string
	write     func(m *Model) func(w io.Writer) error // takes what it needs at once, writes later
}

func notebookFormats() []notebookFormat {
	return []notebookFormat{
		{"html", "one page with outputs and the pictures of the panels", func(m *Model) func(io.Writer) error {
			d, k, theme := m.document(), m.kernel, m.theme
			return func(w io.Writer) error {
				d.Pictures = PanelPictures(context.Background(), k, theme)
				return publish.WriteHTML(w, d)
			}
		}},
		{"ipynb", "a Jupyter notebook with outputs", func(m *Model) func(io.Writer) error {
			d := m.document()
			return func(w io.Writer) error { return publish.WriteIPYNB(w, d) }
		}},
		{"svg", "a picture of the screen", func(m *Model) func(io.Writer) error {
			return picture(m.View().Content, m.at.w, m.at.h, m.theme.Name)
		}},
		{"go", "a plain Go program", func(m *Model) func(io.Writer) error {
			text := m.notebookText()
			return func(w io.Writer) error {
				b, err := repl.WriteGo(repl.ParseNotebook("notebook.tpu", []byte(text)))
				if err == nil {
					_, err = w.Write(b)
				}
				return err
			}
		}},
		{"tpu", "the notebook's text", func(m *Model) func(io.Writer) error {
			text := m.notebookText()
			return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
		}},
	}
}

// exportsNotebook says whether an :export is about the notebook.
func exportsNotebook(arg string) bool {
	name, _, _ := strings.Cut(arg, " ")
	return slices.ContainsFunc(notebookFormats(), func(f notebookFormat) bool { return f.name == name })
}

// exportFormats names the formats of the notebook.
func exportFormats(*Model) []string {
	var list []string
	for _, f := range notebookFormats() {
		list = append(list, f.name)
	}
	return list
}

// exportNotebook writes the notebook in a format to a file.
func (m *Model) exportNotebook(arg string) tea.Cmd {
	name, path, _ := strings.Cut(arg, " ")
	path = strings.TrimSpace(path)
	if path == "" {
		m.say("a file is wanted: :export %s FILE", name)
		return nil
	}
	i := slices.IndexFunc(notebookFormats(), func(f notebookFormat) bool { return f.name == name })
	write := notebookFormats()[i].write(m)
	return m.ask(func() func(m *Model) tea.Cmd {
		_, err := atomicfile.Write(path, 0o644, write)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.say("not written: %v", err)
			} else {
				m.say("wrote %s", path)
			}
			return nil
		}
	})
}

// document is the notebook with what its cells showed.
func (m *Model) document() publish.Document {
	d := publish.Document{Title: "tpush notebook"}
	if m.opts.File != "" {
		d.Title = filepath.Base(m.opts.File)
	}
	outputs := map[string]store.Output{}
	for _, o := range m.storedOutputs() {
		outputs[o.Source] = o
	}
	for _, c := range m.nb.cells {
		if strings.TrimSpace(c.source) == "" {
			continue
		}
		d.Cells = append(d.Cells, publish.Cell{Title: c.title, Source: c.source, Output: outputs[c.source]})
	}
	return d
}

// The size of a panel's picture.
const pictureColumns, pictureRows = 100, 30

// PanelPictures asks the kernel for what each panel shows, and draws it. A
// panel for which it has nothing to give, or that needs none, has no picture.
func PanelPictures(ctx context.Context, k Kernel, theme Theme) []publish.Picture {
	ctx, cancel := context.WithTimeout(ctx, viewDeadline)
	defer cancel()
	var list []publish.Picture
	for _, p := range panel.All() {
		view, args := p.Wants()
		var data json.RawMessage
		if view == "" || k == nil || k.View(ctx, view, args, &data) != nil || p.Load(data) != nil {
			continue
		}
		lines := p.View(panel.Context{Theme: theme.Viz}, pictureColumns, pictureRows)
		var b bytes.Buffer
		if picture(strings.Join(lines, "\n"), pictureColumns, pictureRows, theme.Name)(&b) == nil {
			list = append(list, publish.Picture{Name: p.Title(), SVG: b.String()})
		}
	}
	return list
}

// picture draws a frame in the colours of a theme.
func picture(frame string, w, h int, theme string) func(io.Writer) error {
	name := "dark"
	if theme == "light" {
		name = theme
	}
	return func(out io.Writer) error {
		p, ok := shot.LookupPalette(name)
		if !ok {
			return fmt.Errorf("no palette %s", name)
		}
		return shot.NewScreen(frame, w, h, colourless(theme)).WriteSVG(out, p)
	}
}
