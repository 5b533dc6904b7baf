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
	f, err := newMemory("tpush-arrays", sharedBytes)
	if err != nil {
		return nil, err
	}
	b, err := mapShared(f, sharedBytes)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &arena{file: f, b: b}, nil
}

// take gives n bytes, aligned to a page.
func (a *arena) take(n int) (int, bool) {
	if n > len(a.b)-a.used {
		return 0, false
	}
	at := a.used
	a.used += (n + pageBytes - 1) &^ (pageBytes - 1)
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
