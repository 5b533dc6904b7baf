package panel

import (
	"encoding/json"
	"strings"
)

// decode takes a snapshot; what was there stays when it is none.
func decode[S any](data json.RawMessage, into **S) error {
	var s S
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*into = &s
	return nil
}

// A table is what the panels have in common that are one list of rows: a
// snapshot, the rows of it that the filter lets through, and a cursor.
type table[S any] struct {
	data  *S    // nil before the first
	kept  []int // rows of data, in the order they are shown
	list  list
	fresh bool // what the kernel is asked for changes with the cursor

	// rows chooses and orders the rows of a snapshot, and says what each stands for.
	rows func(data *S, keeps func(texts ...string) bool) (kept []int, sels []Selection)
}

// Load implements Panel.
func (p *table[S]) Load(data json.RawMessage) error {
	if err := decode(data, &p.data); err != nil {
		return err
	}
	p.arrange()
	return nil
}

func (p *table[S]) arrange() {
	if p.data == nil {
		return
	}
	var sels []Selection
	p.kept, sels = p.rows(p.data, p.list.keeps)
	p.list.set(sels)
}

// at is the row of the snapshot under the cursor; false when there are none.
func (p *table[S]) at() (int, bool) {
	if p.list.at >= len(p.kept) {
		return 0, false
	}
	return p.kept[p.list.at], true
}

// every keeps n rows as they are.
func every(n int) []int {
	kept := make([]int, n)
	for i := range kept {
		kept[i] = i
	}
	return kept
}

// mark is the row of the cursor, where it is drawn.
func (p *table[S]) mark(ctx Context) int {
	if !ctx.Focused {
		return -1
	}
	return p.list.at
}

// Do implements Panel: the cursor, choosing a row, the filter.
func (p *table[S]) Do(action string) (Effect, bool) {
	if p.list.move(action) {
		return Effect{Refresh: p.fresh}, true
	}
	name, arg, _ := strings.Cut(action, " ")
	switch name {
	case "choose":
		s, ok := p.list.now()
		return selected(s, ok), true
	case "filter":
		p.list.filter = strings.TrimSpace(arg)
		p.arrange()
		return Effect{Refresh: true}, true
	}
	return Effect{}, false
}

// Select implements Panel.
func (p *table[S]) Select(s Selection) { p.list.choose(s) }
