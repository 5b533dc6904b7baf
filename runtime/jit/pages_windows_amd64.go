package jit

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// executable puts code into pages of its own, which are written first and made
// executable then, never both; nil when the system does not allow it. The pages
// stay for the life of the program.
func executable(code []byte) []byte {
	size := uintptr(len(code)+4095) &^ 4095
	at, err := windows.VirtualAlloc(0, size, windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil
	}
	m := unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size) // memory of the system, which Go does not move
	copy(m, code)
	var old uint32
	if windows.VirtualProtect(at, size, windows.PAGE_EXECUTE_READ, &old) != nil {
		_ = windows.VirtualFree(at, 0, windows.MEM_RELEASE)
		return nil
	}
	return m
}
