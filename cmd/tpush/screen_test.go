//go:build linux

package main

import (
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A terminal has tpush on it, and a test types at it.
type terminal struct {
	t     testing.TB
	dir   string // home of the program
	cmd   *osexec.Cmd
	tty   *os.File // the program's side, kept to look at its modes
	pty   *os.File
	state *term.State // before the program began

	mu    sync.Mutex
	out   []byte
	more  *sync.Cond
	mark  int // where the last wait began
	ended bool
}

// waitAtMost bounds the wait for a text that does not come.
const waitAtMost = 30 * time.Second

func openTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	return openTerminalWith(t, "tpush", t.TempDir(), true, args...)
}

// pollable gives the file anew in a way that closing it ends a read of it.
func pollable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), f.Name()), err
}

// openTerminalWith starts a program in a folder, which is its home too; with
// control the terminal is its controlling one, so that it is told when it goes.
func openTerminalWith(t testing.TB, program, dir string, control bool, args ...string) *terminal {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	if p, err = pollable(p); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, dir: dir, pty: p, tty: tty}
	s.more = sync.NewCond(&s.mu)
	if s.state, err = term.GetState(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	s.cmd = osexec.Command(program, args...)
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: control}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := p.Read(buf)
			s.mu.Lock()
			s.out = append(s.out, buf[:n]...)
			s.ended = err != nil
			s.more.Broadcast()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_, _ = s.cmd.Process.Wait()
		tty.Close()
		p.Close()
	})
	return s
}

// wait waits until the program has written text since the last wait ended.
func (s *terminal) wait(text string) string {
	s.t.Helper()
	return s.waitFor(func(out string) bool { return strings.Contains(out, text) }, text)
}

func (s *terminal) waitFor(ok func(out string) bool, what string) string {
	s.t.Helper()
	timer := time.AfterFunc(waitAtMost, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		s.more.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		out := ansi.Strip(string(s.out[s.mark:]))
		if ok(out) {
			s.mark = len(s.out)
			return out
		}
		if s.ended {
			s.t.Fatalf("%q did not come:\n%s", what, out)
		}
		s.more.Wait()
	}
}

func (s *terminal) keys(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end of the program and checks that the terminal is as it was.
func (s *terminal) end(code int) {
	s.t.Helper()
	err := s.cmd.Wait()
	var exit *osexec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit %d, want %d", got, code)
	}
	now, err := term.GetState(s.tty.Fd())
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(now, s.state) {
		s.t.Error("the modes of the terminal are others than before")
	}
	const last = "all of it was read"
	if _, err := s.tty.WriteString(last); err != nil {
		s.t.Fatal(err)
	}
	s.wait(last)
	s.mu.Lock()
	defer s.mu.Unlock()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?2004h": "\x1b[?2004l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1002h": "\x1b[?1002l"} {
		if out := string(s.out); strings.LastIndex(out, on) > strings.LastIndex(out, off) {
			s.t.Errorf("%q is not taken back", on)
		}
	}
}

const enter = "\r"

// TestScreen types at the notebook as a user does: cells, an error, a resize
// while a cell runs, a paste, an interrupt, a kernel that is killed.
func TestScreen(t *testing.T) {
	s := openTerminal(t)
	s.wait("Four things to try")
	s.keys("1+41" + enter)
	s.wait("42")
	s.keys("nope" + enter)
	s.wait("undefined: nope")
	s.keys("\x0b" + "fmt.Println(\"fixed\")" + enter)
	s.wait("fixed")
	s.keys("\x1b[200~for i := range 2 {\r\tfmt.Println(\"pasted\", i)\r}\x1b[201~" + enter)
	s.wait("pasted 1")
	s.keys("fmt.Println(\"begun\"); for { time.Sleep(time.Millisecond) }" + enter)
	s.wait("begun")
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 40, Cols: 140}); err != nil {
		t.Fatal(err)
	}
	s.wait("F2..F7 panels")
	s.keys("\x03")
	s.wait("interrupt: interrupted")
	s.keys("fmt.Println(\"kernel\", os.Getpid(), \"!\")" + enter)
	number := regexp.MustCompile(`kernel (\d+) !`)
	out := s.waitFor(func(out string) bool { return number.MatchString(out) }, "kernel N !")
	pid, err := strconv.Atoi(number.FindStringSubmatch(out)[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.wait("the kernel died") // though nobody asked it anything
	s.keys("\x1br")
	s.wait("was restarted")
	s.keys("6*111" + enter)
	s.wait("666")
	s.keys("\x04")
	s.end(0)
}

// TestLentTerminal stops the notebook from the shell and goes on, and edits a cell
// in another program: each finds the terminal as it was, and leaves the screen whole.
func TestLentTerminal(t *testing.T) {
	shell, err := osexec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "editor"), "stty -a > edited; echo 'n := 6*111; n' > $1")
	s := openTerminalWith(t, shell, dir, true, "--norc", "-c",
		`set -m; export EDITOR="bash editor"; stty -a > before; tpush; stty -a > stopped; echo is st""opped; fg; stty -a > after`)
	s.wait("Four things to try")
	s.keys("40+2" + enter)
	s.wait("42")
	s.keys(":suspend" + enter)
	s.wait("is stopped")
	s.wait("40+2")
	s.keys("\x1be")
	s.wait("6*111")
	s.keys(enter)
	s.wait("666")
	s.keys("\x04")
	s.end(0)
	for _, name := range []string{"edited", "stopped", "after"} {
		before, _ := os.ReadFile(filepath.Join(dir, "before"))
		if now, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(now) != string(before) {
			t.Errorf("%s: the modes are %s (%v), were %s", name, now, err, before)
		}
	}
}

