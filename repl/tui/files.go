package tui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/store"
)

// Files is where a notebook is kept. The zero value keeps nothing.
type Files struct {
	File     *store.File    // nil while the notebook has no name
	Session  *store.Session // its lock and autosave; nil keeps none
	State    string         // the folder of Session
	Original []byte         // the file as it was read
	Outputs  []store.Output // of its sidecar
	Autosave time.Duration  // between two; 0 for never
	Warn     []string       // what was found when it was opened
	Kept     []store.Saved  // what crashes left, to be offered
}

type autosaveMsg struct{}

// cellsOf cuts the text of a notebook into cells. Expectations stay with the
// cell before them.
func cellsOf(text string) []*cell {
	var list []*cell
	part := 0
	nb := repl.ParseNotebook("", []byte(text))
	for _, s := range nb.Steps {
		if s.Kind == repl.Expect {
			if n := len(list); n > 0 {
				list[n-1].expect += strings.Join(nb.Lines[s.Line-1:s.Last], "\n") + "\n"
			}
			continue
		}
		c := &cell{source: strings.Trim(s.Text, "\n")}
		if s.Part != part {
			c.title, c.heads = s.Title, s.Part > 1 || s.Title != ""
			part = s.Part
		}
		list = append(list, c)
	}
	return list
}

// fileText is the notebook as a .tpu file.
func fileText(cells []*cell) string {
	var b strings.Builder
	var before *cell
	for _, c := range cells {
		if strings.TrimSpace(c.source) == "" || c.aside {
			continue
		}
		if c.heads || before != nil && !c.joined(before) {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.TrimRight("// %% "+c.title, " ") + "\n")
		}
		b.WriteString(c.source + "\n")
		b.WriteString(c.expect)
		before = c
	}
	return b.String()
}

// joined says whether a cell stands in the file right after the one before it:
// a command, or Go after a command, needs nothing between them.
func (c *cell) joined(before *cell) bool { return c.command() || before.command() }

// text is the notebook as it is now, with what is being edited.
func (m *Model) notebookText() string {
	if m.editing != nil {
		was := m.editing.source
		m.editing.source = strings.TrimRight(m.editor.Text(), " \t\n")
		defer func() { m.editing.source = was }()
	}
	return fileText(m.nb.cells)
}

// changed says whether the notebook is another than on disk.
func (m *Model) changed() bool { return m.notebookText() != m.saved }

// save saves the notebook under its name.
func (m *Model) save() tea.Cmd {
	if m.opts.Files.File == nil {
		m.toInput()
		m.input.Reset(":save notebook.tpu")
		m.say("the notebook has no name yet")
		return nil
	}
	return m.write(m.opts.Files.File, false)
}

// saveAs saves the notebook under a name.
func (m *Model) saveAs(name string) tea.Cmd {
	if name == "" {
		return m.save()
	}
	if f := m.opts.Files.File; f != nil && f.Path == name {
		return m.write(f, false)
	}
	return m.onDisk(func() func(m *Model) tea.Cmd {
		f, old, err := store.Open(name)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.say("save: %v", err)
				return nil
			}
			if old != nil {
				m.over = &question{title: name + " exists", lines: []string{fmt.Sprintf("It has %d bytes.", len(old))}, answers: []answer{
					{"y", "replace it", func(m *Model) tea.Cmd { return m.write(f, true) }},
				}}
				return nil
			}
			return m.write(f, true)
		}
	})
}

// write writes the notebook to a file, and what it showed beside it.
func (m *Model) write(f *store.File, over bool) tea.Cmd {
	text, outs := m.notebookText(), m.storedOutputs()
	s, state, now := m.opts.Files.Session, m.opts.Files.State, m.now()
	renamed := m.opts.Files.File != f
	return m.onDisk(func() func(m *Model) tea.Cmd {
		err := save(f, s, renamed, state, text, over, now)
		if err == nil {
			err = store.SaveOutputs(f.Path, outs)
		}
		return func(m *Model) tea.Cmd {
			var changed *store.ChangedError
			switch {
			case errors.As(err, &changed):
				m.over = &question{title: changed.Error(), lines: []string{"Saving replaces what the other program wrote."}, answers: []answer{
					{"y", "save all the same", func(m *Model) tea.Cmd { return m.write(f, true) }},
				}}
			case err != nil:
				m.say("not saved: %v", err)
			default:
				m.opts.Files.File, m.opts.File, m.saved, m.noticed = f, f.Path, text, false
				m.say("saved %s", f.Path)
			}
			return nil
		}
	})
}

// save writes text to f; with renamed the session s becomes one of f, before
// anything is written: the file may be open in another notebook.
func save(f *store.File, s *store.Session, renamed bool, state, text string, over bool, now time.Time) error {
	if !renamed || s == nil {
		return f.Save([]byte(text), over)
	}
	return s.Rename(state, f.Path, now, func() error { return f.Save([]byte(text), over) })
}

