package kernel

import (
	"os"
	"syscall"
)

// Claim takes the pipes of the protocol away from standard input and output:
// a cell that opens /dev/stdin or /dev/stdout must not touch the frames. What
// it writes there then goes to standard error, and it reads nothing.
func Claim() (in, out *os.File, err error) {
	claim := func(fd int, name string, instead int) (*os.File, error) {
		own, err := syscall.Dup(fd)
		if err != nil {
			return nil, err
		}
		syscall.CloseOnExec(own)
		return os.NewFile(uintptr(own), name), syscall.Dup3(instead, fd, 0)
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
