package hlo

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

// Slots is how a fusion's machine code fills the slots of its VLIW words.
type Slots struct {
	Bundles int // words
	Empty   int // words with nothing in these slots
	Units   []SlotUse
}

// A SlotUse is one kind of slot.
type SlotUse struct {
	Name     string // MATMUL, VALU, …
	Capacity int    // slots of a word
	Used     int64  // operations in all words
	Busy     int    // words with at least one
	Full     int    // words with all slots taken
}

// Share is how much of the slots is taken, 0 to 1. It counts the words as they
// are listed, each once, however often a loop runs them.
func (s *Slots) Share(u SlotUse) float64 {
	if s.Bundles == 0 || u.Capacity == 0 {
		return 0
	}
	return float64(u.Used) / float64(s.Bundles) / float64(u.Capacity)
}

// Fullest is the unit with the largest share, nil when nothing is used.
func (s *Slots) Fullest() *SlotUse {
	var best *SlotUse
	for i := range s.Units {
		if u := &s.Units[i]; u.Used > 0 && (best == nil || s.Share(*u) > s.Share(*best)) {
			best = u
		}
	}
	return best
}

// maxSlots bounds the kinds of slots that a listing may name.
const maxSlots = 64

// ParseSlots reads a listing of the use per bundle
// (final_hlo-static-per-bundle-utilization.txt): a line of names, one of
// capacities, then a line a bundle. The error is *FormatError.
func ParseSlots(b []byte) (*Slots, error) {
	in := bufio.NewScanner(bytes.NewReader(b))
	bad := &FormatError{"a listing of bundles"}
	if !in.Scan() || !strings.HasPrefix(in.Text(), "== CAPAC") || !in.Scan() {
		return nil, bad
	}
	names := strings.Split(in.Text(), ",")
	if len(names) > maxSlots || !in.Scan() {
		return nil, bad
	}
	s := &Slots{}
	capacity := strings.Fields(in.Text())
	if len(capacity) != len(names) {
		return nil, bad
	}
	for i, n := range names {
		c, err := strconv.Atoi(capacity[i])
		if err != nil || c < 0 {
			return nil, bad
		}
		s.Units = append(s.Units, SlotUse{Name: strings.TrimSpace(n), Capacity: c})
	}
	if !in.Scan() || !strings.HasPrefix(in.Text(), "== UTIL") {
		return nil, bad
	}
	for in.Scan() {
		use := strings.Fields(in.Text())
		if len(use) == 0 {
			continue
		}
		if len(use) != len(s.Units) {
			return nil, bad
		}
		s.Bundles++
		empty := true
		for i, t := range use {
			n, err := strconv.Atoi(t)
			if err != nil || n < 0 {
				return nil, bad
			}
			u := &s.Units[i]
			u.Used += int64(n)
			if n > 0 {
				u.Busy++
				empty = false
			}
			if n > 0 && n >= u.Capacity {
				u.Full++
			}
		}
		if empty {
			s.Empty++
		}
	}
	if err := in.Err(); err != nil {
		return nil, bad
	}
	return s, nil
}

// SlotsFile gives the name of the fusion that a file of a dump lists, as the
// compiler names such files: a number, the fusion, the number of the pass and
// its name. false for every other file.
func SlotsFile(name string) (fusion string, ok bool) {
	rest, ok := strings.CutSuffix(name, "-final_hlo-static-per-bundle-utilization.txt")
	if !ok {
		return "", false
	}
	_, rest, ok = strings.Cut(rest, "-")
	i := strings.LastIndexByte(rest, '-')
	if !ok || i < 0 {
		return "", false
	}
	return rest[:i], true
}
