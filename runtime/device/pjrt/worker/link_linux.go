package worker

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A link is the two rings of a worker, in memory that both sides map: requests
// to the plug-in's process and replies from it.
type link struct {
	file              *os.File
	b                 []byte
	requests, replies *ring
}

// linkBytes is the size of the memory; each half begins on a page.
const linkBytes = 2 * halfBytes

const halfBytes = (int(unsafe.Sizeof(ringHead{})) + pageBytes - 1) &^ (pageBytes - 1)

const pageBytes = 4096

func newLink() (*link, error) {
	f, err := newMemory("tpush-requests", linkBytes)
	if err != nil {
		return nil, err
	}
	return mapLink(f)
}

// mapLink maps the memory of a link; it closes f when it fails.
func mapLink(f *os.File) (*link, error) {
	b, err := mapShared(f, linkBytes)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &link{f, b, newRing(b[:halfBytes]), newRing(b[halfBytes:])}, nil
}

// end lets go whoever waits for the other side.
func (l *link) end() {
	l.requests.end()
	l.replies.end()
}

// close unmaps the rings: nobody may use them any more.
func (l *link) close() {
	_ = unix.Munmap(l.b)
	l.file.Close()
}

// newMemory makes n bytes that can be mapped by several processes. Pages that
// nobody wrote to take none.
func newMemory(name string, n int) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := f.Truncate(int64(n)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// mapShared maps n bytes that newMemory made, here or in the parent.
func mapShared(f *os.File, n int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return b, nil
}
