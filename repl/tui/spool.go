package tui

import (
	"bufio"
	"cmp"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A spool keeps all lines of an output that is too long for memory in a file.
// It belongs to the goroutine that feeds the output.
type spool struct {
	head  []string // until there is a file
	file  *os.File
	w     *bufio.Writer
	lines int
	err   error
}

// add takes lines, and gives the name of the file when it has just been made.
func (s *spool) add(lines []string) (made string) {
	s.lines += len(lines)
	if s.err != nil {
		return ""
	}
	if s.file == nil {
		s.head = append(s.head, lines...)
		if s.lines <= keepFirst {
			return ""
		}
		if s.file, s.err = os.CreateTemp("", "tpush-output-*.txt"); s.err != nil {
			return "" // the first and the last lines are kept all the same
		}
		s.w = bufio.NewWriterSize(s.file, 256<<10)
		lines, s.head, made = s.head, nil, s.file.Name()
	}
	for _, l := range lines {
		_, _ = s.w.WriteString(l)
		if err := s.w.WriteByte('\n'); err != nil {
			s.err = err // a full disk
		}
	}
	return made
}

// close writes what is held back.
func (s *spool) close() {
	if s.file != nil {
		_ = s.w.Flush()
		_ = s.file.Close()
	}
}

// spoolFile gives the file that has all of what a cell printed, "" when all of it is in memory.
func (c *cell) spoolFile() string {
	for _, o := range c.outputs {
		if o.spool != "" {
			return o.spool
		}
	}
	return ""
}

// pageAll shows all that the cell printed in $PAGER.
func (m *Model) pageAll(c *cell) tea.Cmd {
	file := c.spoolFile()
	switch {
	case file == "":
		m.say("all of it is here already")
		return nil
	case c.status == running:
		m.say("the cell still prints; v shows all of it when it has ended")
		return nil
	}
	words := strings.Fields(cmp.Or(os.Getenv("PAGER"), "less -R"))
	m.waiting++
	return lendTo(append(words, file), func(err error) tea.Msg {
		return answerMsg{func(m *Model) tea.Cmd {
			if err != nil {
				m.say("%s: %v; all of it is in %s", words[0], err, file)
			}
			return nil
		}}
	})
}

// dropSpools removes the files of long outputs.
func (m *Model) dropSpools() {
	for _, f := range m.spools {
		_ = os.Remove(f)
	}
}
