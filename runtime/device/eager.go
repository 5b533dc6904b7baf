package device

import "github.com/tpush/tpush/runtime/op"

// A Single is one run of a program of one result: a Launch without its lists.
type Single struct {
	In    []Buffer // per graph input
	Attrs op.Attrs // of the only node
	Owner Owner
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

// A BulkFreer is a device that frees many buffers quicker than one by one.
type BulkFreer interface {
	Device
	// FreeAll is Free of each.
	FreeAll(bs []Buffer)
}
