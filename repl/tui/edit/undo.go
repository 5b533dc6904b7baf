package edit

// A change is one replacement.
type change struct {
	from              Pos
	removed, inserted string
	cursor            Pos  // before it
	joined            bool // to the change before it: undone together
}

// A kind says which changes are undone together.
type kind uint8

const (
	none     kind = iota // alone
	typing               // letters typed one after another
	deleting             // letters deleted one after another
)

// undoBytes bounds what undo remembers.
const undoBytes = 16 << 20

func (e *Editor) record(c change, k kind) {
	c.joined = k != none && k == e.group && len(e.undo) > 0 && adjacent(e.undo[len(e.undo)-1], c)
	e.undo = append(e.undo, c)
	e.redo = nil
	e.group = k
	if len(e.undo)%256 == 0 {
		e.trim()
	}
}

// adjacent says whether c goes on where the change before it ended.
func adjacent(last, c change) bool {
	end := after(last.from, last.inserted)
	return c.from == end || after(c.from, c.removed) == last.from || c.from == last.from
}

// trim forgets the oldest changes when there are too many.
func (e *Editor) trim() {
	n := 0
	for i := len(e.undo) - 1; i >= 0; i-- {
		if n += len(e.undo[i].removed) + len(e.undo[i].inserted) + 64; n > undoBytes && !e.undo[i].joined {
			e.undo = append([]change(nil), e.undo[i+1:]...)
			return
		}
	}
}

// Undo takes the last change back; false when there is none.
func (e *Editor) Undo() bool {
	done := false
	for len(e.undo) > 0 {
		c := e.undo[len(e.undo)-1]
		e.undo = e.undo[:len(e.undo)-1]
		e.put(c.from, after(c.from, c.inserted), c.removed)
		e.redo = append(e.redo, c)
		e.cur = e.clamp(c.cursor)
		done = true
		if !c.joined {
			break
		}
	}
	e.marking = false
	e.moved()
	return done
}

// Redo makes the change that was taken back last again.
func (e *Editor) Redo() bool {
	done := false
	for len(e.redo) > 0 {
		c := e.redo[len(e.redo)-1]
		if done && !c.joined {
			break
		}
		e.redo = e.redo[:len(e.redo)-1]
		e.put(c.from, after(c.from, c.removed), c.inserted)
		e.undo = append(e.undo, c)
		e.cur = e.clamp(after(c.from, c.inserted))
		done = true
	}
	e.marking = false
	e.moved()
	return done
}
