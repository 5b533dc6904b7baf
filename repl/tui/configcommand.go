package tui

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/store/atomicfile"
)

func configKeys() []string {
	var list []string
	for _, s := range config.Settings() {
		list = append(list, s.Key)
	}
	return list
}

// configCommand lists the settings, or changes one for good.
func (m *Model) configCommand(arg string) tea.Cmd {
	c := m.opts.Config
	key, value, _ := strings.Cut(arg, " ")
	value = strings.TrimSpace(value)
	switch {
	case c == nil:
		m.say("there is no configuration here")
		return nil
	case arg == "":
		m.over = newPager("settings; :config KEY VALUE changes one in "+m.opts.ConfigFile, func() []string { return m.configLines() })
		return nil
	case value == "":
		for _, s := range config.Settings() {
			if s.Key == key {
				m.say("%s = %s  from %s: %s; takes %s", key, s.Value(c), c.From(key), s.Doc, s.Takes)
				return nil
			}
		}
	}
	if text, err := strconv.Unquote(value); err == nil {
		value = text
	}
	file := m.opts.ConfigFile
	return m.onDisk(func() func(m *Model) tea.Cmd {
		err := editConfig(file, key, value)
		return func(m *Model) tea.Cmd {
			if err == nil {
				err = c.Set(key, value, file)
			}
			if err != nil {
				m.say("not kept: %v", err)
				return nil
			}
			return m.configured(key, file)
		}
	})
}

// editConfig changes a setting in the user's file, which need not exist.
func editConfig(file, key, value string) error {
	src, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := config.Edit(file, src, key, value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	_, err = atomicfile.Write(file, 0o644, func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	})
	return err
}

// configured lets a setting that was changed take effect where it can.
func (m *Model) configured(key, file string) tea.Cmd {
	c := m.opts.Config
	note := "at the next start"
	switch {
	case key == "ui.theme" || key == "ui.ascii":
		name := c.Theme
		if c.ASCII {
			name = "ascii"
		}
		if t, ok := ThemeNamed(name); ok {
			m.setTheme(t)
			note = "now"
		}
	case key == "ui.mouse":
		m.mouse, note = c.Mouse, "now"
	case key == "ui.welcome":
		m.opts.Welcome, note = c.Welcome, "now"
	case key == "run.timeout":
		m.opts.Timeout, note = c.Timeout, "from the next cell"
	case key == "history.ignore_space":
		m.opts.SkipSpace, note = c.SkipSpace, "now"
	case strings.HasPrefix(key, "keys."):
		m.keys, note = c.Keys, "now"
		for _, p := range m.panes.kept {
			m.giveKeys(p.Panel)
		}
	}
	m.say("%s is kept in %s and holds %s", key, file, note)
	return m.refreshPanels()
}

// configLines is the table of the settings.
func (m *Model) configLines() []string {
	c, t := m.opts.Config, &m.theme
	var lines []string
	for _, s := range config.Settings() {
		from := c.From(s.Key)
		sgr := t.Dim
		if from != "default" {
			sgr = t.Note
		}
		lines = append(lines, fmt.Sprintf("%s %-18s %s  %s", paint(t.Key, fmt.Sprintf("%-22s", s.Key)), s.Value(c), paint(sgr, fmt.Sprintf("%-28s", from)), s.Doc))
	}
	return append(lines, "", "Keys are set as keys.ACTION; :keys lists the actions.")
}