// TestBytesPerKey types and counts what the terminal is sent for it: over a slow
// line a key must not cost a screen. Wide letters on the screen, and typed ones,
// cost no more.
func TestBytesPerKey(t *testing.T) {
	for _, name := range []string{"xterm-256color", "tmux-256color"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bytesPerKey(t, name)
		})
	}
}

func bytesPerKey(t *testing.T, name string) {
	s := openTerminalWith(t, "env", t.TempDir(), true, "TERM="+name, "tpush")
	s.wait("Four things to try")
	s.wait("kernel ")
	s.keys("x := tpu.Ones(4, 4); fmt.Println(\"日本語 1\\n日本語 2\\n日本語 3\")" + enter)
	s.wait("1 launch")
	text := []rune("y := x + 17 // a sum 日本語の和 without a dot that opens a list")
	s.keys(string(text[:1]))
	s.wait(string(text[:1]))
	s.mu.Lock()
	before := len(s.out)
	s.mu.Unlock()
	for _, r := range text[1:] {
		s.keys(string(r))
		if r != ' ' {
			s.wait(string(r))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := (len(s.out) - before) / (len(text) - 1); n > 64 {
		t.Errorf("%d bytes a key, want 64 at most:\n%q", n, s.out[before:])
	}
}

// TestScreenEndings ends the notebook in every way there is while a cell runs.
func TestScreenEndings(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(s *terminal)
		exit int
	}{
		{":quit", func(s *terminal) { s.keys(":quit" + enter) }, 0},
		{"SIGTERM", func(s *terminal) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		{"SIGHUP", func(s *terminal) { _ = s.cmd.Process.Signal(syscall.SIGHUP) }, 129},
		{"SIGTERM while a cell prints", func(s *terminal) {
			s.keys("for { fmt.Println(\"a line\") }" + enter)
			s.wait("a linea linea line")
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		}, 143},
		{"Ctrl-D while a cell runs", func(s *terminal) {
			s.keys("for {}" + enter)
			s.wait("running 0:0")
			s.keys("\x04")
			s.wait("Leave all the same?")
			s.keys("y")
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openTerminal(t)
			s.wait("Four things to try")
			s.keys("40+2" + enter)
			s.wait("42")
			tt.end(s)
			s.end(tt.exit)
		})
	}
}
