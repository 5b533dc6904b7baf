package kernel

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A Process is a kernel running as a child, with a client connected to it.
type Process struct {
	*Client
	cmd    *exec.Cmd
	in     io.Closer
	stderr *ends
	wait   func() error
}

// Start runs the program as a kernel with the given arguments. The child gets
// frames on its standard input and output; its standard error is kept, so that
// the last words of a dying kernel can be shown.
func Start(program string, args ...string) (*Process, error) {
	cmd := exec.Command(program, args...)
	cmd.Args[0] = os.Args[0] // the child goes by the name of its parent
	p := &Process{cmd: cmd, stderr: &ends{limit: 8 << 10}}
	cmd.Stderr = p.stderr
	cmd.Env = os.Environ()
	isolate(cmd)
	w, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.in = w
	p.wait = sync.OnceValue(cmd.Wait)
	p.Client = NewClient(r, w, p.howDied)
	return p, nil
}

// howDied waits for the end of the process and describes it.
func (p *Process) howDied() *DiedError {
	timer := time.AfterFunc(stopGrace, p.Kill) // the pipe broke, the process may live
	defer timer.Stop()
	_ = p.wait()
	return &DiedError{Status: p.cmd.ProcessState.String(), Stderr: p.stderr.String()}
}

// PID is the process number of the kernel.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr is the last text the kernel wrote to standard error.
func (p *Process) Stderr() string { return p.stderr.String() }

// stopGrace is how long a kernel may take to end by itself.
const stopGrace = 2 * time.Second

// Stop ends the kernel: by request, then by force.
func (p *Process) Stop() {
	timer := time.AfterFunc(stopGrace, p.Kill)
	defer timer.Stop()
	_ = p.Shutdown()
	_ = p.in.Close()
	_ = p.wait()
}

// Kill ends the kernel at once.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// An ends keeps the first and the last bytes written to it: a dying Go program
// says why first and then prints stacks without end.
type ends struct {
	mu          sync.Mutex
	limit       int // of each end
	first, last []byte
	cut         bool // something between them was dropped
}

// Write keeps the beginning and the end of what was written.
func (e *ends) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(b), e.limit-len(e.first))
	e.first = append(e.first, b[:n]...)
	e.last = append(e.last, b[n:]...)
	if extra := len(e.last) - e.limit; extra > 0 {
		e.last = append(e.last[:0], e.last[extra:]...)
		e.cut = true
	}
	return len(b), nil
}

// String gives what was kept.
func (e *ends) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	between := ""
	if e.cut {
		between = "\n…\n"
	}
	return string(e.first) + between + string(e.last)
}
