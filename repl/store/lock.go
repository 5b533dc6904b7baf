package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A Holder is who has a notebook open.
type Holder struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Path  string    `json:"path"`
}

// A LockedError says that another notebook has the file open.
type LockedError struct {
	Path   string
	Holder Holder
}

// Error names the file and the process.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: is open in another notebook (process %d since %s)", e.Path, e.Holder.PID, e.Holder.Since.Format("15:04"))
}

// A Lock keeps a notebook for this process. The system drops it when the
// process ends, however that happens.
type Lock struct{ f *os.File }

// lock takes the lock file at path; the error is a *LockedError when another has it.
func lock(path, of string, now time.Time) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	var f *os.File
	for {
		var err error
		if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			defer f.Close()
			e := &LockedError{Path: of}
			_ = json.NewDecoder(f).Decode(&e.Holder) // who it is matters less than that it is
			return nil, e
		}
		ours, err := f.Stat()
		there, err2 := os.Stat(path)
		if err == nil && err2 == nil && os.SameFile(ours, there) {
			break
		}
		f.Close() // whoever had it has removed it since it was opened
	}
	b, err := json.Marshal(Holder{os.Getpid(), now, of})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{f}, nil
}

// Release gives the notebook back.
func (l *Lock) Release() {
	if l != nil && l.f != nil {
		_ = os.Remove(l.f.Name()) // before the lock goes, so that no other's is removed
		l.f.Close()
		l.f = nil
	}
}
