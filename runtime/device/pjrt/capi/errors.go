package capi

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A Code is a status code of Abseil, which PJRT uses.
type Code int

// The codes that callers tell apart.
const (
	Unknown           Code = 2
	InvalidArgument   Code = 3
	NotFound          Code = 5
	ResourceExhausted Code = 8
	Unimplemented     Code = 12
	Internal          Code = 13
)

var codeNames = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// String is the name of the code.
func (c Code) String() string {
	if c >= 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", int(c))
}

// An Error is what the plug-in answered instead of a result.
type Error struct {
	Code    Code
	Message string
}

// Error gives code and text, as the plug-in wrote it.
func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// takeError reads an error of the plug-in and frees it.
func (p *Plugin) takeError(h uintptr) error {
	text, code, done := &padded[inSpanArgs]{}, &padded[wordArgs]{}, &padded[handleArgs]{}
	text.args.size, text.args.in = unsafe.Sizeof(text.args), h
	code.args.size, code.args.in = unsafe.Sizeof(code.args), h
	done.args.size, done.args.h = unsafe.Sizeof(done.args), h
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(text)
	pin.Pin(code)
	pin.Pin(done)
	purego.SyscallN(p.fns[slotErrorMessage], uintptr(unsafe.Pointer(text)))
	if r, _, _ := purego.SyscallN(p.fns[slotErrorGetCode], uintptr(unsafe.Pointer(code))); r != 0 {
		code.args.out = uintptr(Unknown)
	}
	e := &Error{Code(int32(code.args.out)), goString(text.args.ptr, text.args.n)}
	purego.SyscallN(p.fns[slotErrorDestroy], uintptr(unsafe.Pointer(done)))
	return e
}
