// Package store keeps what a user made on disk: notebooks, their outputs,
// autosaves, and the history of cells.
//
// It knows no session and no screen. It imports atomicfile of this module.
// Invariant: a file is either what it was or what was written, whole; a crash
// at any moment loses at most what came after the last autosave.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tpush/tpush/repl/store/atomicfile"
)

// A Stamp tells one state of a file from another.
type Stamp struct {
	Exists bool
	Sum    string // SHA-256 of the bytes, hexadecimal
}

func stampOf(b []byte) Stamp {
	sum := sha256.Sum256(b)
	return Stamp{true, hex.EncodeToString(sum[:])}
}

// maxFileBytes bounds what is opened as a notebook: more is no text that somebody wrote.
const maxFileBytes = 64 << 20

// A TooLargeError says that a file is too large for a notebook.
type TooLargeError struct {
	Path  string
	Bytes int64
}

// Error gives the sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: %d bytes are no notebook, the limit is %d", e.Path, e.Bytes, int64(maxFileBytes))
}

// A ChangedError says that a file is no longer what it was when it was opened
// or saved.
type ChangedError struct {
	Path    string
	Removed bool
}

// Error says what happened to the file.
func (e *ChangedError) Error() string {
	if e.Removed {
		return e.Path + ": was removed by another program"
	}
	return e.Path + ": was changed by another program"
}

// A File is a notebook on disk.
type File struct {
	Path  string
	stamp Stamp
}

// Open reads a notebook. A file that does not exist is empty and will be made.
func Open(path string) (*File, []byte, error) {
	f := &File{Path: path}
	b, err := read(path)
	if os.IsNotExist(err) {
		if _, derr := os.Stat(filepath.Dir(path)); derr != nil {
			return nil, nil, derr
		}
		return f, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f.stamp = stampOf(b)
	return f, b, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > maxFileBytes {
		return nil, &TooLargeError{path, info.Size()}
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err == nil && len(b) > maxFileBytes {
		err = &TooLargeError{path, int64(len(b))}
	}
	return b, err
}

// Changed says whether another program changed the file since it was opened or
// saved: a *ChangedError, or what the system says of it, or nil.
func (f *File) Changed() error {
	b, err := read(f.Path)
	switch {
	case os.IsNotExist(err) && f.stamp.Exists:
		return &ChangedError{f.Path, true}
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	case stampOf(b) != f.stamp:
		return &ChangedError{Path: f.Path}
	}
	return nil
}

// Save writes the notebook. It refuses with a *ChangedError when another
// program changed the file meanwhile, unless over is set.
func (f *File) Save(text []byte, over bool) error {
	if !over {
		if err := f.Changed(); err != nil {
			return err
		}
	}
	if err := write(f.Path, 0o644, text); err != nil {
		return err
	}
	f.stamp = stampOf(text)
	return nil
}

func write(path string, perm os.FileMode, b []byte) error {
	_, err := atomicfile.Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	return err
}
