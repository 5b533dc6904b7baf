package safetensors

import (
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// A File is a mapped file: its numbers are read when somebody asks for them.
type File struct {
	Header
	Path string
	mem  []byte
}

// Open maps a file and reads its header.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, bad("", "%s is no file", path)
	}
	h, err := Parse(f, st.Size())
	if err != nil {
		return nil, err
	}
	x := &File{Header: *h, Path: path}
	if st.Size() > 0 {
		x.mem, err = unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	}
	return x, err
}

// Close ends the mapping. The entries stay.
func (f *File) Close() error {
	m := f.mem
	f.mem = nil
	if m == nil {
		return nil
	}
	return unix.Munmap(m)
}

// Read copies the numbers of an entry into dst, which has End-Begin bytes. A
// file that was cut short meanwhile is an error.
func (f *File) Read(e *Entry, dst []byte) (err error) {
	if f.mem == nil {
		return &os.PathError{Op: "read", Path: f.Path, Err: os.ErrClosed}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = bad(e.Name, "the file was cut short since it was opened")
		}
	}()
	copy(dst, f.mem[f.Start+e.Begin:f.Start+e.End])
	return nil
}
