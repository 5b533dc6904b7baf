package device

import "github.com/tpush/tpush/runtime/op"

// A Single is one run of a program of one result: a Launch without its lists.
type Single struct {
	In     []Buffer // per graph input
	Attrs  op.Attrs // of the only node
	Tenant Tenant
	Shelf  *Shelf // with the home of the result; nil: it has one of its own
	At     int    // its place there
	// Late allows that the numbers are computed when somebody looks at them.
	Late bool
}

// A SingleRunner is an executable that may take a shorter way than Run, for
// programs that are one operation launched alone.
type SingleRunner interface {
	Executable
	// Singly says whether this program has the shorter way.
	Singly() bool
	// RunSingle computes the result. When it gives false nothing has happened,
	// and Run says why.
	RunSingle(s *Single) (Buffer, bool)
}

// A Several is one run of a program of some small results: a Launch without what
// only larger programs need. They may be computed when somebody looks at them.
type Several struct {
	In    []Buffer   // per graph input
	Attrs []op.Attrs // per graph node; none: those of the graph
	Out   []Result   // per graph output
}

// A Result is one of them: its owner, where it notes its block of HBM, and the
// buffer that the run makes.
type Result struct {
	Tenant
	Shelf  *Shelf // nil: it has a home of its own
	At     int
	Buffer Buffer
}

// A SeveralRunner is an executable that may take a shorter way than Run for
// small results.
type SeveralRunner interface {
	Executable
	// Severally says whether this program has the shorter way.
	Severally() bool
	// RunSeveral computes the results. When it gives false nothing has happened,
	// and Run says why.
	RunSeveral(s *Several) bool
}

// A Repeat is several runs of a program, one after the other: the operations of a
// loop, each turn wired to the one before in the same way.
type Repeat struct {
	In    []Buffer   // per graph input, of the first run
	Next  []int      // per graph input: which output of the run before it is in the others; -1: the same again
	Attrs []op.Attrs // per graph node, in each run
	Out   []Result   // per run and graph output
}

// A Repeater is an executable that may take a shorter way than several runs.
type Repeater interface {
	SeveralRunner
	// Repeats says whether this program has the shorter way.
	Repeats() bool
	// RunRepeat is RunSeveral again and again. When it gives false nothing has happened.
	RunRepeat(r *Repeat) bool
}

// A Giver is a buffer that can give the memory of its numbers on the host back
// before it is garbage.
type Giver interface {
	Buffer
	// Give gives the memory back unless somebody was shown the numbers; the
	// buffer has none afterwards and may not be used. It is freed already.
	Give() bool
}

// A Finisher is a device that may compute results when somebody looks at them.
type Finisher interface {
	Device
	// Finish computes everything launched.
	Finish()
}
