package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A History is the cells that were run, in a file that all notebooks of a user
// share: one JSON object a line, appended under a lock, so that two notebooks
// lose nothing of each other.
type History struct {
	path  string // "" keeps nothing
	limit int
	cells []string // oldest first, as they were when it was opened and what was added here
}

// An entry is a line of the file.
type entry struct {
	At   time.Time `json:"at"`
	Cell string    `json:"cell"`
}

// historyFile is under the state folder.
const historyFile = "history.jsonl"

// OpenHistory reads the last limit cells. A line that is none is passed over.
// The history works without its file; the error says why there is none.
func OpenHistory(state string, limit int) (*History, error) {
	h := &History{limit: limit}
	if state == "" || limit <= 0 {
		return h, nil
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return h, err
	}
	h.path = filepath.Join(state, historyFile)
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		h.path = ""
		return h, err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return h, fmt.Errorf("%s: %w", h.path, err)
	}
	lines, total := readHistory(f, limit)
	for _, e := range lines {
		h.push(e.Cell)
	}
	if total > 2*limit {
		return h, shorten(f, lines)
	}
	return h, nil
}

// readHistory gives the last limit entries and how many lines there are.
func readHistory(r io.Reader, limit int) (last []entry, total int) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			total++
			var e entry
			if json.Unmarshal(line, &e) == nil && e.Cell != "" {
				last = append(last, e)
			}
			if len(last) > 2*limit {
				last = append(last[:0], last[len(last)-limit:]...)
			}
		}
		if err != nil {
			return last[max(0, len(last)-limit):], total
		}
	}
}

// shorten rewrites the file in place: another process may hold it open.
func shorten(f *os.File, lines []entry) error {
	var b bytes.Buffer
	for _, e := range lines {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	if _, err := f.WriteAt(b.Bytes(), 0); err != nil {
		return err
	}
	return f.Truncate(int64(b.Len()))
}

// push adds a cell in memory; one that repeats the last is not new.
func (h *History) push(cell string) bool {
	if n := len(h.cells); n > 0 && h.cells[n-1] == cell {
		return false
	}
	h.cells = append(h.cells, cell)
	if len(h.cells) > 2*h.limit {
		h.cells = append(h.cells[:0], h.cells[len(h.cells)-h.limit:]...)
	}
	return true
}

// Add appends a cell. The cell is in the history whatever the error says of the file.
func (h *History) Add(cell string, now time.Time) (err error) {
	cell = strings.TrimRight(cell, "\n")
	if h.limit <= 0 || strings.TrimSpace(cell) == "" || !h.push(cell) || h.path == "" {
		return nil
	}
	line, err := json.Marshal(entry{now, cell})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	// One write: a crash tears at most this line, and a torn line is passed over.
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if end > 0 {
		if _, err := f.ReadAt(last, end-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' { // a crash tore the line before
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

// Len is how many cells there are.
func (h *History) Len() int { return len(h.cells) }

// At gives a cell; 0 is the oldest.
func (h *History) At(i int) string { return h.cells[i] }

// Before finds the newest cell older than i that begins with prefix and is not
// skip: its index, -1 when there is none.
func (h *History) Before(i int, prefix, skip string) int {
	for i = min(i, len(h.cells)) - 1; i >= 0; i-- {
		if strings.HasPrefix(h.cells[i], prefix) && h.cells[i] != skip {
			return i
		}
	}
	return -1
}

// After finds the oldest cell newer than i that begins with prefix and is not
// skip: its index, Len() when there is none.
func (h *History) After(i int, prefix, skip string) int {
	for i = max(i, -1) + 1; i < len(h.cells); i++ {
		if strings.HasPrefix(h.cells[i], prefix) && h.cells[i] != skip {
			return i
		}
	}
	return len(h.cells)
}
