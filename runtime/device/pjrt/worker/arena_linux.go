package worker

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// sharedBytes is the size of the memory that both sides map. Pages that
// nobody wrote to take none.
const sharedBytes = 16 << 30

// keptBytes is how much of it stays in memory between uses.
const keptBytes = 64 << 20

// An arena hands out places of the shared memory, one after the other.
type arena struct {
	file *os.File
	b    []byte
	used int
}

func newArena() (*arena, error) {
	fd, err := unix.MemfdCreate("tpush-arrays", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "tpush-arrays")
	if err := f.Truncate(sharedBytes); err != nil {
		f.Close()
		return nil, err
	}
	b, err := MapShared(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &arena{file: f, b: b}, nil
}

// MapShared maps the memory that the parent passed.
func MapShared(f *os.File) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, sharedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return b, nil
}

// take gives n bytes, aligned to a page.
func (a *arena) take(n int) (int, bool) {
	const page = 4096
	if n > len(a.b)-a.used {
		return 0, false
	}
	at := a.used
	a.used += (n + page - 1) &^ (page - 1)
	return at, true
}

// reset makes all of it free again, once the other side is done with it.
func (a *arena) reset() {
	if a.used > keptBytes {
		_ = unix.Fallocate(int(a.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, keptBytes, int64(a.used-keptBytes))
	}
	a.used = 0
}

func (a *arena) close() {
	if a.b != nil {
		_ = unix.Munmap(a.b)
		a.b = nil
		a.file.Close()
	}
}

// isolate keeps the terminal's signals from the process and ends it with its parent.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
