package stdpipe

import (
	"os"
	"syscall"
)

// Claim takes the pipes of a protocol away from standard input and output:
// what opens /dev/stdin or prints must not touch the frames. It then reads
// nothing, and what it prints goes to standard error.
func Claim() (in, out *os.File, err error) {
	claim := func(fd int, name string, instead int) (*os.File, error) {
		own, err := syscall.Dup(fd)
		if err != nil {
			return nil, os.NewSyscallError("dup", err)
		}
		syscall.CloseOnExec(own)
		return os.NewFile(uintptr(own), name), os.NewSyscallError("dup3", syscall.Dup3(instead, fd, 0))
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if in, err = claim(0, "requests", int(null.Fd())); err != nil {
		return nil, nil, err
	}
	out, err = claim(1, "replies", 2)
	return in, out, err
}
