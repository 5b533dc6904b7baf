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
	stderr *tail
	wait   func() error
}

// Start runs the program as a kernel with the given arguments. The child gets
// frames on its standard input and output; its standard error is kept, so that
// the last words of a dying kernel can be shown.
func Start(program string, args ...string) (*Process, error) {
	cmd := exec.Command(program, args...)
	cmd.Args[0] = os.Args[0] // the child goes by the name of its parent
	p := &Process{cmd: cmd, stderr: &tail{limit: 16 << 10}}
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

// A tail keeps the last bytes written to it.
type tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte
}

// Write keeps the end of what was written.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if extra := len(t.buf) - t.limit; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(b), nil
}

// String gives what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
