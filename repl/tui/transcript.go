package tui

import "github.com/tpush/tpush/repl/tui/glyph"

// A transcript is a window on the cells. Its place is a cell and a row in it, so
// that nothing outside of the window is ever drawn, whatever the number of cells.
type transcript struct {
	w, h   int
	cell   int // the first cell shown
	row    int // its first row shown
	follow bool
}

// A source gives the rows of cell i, each exactly w cells wide.
type source struct {
	n    int
	rows func(i int) []string
}

// scroll moves the window d rows down.
func (t *transcript) scroll(s source, d int) {
	if s.n == 0 {
		return
	}
	t.settle(s)
	t.follow = false
	t.row += d
	for t.row < 0 && t.cell > 0 {
		t.cell--
		t.row += len(s.rows(t.cell))
	}
	t.row = max(t.row, 0)
	for t.cell < s.n-1 && t.row >= len(s.rows(t.cell)) {
		t.row -= len(s.rows(t.cell))
		t.cell++
	}
	end := *t
	end.bottom(s)
	if t.cell > end.cell || t.cell == end.cell && t.row >= end.row {
		t.cell, t.row, t.follow = end.cell, end.row, true
	}
}

// settle puts the anchor inside of the cells there are.
func (t *transcript) settle(s source) {
	if t.follow {
		t.bottom(s)
		return
	}
	t.cell = min(max(t.cell, 0), max(s.n-1, 0))
	if s.n > 0 {
		t.row = min(max(t.row, 0), max(len(s.rows(t.cell))-1, 0))
	}
}

// bottom shows the last rows.
func (t *transcript) bottom(s source) {
	need := t.h
	for i := s.n - 1; i >= 0; i-- {
		n := len(s.rows(i))
		if n >= need {
			t.cell, t.row = i, n-need
			return
		}
		need -= n
	}
	t.cell, t.row = 0, 0
}

// show scrolls as little as needed so that rows from..to of cell i are in the
// window, the first of them if there is no room for all.
func (t *transcript) show(s source, i, from, to int) {
	if i < 0 || i >= s.n || t.h <= 0 {
		return
	}
	t.settle(s)
	if i < t.cell || i == t.cell && from < t.row {
		t.cell, t.row, t.follow = i, from, false
		return
	}
	// Rows between the anchor and the row wanted.
	dist := to - t.row
	for k := t.cell; k < i; k++ {
		if dist += len(s.rows(k)); dist > 10*t.h+to {
			break // far below
		}
	}
	if dist < t.h {
		return
	}
	t.follow = false
	if to-from >= t.h {
		t.cell, t.row = i, from
		return
	}
	t.cell, t.row = i, to-t.h+1
	for t.row < 0 && t.cell > 0 {
		t.cell--
		t.row += len(s.rows(t.cell))
	}
	t.row = max(t.row, 0)
}

// A spot is a row on the screen: which cell's, and which of its rows.
type spot struct{ cell, row int }

// visible gives exactly h rows and says what each shows; cell -1 is nothing.
func (t *transcript) visible(s source, rows []string, spots []spot) ([]string, []spot) {
	rows, spots = rows[:0], spots[:0]
	t.settle(s)
	skip := t.row
	for i := t.cell; i < s.n && len(rows) < t.h; i++ {
		r := s.rows(i)
		skip = min(skip, len(r))
		for k := skip; k < len(r) && len(rows) < t.h; k++ {
			rows = append(rows, r[k])
			spots = append(spots, spot{i, k})
		}
		skip = 0
	}
	for len(rows) < t.h {
		rows = append(rows, glyph.Spaces(t.w))
		spots = append(spots, spot{-1, 0})
	}
	return rows, spots
}