// storedOutputs is what the sidecar holds.
func (m *Model) storedOutputs() []store.Output {
	var list []store.Output
	for _, c := range m.nb.cells {
		if len(c.outputs) == 0 && c.reply.WallNS == 0 {
			continue
		}
		o := store.Output{Source: c.ran, Count: c.count, Status: c.reply.Status, WallNS: c.reply.WallNS, DeviceNS: c.reply.DeviceNS, HBMDeltaBytes: c.reply.HBMDeltaBytes, Launches: c.reply.Launches}
		for _, out := range c.outputs {
			text := strings.Join(out.all(), "\n") + "\n"
			switch out.kind {
			case outStdout:
				o.Stdout += text
			case outStderr:
				o.Stderr += text
			case outError:
				o.Error = append(append(o.Error, out.err.Name+": "+out.err.Value), out.err.Traceback...)
			case outResult, outDisplay:
				if o.Data == nil {
					o.Data = map[string]string{}
				}
				for k, v := range out.data {
					o.Data[k] = v
				}
			}
		}
		list = append(list, o)
	}
	return list
}

// restoreOutputs gives the cells what they showed when the notebook was saved.
func (m *Model) restoreOutputs(list []store.Output) {
	bySource := map[string]store.Output{}
	for _, o := range list {
		bySource[o.Source] = o
	}
	for _, c := range m.nb.cells {
		o, ok := bySource[c.source]
		if !ok {
			continue
		}
		put := func(kind outputKind, lines []string, data map[string]string) {
			out := &output{kind: kind, data: data}
			out.text.add(lines)
			c.outputs = append(c.outputs, out)
		}
		if o.Stdout != "" {
			put(outStdout, cleanLines(o.Stdout), nil)
		}
		if o.Stderr != "" {
			put(outStderr, cleanLines(o.Stderr), nil)
		}
		if text := o.Data["text/plain"]; text != "" {
			put(outResult, cleanLines(text), o.Data)
		}
		if len(o.Error) > 0 {
			out := &output{kind: outError}
			out.err.Name, out.err.Value, _ = strings.Cut(o.Error[0], ": ")
			out.err.Traceback = o.Error[1:]
			c.outputs = append(c.outputs, out)
		}
		c.restored = true
		c.touch()
	}
}

// autosave keeps the notebook in the state folder; it is asked before each run
// and every so often.
func (m *Model) autosave() tea.Cmd {
	s, f, now := m.opts.Files.Session, m.opts.Files.File, m.now()
	if s == nil || m.autosaving {
		return nil
	}
	text := m.textWithDraft()
	if text == m.kept {
		return nil
	}
	m.kept, m.autosaving = text, true
	return m.onDisk(func() func(m *Model) tea.Cmd {
		err := s.Autosave(text, f, now)
		return func(m *Model) tea.Cmd {
			m.autosaving = false
			if err != nil && m.autosaveError != err.Error() {
				m.autosaveError = err.Error()
				m.say("autosave: %v", err)
			}
			if err == nil {
				m.autosaveError, m.autosavedAt = "", now
			}
			return nil
		}
	})
}

// textWithDraft is the notebook's text and what is typed but did not run.
func (m *Model) textWithDraft() string {
	text := m.notebookText()
	if draft := m.input.Text(); strings.TrimSpace(draft) != "" {
		text += "\n// %% draft\n" + draft + "\n"
	}
	return text
}

// lookAtFile tells when another program changed the file.
func (m *Model) lookAtFile() tea.Cmd {
	f := m.opts.Files.File
	if f == nil || m.noticed {
		return nil
	}
	return m.onDisk(func() func(m *Model) tea.Cmd {
		err := f.Changed()
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.noticed = true
				m.say("%v; saving asks first", err)
			}
			return nil
		}
	})
}

func (m *Model) autosaveLater() tea.Cmd {
	d := m.opts.Files.Autosave
	if d <= 0 || m.opts.Files.Session == nil {
		return nil
	}
	return m.later(d, autosaveMsg{})
}

// opened shows what was found when the notebook was opened.
func (m *Model) opened() {
	f := &m.opts.Files
	m.load(string(f.Original))
	m.saved = m.notebookText()
	m.restoreOutputs(f.Outputs)
	if len(f.Warn) > 0 {
		m.say("%s", strings.Join(f.Warn, "; "))
	}
	m.offerKept()
}

// load makes the cells of a text.
func (m *Model) load(text string) {
	m.nb = notebook{}
	m.nb.extend(cellsOf(text))
	m.view.follow = false
	m.view.cell, m.view.row = 0, 0
}

// closed ends the session: with the notebook saved, or left without a name on
// purpose, its autosave goes.
func (m *Model) closed() {
	s := m.opts.Files.Session
	if s == nil {
		return
	}
	m.disk.Lock()
	defer m.disk.Unlock()
	text := m.textWithDraft()
	keep := text != m.saved && (m.opts.Files.File != nil || !m.quit && strings.TrimSpace(text) != "")
	if keep {
		_ = s.Autosave(text, m.opts.Files.File, m.now())
	}
	s.Close(!keep)
}
