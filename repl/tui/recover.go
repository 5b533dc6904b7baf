package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/store"
	"github.com/tpush/tpush/repl/tui/glyph"
	"github.com/tpush/tpush/viz"
)

// offerKept offers the newest notebook that a crash left. Each is answered for
// by itself; one that is not stays, whatever happens to the others.
func (m *Model) offerKept() {
	kept := m.opts.Files.Kept
	if len(kept) == 0 {
		return
	}
	r := kept[0]
	title := "a notebook was not closed in good order"
	if len(kept) > 1 {
		title = fmt.Sprintf("%d notebooks were not closed in good order; the newest", len(kept))
	}
	lines := []string{fmt.Sprintf("Its text of %s is kept, %s:", r.At.Local().Format("2 Jan 15:04"), viz.Plural(strings.Count(r.Text, "\n"), "line")), ""}
	text := strings.Split(strings.TrimSpace(r.Text), "\n")
	for _, l := range text[:min(len(text), keptLines)] {
		lines = append(lines, "  "+glyph.Fit(l, keptWidth, m.theme.More))
	}
	m.over = &question{title: title, unasked: true, lines: lines, answers: []answer{
		{"r", "recover it", func(m *Model) tea.Cmd { return m.recoverKept(r) }},
		{"d", "drop it for good", func(m *Model) tea.Cmd { return m.answerKept(r, "", nil) }},
	}, later: "it stays, :recover offers it again"}
}

// How much of a kept notebook the offer shows.
const (
	keptLines = 3
	keptWidth = 60
)

// recoverKept brings a kept notebook back: in place of one that nothing was done
// to, else behind the cells that are there.
func (m *Model) recoverKept(r store.Saved) tea.Cmd {
	if m.notebookText() == m.saved {
		m.load(r.Text)
	} else {
		m.nb.remember(m.selected)
		m.nb.extend(cellsOf(r.Text))
		m.view.follow = true
	}
	f, s, now, text := m.opts.Files.File, m.opts.Files.Session, m.now(), m.textWithDraft()
	m.kept = text
	note := "recovered; Alt-S saves"
	if n := len(m.opts.Files.Kept) - 1; n > 0 {
		note = fmt.Sprintf("recovered; there are %s: :recover offers the next", viz.Plural(n, "other"))
	}
	m.say("%s", note)
	return m.answerKept(r, note, func() error { // the copy goes only when this session has its own
		if s == nil {
			return nil
		}
		return s.Autosave(text, f, now)
	})
}

// answerKept removes a kept notebook that was answered for, once first has
// succeeded, and goes on to the next unless a note says what comes.
func (m *Model) answerKept(r store.Saved, note string, first func() error) tea.Cmd {
	m.opts.Files.Kept = m.opts.Files.Kept[1:]
	now := m.now()
	if note == "" {
		m.offerKept()
	}
	return m.onDisk(func() func(m *Model) tea.Cmd {
		var err error
		if first != nil {
			err = first()
		}
		if err == nil {
			err = r.Drop(now)
		}
		if err == nil {
			return nil
		}
		return func(m *Model) tea.Cmd { m.say("what a crash left stays: %v", err); return nil }
	})
}

// recoverCommand offers again what is kept.
func (m *Model) recoverCommand(string) tea.Cmd {
	f := &m.opts.Files
	path := ""
	if f.File != nil {
		path = f.File.Path
	}
	state, saved, now := f.State, m.saved, m.now()
	return m.onDisk(func() func(m *Model) tea.Cmd {
		kept := store.Kept(state, path, saved, now)
		return func(m *Model) tea.Cmd {
			m.opts.Files.Kept = kept
			if m.offerKept(); len(kept) == 0 {
				m.say("no crash left anything")
			}
			return nil
		}
	})
}
