package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.tpu")
	f, text, err := Open(path)
	if err != nil || len(text) > 0 {
		t.Fatalf("%q %v", text, err)
	}
	if err := f.Save([]byte("one\n"), false); err != nil {
		t.Fatal(err)
	}
	if err := f.Changed(); err != nil {
		t.Errorf("nobody changed it: %v", err)
	}
	if err := os.WriteFile(path, []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var ce *ChangedError
	if err := f.Save([]byte("two\n"), false); !errors.As(err, &ce) || ce.Removed {
		t.Errorf("got %v, want a ChangedError", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "other\n" {
		t.Errorf("the other's text is lost: %q", got)
	}
	if err := f.Save([]byte("two\n"), true); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Changed(); !errors.As(err, &ce) || !ce.Removed {
		t.Errorf("got %v, want a removed file", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge")
	if err := os.WriteFile(huge, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	var tl *TooLargeError
	if _, _, err := Open(huge); !errors.As(err, &tl) {
		t.Errorf("huge: %v", err)
	}
	for _, p := range []string{dir, filepath.Join(dir, "no", "such.tpu")} {
		if _, _, err := Open(p); err == nil {
			t.Errorf("%s: no error", p)
		}
	}
}

func begin(t *testing.T, state, path string) *Session {
	t.Helper()
	s, err := Begin(state, path, noon)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func texts(list []Saved) []string {
	var all []string
	for _, s := range list {
		all = append(all, s.Text)
	}
	return all
}

// A second notebook on a file is told so, and what it keeps is kept too.
func TestTwoNotebooksOnOneFile(t *testing.T) {
	state, path := t.TempDir(), filepath.Join(t.TempDir(), "n.tpu")
	s := begin(t, state, path)
	var le *LockedError
	second, err := Begin(state, path, noon)
	if !errors.As(err, &le) || le.Holder.PID != os.Getpid() || second == nil {
		t.Fatalf("got %v %v, want a LockedError of this process and a session", second, err)
	}
	for i, s := range []*Session{s, second} {
		if err := s.Autosave("cell "+strconv.Itoa(i), nil, noon.Add(time.Duration(i))); err != nil {
			t.Fatal(err)
		}
	}
	if got := Kept(state, path, "", noon); len(got) > 0 {
		t.Errorf("both are open, and kept are %q", texts(got))
	}
	second.lock.Release() // a crash of both
	s.lock.Release()
	s = begin(t, state, path)
	if got := texts(Kept(state, path, "", noon)); !slices.Equal(got, []string{"cell 1", "cell 0"}) {
		t.Errorf("kept are %q, want those of both", got)
	}
	s.Close(true)
	if err := begin(t, state, "").Rename(state, path, noon, func() error { return nil }); err != nil {
		t.Errorf("the file is free: %v", err)
	}
}

// A name that another notebook has is not taken, and nothing is written.
func TestSavingUnderATakenName(t *testing.T) {
	state, path := t.TempDir(), filepath.Join(t.TempDir(), "n.tpu")
	begin(t, state, path)
	unnamed := begin(t, state, "")
	var le *LockedError
	err := unnamed.Rename(state, path, noon, func() error { t.Error("written"); return nil })
	if !errors.As(err, &le) {
		t.Errorf("got %v, want a LockedError", err)
	}
	if err := unnamed.Autosave("x", nil, noon); err != nil {
		t.Errorf("it keeps nothing any more: %v", err)
	}
}

// What a crash left stays until it is dropped, whatever the next session keeps
// and however that ends.
func TestRecovery(t *testing.T) {
	state, path := t.TempDir(), filepath.Join(t.TempDir(), "n.tpu")
	f, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"x := 1\n", "x := 2\n"} {
		s := begin(t, state, path)
		if err := s.Autosave(text, f, noon.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
		s.lock.Release() // a crash: the lock goes, the autosave stays
	}
	s := begin(t, state, path)
	got := Kept(state, path, "", noon)
	if !slices.Equal(texts(got), []string{"x := 2\n", "x := 1\n"}) || !got[1].At.Equal(noon) {
		t.Fatalf("kept %+v", got)
	}
	if err := s.Autosave("x := 3\n", f, noon); err != nil {
		t.Fatal(err)
	}
	s.Close(true)
	s = begin(t, state, path)
	if err := got[0].Drop(noon); err != nil {
		t.Fatal(err)
	}
	if got := texts(Kept(state, path, "", noon)); !slices.Equal(got, []string{"x := 1\n"}) {
		t.Errorf("kept %q, want the other one", got)
	}
	if got := Kept(state, path, "x := 1\n", noon); len(got) > 0 {
		t.Errorf("the file says the same, but kept are %q", texts(got))
	}
	if err := os.WriteFile(s.Where(), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.lock.Release()
	s = begin(t, state, path)
	if got := Kept(state, path, "", noon); len(got) > 0 {
		t.Errorf("a torn autosave gave %+v", got)
	}
	s.Close(false)
}

// Notebooks without a name are each answered for.
func TestUnnamedNotebooks(t *testing.T) {
	state := t.TempDir()
	var all []*Session
	for i := range 3 {
		s := begin(t, state, "")
		if err := s.Autosave("cell "+strconv.Itoa(i), nil, noon.Add(time.Duration(i))); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	all[0].lock.Release()
	all[1].lock.Release()
	got := Kept(state, "", "", noon)
	if !slices.Equal(texts(got), []string{"cell 1", "cell 0"}) {
		t.Fatalf("kept %q, want the two that nobody holds", texts(got))
	}
	if err := got[0].Drop(noon); err != nil {
		t.Fatal(err)
	}
	if got := texts(Kept(state, "", "", noon)); !slices.Equal(got, []string{"cell 0"}) {
		t.Errorf("left %q, want the other", got)
	}
	path := filepath.Join(t.TempDir(), "named.tpu")
	if err := all[2].Rename(state, path, noon, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	var le *LockedError
	if second, err := Begin(state, path, noon); !errors.As(err, &le) {
		t.Error("the new name is not locked")
	} else {
		second.Close(true)
	}
	all[2].Close(true)
}

func TestOutputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.tpu")
	want := []Output{{Source: "1+1", Count: 1, Status: "ok", Data: map[string]string{"text/plain": "2  int"}, WallNS: 7}}
	if err := SaveOutputs(path, want); err != nil {
		t.Fatal(err)
	}
	if got := LoadOutputs(path); len(got) != 1 || got[0].Data["text/plain"] != "2  int" || got[0].WallNS != 7 {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"", "{", `{"version":99,"outputs":[{}]}`} {
		if err := os.WriteFile(Sidecar(path), []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := LoadOutputs(path); got != nil {
			t.Errorf("%q gave %+v", bad, got)
		}
	}
	if err := SaveOutputs(path, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(Sidecar(path)); !os.IsNotExist(err) {
		t.Errorf("the empty sidecar stays: %v", err)
	}
}

func openHistory(t *testing.T, state string, limit int) *History {
	t.Helper()
	h, err := OpenHistory(state, limit)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistory(t *testing.T) {
	state := t.TempDir()
	h := openHistory(t, state, 100)
	for _, c := range []string{"a := 1", "for {\n\tx\n}", "for {\n\tx\n}", "  ", "a = 2\n"} {
		if err := h.Add(c, noon); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a := 1", "for {\n\tx\n}", "a = 2"}
	if !slices.Equal(h.cells, want) {
		t.Errorf("%q", h.cells)
	}
	path := filepath.Join(state, historyFile)
	b, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(b, `{"at":"2026-11-30T1`...), 0o600); err != nil { // a crash in the middle of a line
		t.Fatal(err)
	}
	h = openHistory(t, state, 100)
	if err := h.Add("b", noon); err != nil {
		t.Fatal(err)
	}
	if h = openHistory(t, state, 100); !slices.Equal(h.cells, append(want, "b")) {
		t.Errorf("after a torn line: %q", h.cells)
	}
	if i := h.Before(h.Len(), "a", ""); h.At(i) != "a = 2" || h.At(h.Before(i, "a", "a = 2")) != "a := 1" {
		t.Errorf("prefix search: %d", i)
	}
	if i := h.Before(0, "a", ""); i != -1 {
		t.Errorf("before the oldest: %d", i)
	}
	if i := h.After(0, "b", ""); h.At(i) != "b" || h.After(i, "", "") != h.Len() {
		t.Errorf("forward: %d", i)
	}
}

func TestHistoryIsSharedAndBounded(t *testing.T) {
	state := t.TempDir()
	var done sync.WaitGroup
	for n := range 4 {
		h := openHistory(t, state, 50)
		done.Go(func() {
			for i := range 50 {
				if err := h.Add(strings.Repeat("x", n)+strconv.Itoa(i), noon); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	b, _ := os.ReadFile(filepath.Join(state, historyFile))
	if _, total := readHistory(strings.NewReader(string(b)), 50); total != 200 {
		t.Errorf("%d lines, want 200", total)
	}
	h := openHistory(t, state, 50)
	if h.Len() != 50 {
		t.Errorf("%d cells, want 50", h.Len())
	}
	b, _ = os.ReadFile(filepath.Join(state, historyFile))
	if _, total := readHistory(strings.NewReader(string(b)), 50); total != 50 {
		t.Errorf("the file has %d lines, want 50", total)
	}
	none, err := OpenHistory("", 50)
	if err != nil || none.Add("x", noon) != nil || none.Len() != 1 {
		t.Errorf("without a folder: %d %v", none.Len(), err)
	}
}
