// Package capi calls a PJRT plug-in through its C interface, without cgo.
//
// It is the only package that knows the layout of the interface's structures.
// It decides nothing: no cache, no retries, no policy. It imports nothing of
// this module. Invariant: a structure that C sees is pinned, starts with its
// size and ends in zeros, so a plug-in may be newer or older than our layout.
//
// Native code can abort, hang or write to standard error. So only a process
// made for it may load a plug-in: package worker.
package capi

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A Plugin is a loaded library. It is never unloaded.
type Plugin struct {
	Major, Minor int // of the interface
	TableBytes   int
	head         *apiHead
	fns          []uintptr
	handles      pool[padded[handleArgs]]
	frames       pool[frame]
}

// An Extension is one entry of the chain of extensions.
type Extension struct {
	Type  int // as the interface numbers them: 1 profiler, 4 layouts, 16 TPU topology, 17 TPU executable, …
	Bytes int
	at    unsafe.Pointer
}

// The oldest interface that is accepted: structure sizes below it differ.
const (
	wantMajor  = 0
	leastMinor = 81
)

// A VersionError says that a library speaks another version of the interface.
type VersionError struct {
	Path         string
	Major, Minor int
}

// Error gives both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: PJRT interface %d.%d, want %d.%d or a later minor", e.Path, e.Major, e.Minor, wantMajor, leastMinor)
}

// A LoadError says that a library cannot be loaded, or is no plug-in.
type LoadError struct{ Path, Why string }

// Error names the library.
func (e *LoadError) Error() string { return e.Path + ": " + e.Why }

// Load opens a library and initialises the plug-in.
func Load(path string) (*Plugin, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, &LoadError{path, err.Error()}
	}
	sym, err := purego.Dlsym(lib, "GetPjrtApi")
	if err != nil {
		return nil, &LoadError{path, "no PJRT plug-in: it has no function GetPjrtApi"}
	}
	table, _, _ := purego.SyscallN(sym)
	if table == 0 {
		return nil, &LoadError{path, "GetPjrtApi gave nothing"}
	}
	head := (*apiHead)(pointer(table))
	p := &Plugin{Major: int(head.major), Minor: int(head.minor), TableBytes: int(head.size), head: head}
	if p.Major != wantMajor || p.Minor < leastMinor {
		return nil, &VersionError{path, p.Major, p.Minor}
	}
	n := (head.size - unsafe.Sizeof(*head)) / unsafe.Sizeof(uintptr(0))
	p.fns = unsafe.Slice((*uintptr)(unsafe.Add(unsafe.Pointer(head), unsafe.Sizeof(*head))), n)
	return p, call(p, slotPluginInitialize, &padded[noArgs]{})
}

// Functions is how many functions the table holds.
func (p *Plugin) Functions() int { return len(p.fns) }

// Extensions walks the chain.
func (p *Plugin) Extensions() []Extension {
	var all []Extension
	for at := p.head.ext; at != 0; {
		x := (*extensionHead)(pointer(at))
		all = append(all, Extension{int(x.typ), int(x.size), pointer(at)})
		at = x.next
	}
	return all
}

// Attributes are the plug-in's own named values.
func (p *Plugin) Attributes() (map[string]any, error) {
	var a padded[spanArgs]
	if err := call(p, slotPluginAttributes, &a); err != nil {
		return nil, err
	}
	return decodeValues(a.args.ptr, a.args.n), nil
}

// tailBytes is the room of zeros behind every structure: a plug-in newer than
// our layout may read fields there.
const tailBytes = 64

// padded is a structure with its room. It must be on the heap: a goroutine's
// stack may move while C holds the address.
type padded[T any] struct {
	args T
	tail [tailBytes]byte
}

// pointer turns an address that C gave into a pointer.
func pointer(u uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&u)) }

// call calls the function in a slot with a structure that it pins.
func call[T any](p *Plugin, slot int, a *padded[T]) error {
	var pin runtime.Pinner
	pin.Pin(a)
	defer pin.Unpin()
	return callPinned(p, slot, unsafe.Pointer(a), unsafe.Sizeof(a.args))
}

// callPinned calls the function in a slot with a structure that is pinned, and
// fills in its size.
func callPinned(p *Plugin, slot int, a unsafe.Pointer, size uintptr) error {
	if slot >= len(p.fns) || p.fns[slot] == 0 {
		return &Error{Code: Unimplemented, Message: fmt.Sprintf("this plug-in lacks function %d of the interface", slot)}
	}
	*(*uintptr)(a) = size
	r, _, _ := purego.SyscallN(p.fns[slot], uintptr(a))
	if r == 0 {
		return nil
	}
	return p.takeError(r)
}

// callWord calls a function that takes a handle and returns a word.
func (p *Plugin) callWord(slot int, h uintptr) (uintptr, error) {
	a := &padded[wordArgs]{}
	a.args.in = h
	err := call(p, slot, a)
	return a.args.out, err
}

// callString calls a function that takes a handle and returns text.
func (p *Plugin) callString(slot int, h uintptr) (string, error) {
	a := &padded[inSpanArgs]{}
	a.args.in = h
	if err := call(p, slot, a); err != nil {
		return "", err
	}
	return goString(a.args.ptr, a.args.n), nil
}

// callSpan calls a function that takes a handle and returns a list of T.
func callSpan[T any](p *Plugin, slot int, h uintptr) ([]T, error) {
	a := &padded[inSpanArgs]{}
	a.args.in = h
	if err := call(p, slot, a); err != nil || a.args.n == 0 {
		return nil, err
	}
	return append([]T(nil), unsafe.Slice((*T)(a.args.ptr), a.args.n)...), nil
}

func goString(p unsafe.Pointer, n uintptr) string {
	if p == nil {
		return ""
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// pinBytes gives the address of b for C; b must be pinned until C is done.
func pinBytes(pin *runtime.Pinner, b []byte) (unsafe.Pointer, uintptr) {
	if len(b) == 0 {
		return nil, 0
	}
	pin.Pin(&b[0])
	return unsafe.Pointer(&b[0]), uintptr(len(b))
}
