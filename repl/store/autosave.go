package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Session is a notebook that is open: its lock and where it is autosaved.
// The autosave is removed when the session is closed in good order, so one
// that is there and that nobody holds is what a crash left.
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
}

// sessionsFolder is under the state folder.
const sessionsFolder = "sessions"

// Begin opens a session of a notebook; path is "" for one without a name. A
// *LockedError says that another process has it. state is the folder of
// config.StateFolder; "" makes a session that keeps nothing.
func Begin(state, path string, now time.Time) (*Session, error) {
	if state == "" {
		return &Session{path: path}, nil
	}
	dir := filepath.Join(state, sessionsFolder)
	if path == "" {
		for n := 1; ; n++ {
			base := filepath.Join(dir, "unnamed-"+now.Format("20060102-150405")+suffix(n))
			l, err := lock(base+".lock", "", now)
			if _, taken := err.(*LockedError); taken {
				continue
			}
			if err != nil {
				return nil, err
			}
			return &Session{base: base, lock: l}, nil
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	sum := sha256.Sum256([]byte(abs))
	base := filepath.Join(dir, strings.TrimSuffix(filepath.Base(abs), filepath.Ext(abs))+"-"+hex.EncodeToString(sum[:8]))
	l, err := lock(base+".lock", abs, now)
	if err != nil {
		return nil, err
	}
	return &Session{path: abs, base: base, lock: l}, nil
}

func suffix(n int) string {
	if n == 1 {
		return ""
	}
	return "-" + string(rune('a'+(n-2)%26)) + strings.Repeat("z", (n-2)/26)
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

// Recovered gives the autosave that a crash left for this notebook: nil when
// there is none, or when it says what text says.
func (s *Session) Recovered(text string) *Saved {
	if s.base == "" {
		return nil
	}
	sv := readSaved(s.base + ".json")
	if sv == nil || sv.Text == text {
		return nil
	}
	return sv
}

// Rename makes the session one of the notebook at path, which was saved under
// a name. The autosave of the old name goes.
func (s *Session) Rename(state, path string, now time.Time) error {
	next, err := Begin(state, path, now)
	if err != nil {
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

// Orphans lists the autosaves of notebooks without a name that a crash left,
// the newest first.
func Orphans(state string, now time.Time) []Saved {
	files, _ := filepath.Glob(filepath.Join(state, sessionsFolder, "unnamed-*.json"))
	var list []Saved
	for _, f := range files {
		l, err := lock(strings.TrimSuffix(f, ".json")+".lock", "", now)
		if err != nil { // it is open
			continue
		}
		if sv := readSaved(f); sv != nil && strings.TrimSpace(sv.Text) != "" {
			list = append(list, *sv)
		}
		l.Release()
	}
	slices.SortFunc(list, func(a, b Saved) int { return b.At.Compare(a.At) })
	return list
}

// DropOrphans removes the autosaves that Orphans lists.
func DropOrphans(state string, now time.Time) {
	files, _ := filepath.Glob(filepath.Join(state, sessionsFolder, "unnamed-*.json"))
	for _, f := range files {
		if l, err := lock(strings.TrimSuffix(f, ".json")+".lock", "", now); err == nil {
			_ = os.Remove(f)
			l.Release()
		}
	}
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
	return &sv
}
