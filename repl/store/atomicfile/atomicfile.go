// Package atomicfile writes files whole or not at all.
//
// It imports nothing of this module. Invariant: after a crash at any moment
// the path holds what it held or all that was to be written.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write gives path the content that write produces, and its size in bytes. It
// writes beside the file, syncs and renames. A link stays a link, a file keeps
// its permissions, a new one gets perm. What is no regular file (a device, a
// pipe) is written and never replaced. The error is a *fs.PathError that names path.
func Write(path string, perm fs.FileMode, write func(io.Writer) error) (int64, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return 0, &fs.PathError{Op: "write", Path: path, Err: errors.New("is a directory")}
	case err == nil && !info.Mode().IsRegular():
		return special(path, write)
	case err == nil:
		perm = info.Mode().Perm()
		if perm&0o200 == 0 { // renaming would get around it
			return 0, &fs.PathError{Op: "write", Path: path, Err: fs.ErrPermission}
		}
	}
	n, err := replace(path, perm, write)
	if err != nil {
		return 0, &fs.PathError{Op: "write", Path: path, Err: cause(err)}
	}
	return n, nil
}

func replace(path string, perm fs.FileMode, write func(io.Writer) error) (int64, error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".tpush-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(tmp.Name()) // fails when it was renamed
	size, err := fill(tmp, write)
	if err == nil {
		err = tmp.Chmod(perm)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return 0, err
	}
	if d, err := os.Open(dir); err == nil { // the name is durable once the folder is; some file systems cannot
		_ = d.Sync()
		d.Close()
	}
	return size, nil
}

func special(path string, write func(io.Writer) error) (int64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	size, err := fill(f, write)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return size, err
}

// fill writes through a buffer and counts.
func fill(w io.Writer, write func(io.Writer) error) (int64, error) {
	c := &counter{w: bufio.NewWriter(w)}
	err := write(c)
	if err == nil {
		err = c.w.Flush()
	}
	return c.n, err
}

type counter struct {
	w *bufio.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// cause is what the system said, without the name of a temporary file.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
