package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Session is a notebook that is open: its lock and where it is autosaved.
// The autosave is removed when the session is closed in good order, so one
// that is there and that nobody holds is what a crash left; see Kept.
type Session struct {
	path string // "" when the notebook has no name yet
	base string // of its files in the folder, without the ending
	lock *Lock
	last string // text of the last autosave
}

// A Saved is an autosave.
type Saved struct {
	Path string    `json:"path,omitempty"` // of the notebook, "" when it had no name
	At   time.Time `json:"at"`
	File Stamp     `json:"file"` // the notebook when it was written
	Text string    `json:"text"`

	file string // that holds it
}

// sessionsFolder is under the state folder.
const sessionsFolder = "sessions"

// Begin opens a session of a notebook; path is "" for one without a name. With
// a *LockedError, which says that another process has it, comes a session all
// the same: what it keeps stands beside what the other keeps. state is the
// folder of config.StateFolder; "" makes a session that keeps nothing.
func Begin(state, path string, now time.Time) (*Session, error) {
	if state == "" {
		return &Session{path: path}, nil
	}
	if path == "" {
		return beside(filepath.Join(state, sessionsFolder, unnamed+now.Format(stampLayout)), "", now)
	}
	abs, base, err := baseOf(state, path)
	if err != nil {
		return nil, err
	}
	l, err := lock(base+".lock", abs, now)
	if held, ok := err.(*LockedError); ok {
		s, err := beside(base+secondMark+now.Format(stampLayout), abs, now)
		if err != nil {
			return nil, err
		}
		return s, held
	}
	if err != nil {
		return nil, err
	}
	s := &Session{path: abs, base: base, lock: l}
	if sv := readSaved(s.Where()); sv != nil { // it stays until somebody answered for it, whatever is typed meanwhile
		if err := os.Rename(s.Where(), base+leftMark+sv.At.Format(stampLayout)+".json"); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Parts of the names of autosaves: of a notebook without a name, of a second
// one on the same file, of what a crash left.
const (
	unnamed     = "unnamed-"
	secondMark  = "+"
	leftMark    = "~"
	stampLayout = "20060102-150405"
)

// baseOf gives the whole path of a notebook and where its session is kept.
func baseOf(state, path string) (abs, base string, err error) {
	if abs, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	sum := sha256.Sum256([]byte(abs))
	name := strings.TrimSuffix(filepath.Base(abs), filepath.Ext(abs)) + "-" + hex.EncodeToString(sum[:8])
	return abs, filepath.Join(state, sessionsFolder, name), nil
}

// beside opens a session under the first free name that begins with base.
func beside(base, path string, now time.Time) (*Session, error) {
	for n := 1; ; n++ {
		name := base + suffix(n)
		l, err := lock(name+".lock", path, now)
		if _, taken := err.(*LockedError); taken {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(name + ".json"); err == nil { // what a crash left of the same second
			l.Release()
			continue
		}
		return &Session{path: path, base: name, lock: l}, nil
	}
}

func suffix(n int) string {
	if n == 1 {
		return ""
	}
	return "-" + strconv.Itoa(n)
}

// Autosave keeps text unless it is what was kept last. file is the notebook as
// it is on disk.
func (s *Session) Autosave(text string, file *File, now time.Time) error {
	if s.base == "" || text == s.last {
		return nil
	}
	sv := Saved{Path: s.path, At: now, Text: text}
	if file != nil {
		sv.File = file.stamp
	}
	b, err := json.Marshal(sv)
	if err != nil {
		return err
	}
	if err := write(s.base+".json", 0o600, b); err != nil {
		return err
	}
	s.last = text
	return nil
}

// Where is the file of the autosave, "" when nothing is kept.
func (s *Session) Where() string {
	if s.base == "" {
		return ""
	}
	return s.base + ".json"
}

// Rename makes the session one of the notebook at path, which save writes once
// the new name is taken. The autosave of the old name goes when it has succeeded.
func (s *Session) Rename(state, path string, now time.Time, save func() error) error {
	next, err := Begin(state, path, now)
	if err == nil {
		err = save()
	}
	if err != nil {
		if next != nil {
			next.Close(true)
		}
		return err
	}
	s.Close(true)
	*s = *next
	return nil
}

// Close ends the session. The autosave is removed when saved says that the
// notebook needs none.
func (s *Session) Close(saved bool) {
	if s.base != "" && saved {
		_ = os.Remove(s.base + ".json")
	}
	s.lock.Release()
}

// Kept lists what crashes left of the notebook at path, or for "" of those
// without a name, the newest first. What says the same as text, which is what
// the file holds, is dropped.
func Kept(state, path, text string, now time.Time) []Saved {
	if state == "" {
		return nil
	}
	patterns := []string{filepath.Join(state, sessionsFolder, unnamed+"*.json")}
	if path != "" {
		_, base, err := baseOf(state, path)
		if err != nil {
			return nil
		}
		patterns = []string{quoteGlob(base+leftMark) + "*.json", quoteGlob(base+secondMark) + "*.json"}
	}
	var list []Saved
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			l, err := lock(lockOf(f), "", now)
			if err != nil { // it is open
				continue
			}
			sv := readSaved(f)
			switch {
			case sv == nil:
			case strings.TrimSpace(sv.Text) == "" || sv.Text == text:
				_ = os.Remove(f)
			default:
				list = append(list, *sv)
			}
			l.Release()
		}
	}
	slices.SortFunc(list, func(a, b Saved) int { return b.At.Compare(a.At) })
	return list
}

// quoteGlob makes a path that filepath.Glob takes as it is.
func quoteGlob(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`*?[\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func lockOf(file string) string { return strings.TrimSuffix(file, ".json") + ".lock" }

// Drop removes an autosave that Kept listed, unless another notebook has taken it since.
func (s *Saved) Drop(now time.Time) error {
	l, err := lock(lockOf(s.file), "", now)
	if err != nil {
		return err
	}
	defer l.Release()
	if err := os.Remove(s.file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// readSaved reads an autosave; nil when it cannot be read, or is none.
func readSaved(file string) *Saved {
	b, err := read(file)
	if err != nil {
		return nil
	}
	var sv Saved
	if json.Unmarshal(b, &sv) != nil {
		return nil
	}
	sv.file = file
	return &sv
}
