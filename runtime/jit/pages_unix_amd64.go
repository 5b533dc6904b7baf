//go:build amd64 && (linux || darwin || freebsd || netbsd || openbsd)

package jit

import "golang.org/x/sys/unix"

// executable puts code into pages of its own, which are written first and made
// executable then, never both; nil when the system does not allow it. The pages
// stay for the life of the program.
func executable(code []byte) []byte {
	m, err := unix.Mmap(-1, 0, (len(code)+4095)&^4095, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil
	}
	copy(m, code)
	if unix.Mprotect(m, unix.PROT_READ|unix.PROT_EXEC) != nil {
		_ = unix.Munmap(m)
		return nil
	}
	return m
}
