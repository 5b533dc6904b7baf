//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tpush/tpush/repl/store"
)

// keptTexts are the notebooks that are offered when tpush starts again.
func (s *terminal) keptTexts() string {
	s.t.Helper()
	var all []string
	for _, sv := range store.Kept(filepath.Join(s.dir, "tpush"), "", "", time.Now()) {
		all = append(all, sv.Text)
	}
	return strings.Join(all, "\n")
}

// TestNothingIsLost ends the notebook in every way that its user did not choose:
// the terminal is as it was, and what was run and what was typed are kept.
func TestNothingIsLost(t *testing.T) {
	for _, tt := range []struct {
		name, program string
		end           func(s *terminal)
		exit          int
		gone          bool // the terminal is
	}{
		{"SIGTERM", "tpush", func(s *terminal) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, 143, false},
		{"SIGHUP", "tpush", func(s *terminal) { _ = s.cmd.Process.Signal(syscall.SIGHUP) }, 129, false},
		{"the terminal vanishes", "tpush", func(s *terminal) { s.pty.Close() }, 129, true},
		{"the terminal vanishes without a signal", "tpush", func(s *terminal) { s.pty.Close() }, 129, true},
		{"a panic in Update", "tpush-breaking", func(s *terminal) { s.keys("\x01/* update */ \x1b[19~") }, 1, false},
		{"a panic in a command", "tpush-breaking", func(s *terminal) { s.keys("\x01/* command */ \x1b[19~") }, 1, false},
		{"a panic on a goroutine", "tpush-breaking", func(s *terminal) { s.keys("\x01/* goroutine */ \x1b[19~") }, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openTerminalWith(t, tt.program, t.TempDir(), !strings.Contains(tt.name, "without a signal"))
			s.wait("Four things to try")
			s.keys("40+2" + enter)
			s.wait("42")
			s.keys("draft := 7")
			s.wait("7")
			tt.end(s)
			if tt.gone {
				if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != tt.exit {
					t.Errorf("exit %d (%v), want %d", s.cmd.ProcessState.ExitCode(), err, tt.exit)
				}
			} else {
				s.end(tt.exit)
			}
			if kept := s.keptTexts(); !strings.Contains(kept, "40+2") || !strings.Contains(kept, "draft := 7") {
				t.Errorf("kept is %q", kept)
			}
		})
	}
}

// mount puts a file system of memory at a new folder, or skips the test.
func mount(t *testing.T, flags uintptr, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullAndReadOnlyDisks: what cannot be written is said, and nothing else
// is different: cells run, and the file stays what it was.
func TestFullAndReadOnlyDisks(t *testing.T) {
	const old = "fmt.Println(\"old\")\n"
	t.Run("full", func(t *testing.T) {
		dir := mount(t, 0, "size=64k")
		write(t, filepath.Join(dir, "n.tpu"), old)
		s := openTerminalWith(t, "tpush", dir, true, "n.tpu")
		s.wait("fmt.Println")
		fill := filepath.Join(dir, "filler")
		for n := 64 << 10; n > 0; n /= 2 {
			f, err := os.OpenFile(fill, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = f.Write(make([]byte, n))
			f.Close()
		}
		s.keys("x := 21 * 2; x" + enter)
		s.wait("42")
		s.keys("\x1bs")
		s.wait("no space left")
		if text, err := os.ReadFile(filepath.Join(dir, "n.tpu")); err != nil || string(text) != old {
			t.Errorf("the file became %q %v", text, err)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		s.keys("\x1bs")
		s.wait("saved n.tpu")
		if text, _ := os.ReadFile(filepath.Join(dir, "n.tpu")); !strings.Contains(string(text), "x := 21 * 2") {
			t.Errorf("saved is %q", text)
		}
		s.keys("\x04")
		s.end(0)
	})
	t.Run("read-only", func(t *testing.T) {
		dir := mount(t, 0, "size=64k")
		write(t, filepath.Join(dir, "n.tpu"), old)
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Skip(err)
		}
		s := openTerminalWith(t, "tpush", dir, true, "n.tpu")
		s.wait("no autosave")
		s.keys("21 * 2" + enter)
		s.wait("42")
		s.keys("\x1bs")
		s.wait("read-only")
		s.keys("\x04")
		s.end(0)
	})
}
