package tui

import (
	"strings"
	"time"

	"github.com/tpush/tpush/repl/kernel"
)

// A status is how far a cell is.
type status uint8

const (
	idle status = iota // never ran, or its output was cleared
	queued
	running
	okay
	failed
	interrupted
	aborted // an earlier cell of the same run failed
)

// A cell is a piece of the notebook: Go, or a command.
type cell struct {
	id     int    // within this screen
	count  int    // of In[n]; 0 before it ran
	order  int    // when it ran under the kernel before
	source string // as it stands
	ran    string // as it ran last
	title  string // of its separator in the file
	heads  bool   // a separator stands before it in the file
	expect string // expectation blocks that follow it in the file
	cursor int    // where the cursor was in it, a byte

	status   status
	outputs  []*output
	reply    kernel.ExecuteReply
	started  time.Time
	fold     bool
	restored bool         // what it shows is from an earlier session
	stale    []staleInput // what it read and a later run changed

	breaks   map[int]bool // lines with breakpoints
	stop     *stop        // where it stands, while the debugger holds it
	stopLine int          // the line that some cell is stopped at
	aside    bool         // it was answered at a stop and is no part of the notebook
	again    bool         // a kernel that replaces this one must hear it, too
	failing  bool         // it runs again on a new kernel and failed on the one before

	version int // of all of the above
	cache   rowCache
}

// command says whether the cell is a command and not Go.
func (c *cell) command() bool { return isCommand(c.source) }

// touch notes that something that is drawn has changed.
func (c *cell) touch() { c.version++ }

// edited says whether the text is another than what ran.
func (c *cell) edited() bool { return c.ran != "" && c.ran != c.source }

// lines gives the text line by line.
func (c *cell) lines() []string { return strings.Split(c.source, "\n") }

// failures are the errors among its outputs.
func (c *cell) failures() []*output {
	var list []*output
	for _, o := range c.outputs {
		if o.kind == outError {
			list = append(list, o)
		}
	}
	return list
}

// A notebook is the cells in order, and what undo needs.
type notebook struct {
	cells  []*cell
	nextID int
	undos  []snapshot
	redos  []snapshot
}

// A snapshot is the order and the texts of the cells at one time.
type snapshot struct {
	cells   []*cell
	sources []string
	at      int // the selected cell
}

// undoSteps is how many changes of the notebook can be taken back.
const undoSteps = 200

func (n *notebook) add(at int, source string) *cell {
	n.nextID++
	c := &cell{id: n.nextID, source: source}
	at = min(max(at, 0), len(n.cells))
	n.cells = append(n.cells[:at:at], append([]*cell{c}, n.cells[at:]...)...)
	return c
}

// append is add at the end, without a copy of the list.
func (n *notebook) append(source string) *cell {
	n.nextID++
	c := &cell{id: n.nextID, source: source}
	n.cells = append(n.cells, c)
	return c
}

// extend puts new cells behind those that are there.
func (n *notebook) extend(list []*cell) {
	for _, c := range list {
		n.nextID++
		c.id = n.nextID
		n.cells = append(n.cells, c)
	}
}

func (n *notebook) index(c *cell) int {
	for i := len(n.cells) - 1; i >= 0; i-- {
		if n.cells[i] == c {
			return i
		}
	}
	return -1
}

// remember keeps the notebook as it is, before a change.
func (n *notebook) remember(at int) {
	n.undos = append(n.undos, n.snap(at))
	if len(n.undos) > undoSteps {
		n.undos = n.undos[1:]
	}
	n.redos = nil
}

func (n *notebook) snap(at int) snapshot {
	s := snapshot{cells: append([]*cell(nil), n.cells...), at: at}
	for _, c := range n.cells {
		s.sources = append(s.sources, c.source)
	}
	return s
}

func (n *notebook) restore(s snapshot) int {
	n.cells = s.cells
	for i, c := range n.cells {
		if c.source != s.sources[i] {
			c.source = s.sources[i]
			c.touch()
		}
	}
	return min(max(s.at, 0), max(len(n.cells)-1, 0))
}

// undo takes the last change back; it gives the cell to select.
func (n *notebook) undo(at int) (int, bool) { return n.swap(&n.undos, &n.redos, at) }

func (n *notebook) redo(at int) (int, bool) { return n.swap(&n.redos, &n.undos, at) }

func (n *notebook) swap(from, to *[]snapshot, at int) (int, bool) {
	if len(*from) == 0 {
		return at, false
	}
	last := (*from)[len(*from)-1]
	*from = (*from)[:len(*from)-1]
	*to = append(*to, n.snap(at))
	return n.restore(last), true
}

func (n *notebook) remove(i int) *cell {
	c := n.cells[i]
	n.cells = append(n.cells[:i:i], n.cells[i+1:]...)
	return c
}

// byCount finds the cell that ran as In[n] last.
func (n *notebook) byCount(count int) *cell {
	for i := len(n.cells) - 1; i >= 0; i-- {
		if n.cells[i].count == count {
			return n.cells[i]
		}
	}
	return nil
}
