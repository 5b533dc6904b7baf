package worker

import (
	"encoding/json"
	"os"

	"golang.org/x/sys/unix"
)

// Child is the whole of a plug-in process: it takes standard input and output
// for the protocol, so that a print of native code cannot break it, and serves.
func Child(plugin, create string) error {
	var options map[string]any
	if err := json.Unmarshal([]byte(create), &options); err != nil {
		return err
	}
	for k, v := range options {
		if f, ok := v.(float64); ok {
			options[k] = int64(f)
		}
	}
	in, err := claim(0, "requests")
	if err != nil {
		return err
	}
	out, err := claim(1, "replies")
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	if err := unix.Dup3(int(null.Fd()), 0, 0); err != nil {
		return err
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		return err
	}
	shared, err := MapShared(os.NewFile(3, "arrays"))
	if err != nil {
		return err
	}
	return Serve(in, out, shared, plugin, options)
}

// claim gives a copy of a descriptor that no library knows.
func claim(fd int, name string) (*os.File, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(n), name), nil
}
