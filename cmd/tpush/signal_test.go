//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tpush/tpush/repl/plain"
)

// TestSignals interrupts and ends a run in the middle of an endless loop: the
// exit code tells which it was, the place is shown, and the kernel is gone.
func TestSignals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "loop.tpu")
	write(t, file, "fmt.Println(os.Getpid())\nn := 0\nfor {\n\tn++\n}\n")
	for _, c := range []struct {
		signal syscall.Signal
		exit   int
	}{{syscall.SIGINT, plain.ExitInterrupted}, {syscall.SIGTERM, plain.ExitTerminated}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd := osexec.Command("tpush", "run", "loop.tpu")
			cmd.Dir = dir
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n') // the cell runs
			if err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.exit {
				t.Errorf("exit %d, want %d\n%s", got, c.exit, errs.String())
			}
			if !strings.HasPrefix(errs.String(), "loop.tpu:") || !strings.Contains(errs.String(), "interrupt") {
				t.Errorf("the place is not told:\n%s", errs.String())
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the kernel %d is still there: %v", pid, err)
			}
		})
	}
}
