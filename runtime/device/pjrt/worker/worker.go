// Package worker runs a PJRT plug-in in a process of its own and talks to it.
//
// Native code may abort, hang, write to standard error or leak: all of that
// stays in the child, and the parent says what happened. The protocol is
// frames in a pair of rings in memory that both map, as arrays are. The
// package knows no graph and no session. It imports capi of this module.
// Invariant: a request is answered, or the worker is dead and every later
// request says how it died.
package worker

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	gosync "sync"
	"time"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// ProcessName is the first argument of a program that is to be a plug-in's process.
const ProcessName = "plugin-process"

// Options say what to start.
type Options struct {
	Command []string       // that serves the protocol: this program with its hidden subcommand
	Plugin  string         // the library
	Create  map[string]any // options of the client
	Env     []string       // beside what Environ gives
	Stderr  func(line string)
}

// A Worker is a running plug-in process. It may be used by several goroutines.
type Worker struct {
	cmd    *exec.Cmd
	shared *arena
	link   *link
	about  About

	gone   chan struct{} // closed when the process ended
	status error         // how; to be read when gone is closed

	mu     gosync.Mutex // one request at a time
	out    []byte       // a frame being written
	msg    message      // its payload
	r      *bufio.Reader
	reply  []byte
	dead   error
	late   error // a failure that a wait of our own found, for the next Sync
	nextID uint64
	tail   tail
}

// A DiedError says that the plug-in process ended, and what it said last.
type DiedError struct {
	Status string
	Stderr string // the last lines
}

// Error gives the ending and the last line.
func (e *DiedError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.Stderr), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return "the plug-in process died (" + e.Status + "): " + last
	}
	return "the plug-in process died (" + e.Status + ")"
}

// DeviceFault marks it as the device's own.
func (*DiedError) DeviceFault() {}

// Start starts the process and waits until the plug-in is loaded.
func Start(ctx context.Context, o Options) (*Worker, error) {
	a, err := newArena()
	if err != nil {
		return nil, err
	}
	create, err := json.Marshal(o.Create)
	if err != nil {
		return nil, err
	}
	l, err := newLink()
	if err != nil {
		a.close()
		return nil, err
	}
	args := append(o.Command[1:], "--plugin="+o.Plugin, "--create="+string(create))
	w := &Worker{cmd: exec.Command(o.Command[0], args...), shared: a, link: l, gone: make(chan struct{})}
	w.r = bufio.NewReaderSize(l.replies, 1<<16)
	w.cmd.Env = append(Environ(os.Environ()), o.Env...)
	w.cmd.ExtraFiles = []*os.File{a.file, l.file} // arraysFD, requestsFD
	w.tail.line = o.Stderr
	w.cmd.Stderr = &w.tail
	w.cmd.WaitDelay = diedWithin
	isolate(w.cmd)
	if _, err = w.cmd.StdinPipe(); err == nil { // it is closed when this process ends
		err = w.cmd.Start()
	}
	if err != nil {
		a.close()
		l.close()
		return nil, err
	}
	go w.watch()
	b, err := w.ask(ctx, hello)
	if err == nil {
		err = json.Unmarshal(b, &w.about)
	}
	if err != nil {
		w.Kill()
		return nil, err
	}
	return w, nil
}

// Environ is the environment of a plug-in process. XLA_FLAGS is taken out: an
// unknown name in it aborts the library; flags go with each compilation. The
// variables of libtpu keep it from asking the cloud's metadata server and from
// writing log files.
func Environ(env []string) []string {
	var kept []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); name != "XLA_FLAGS" && name != "LIBTPU_INIT_ARGS" {
			kept = append(kept, e)
		}
	}
	return append(kept, "TF_CPP_MIN_LOG_LEVEL=3", "TPU_SKIP_MDS_QUERY=1", "ALLOW_MULTIPLE_LIBTPU_LOAD=1",
		"TPU_ACCELERATOR_TYPE=v5litepod-1", "TPU_WORKER_HOSTNAMES=localhost", "TPU_WORKER_ID=0", "TPU_LOG_DIR=disabled")
}

// About is what the plug-in says of itself.
func (w *Worker) About() About { return w.about }

// PID is the process.
func (w *Worker) PID() int { return w.cmd.Process.Pid }

// send queues a request that has no reply.
func (w *Worker) send(v verb, payload ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sendLocked(v, payload...)
}

func (w *Worker) sendLocked(v verb, payload ...[]byte) error {
	if w.dead != nil {
		return w.dead
	}
	if err := w.add(v, payload...); err != nil {
		return w.died(err)
	}
	return nil
}

// joinedBytes is how long a payload may be to be written with its frame's head.
const joinedBytes = 16 << 10

// add writes a frame: the length, a byte and the payload. Nobody waits for
// memory to be given back, so that does not wake the process.
func (w *Worker) add(v verb, payload ...[]byte) error {
	n := 1
	for _, p := range payload {
		n += len(p)
	}
	if n > maxFrameBytes {
		return &FrameError{fmt.Sprintf("a frame of %d bytes is over the limit of %d", n, maxFrameBytes)}
	}
	w.out = append(binary.LittleEndian.AppendUint32(w.out[:0], uint32(n)), uint8(v))
	for _, p := range payload {
		if len(p) > joinedBytes { // a program, not copied twice
			if err := w.link.requests.write(w.out, true); err != nil {
				return err
			}
			w.out = w.out[:0]
			if err := w.link.requests.write(p, true); err != nil {
				return err
			}
			continue
		}
		w.out = append(w.out, p...)
	}
	return w.link.requests.write(w.out, v != free)
}

// ask writes a request and gives the payload of its reply, a copy. When ctx
// ends first the process is killed: native code cannot be asked to stop.
func (w *Worker) ask(ctx context.Context, v verb, payload ...[]byte) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.askLocked(ctx, v, payload...)
}

func (w *Worker) askLocked(ctx context.Context, v verb, payload ...[]byte) ([]byte, error) {
	b, err := w.answerLocked(ctx, v, payload...)
	return slices.Clone(b), err
}

// answerLocked is ask whose payload holds until the next request.
func (w *Worker) answerLocked(ctx context.Context, v verb, payload ...[]byte) ([]byte, error) {
	if w.dead != nil {
		return nil, w.dead
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() })
		defer stop()
	}
	err := w.add(v, payload...)
	var kind uint8
	var b []byte
	if err == nil {
		kind, b, w.reply, err = readFrame(w.r, w.reply)
	}
	if err != nil {
		if ctx.Err() != nil {
			w.died(err)
			return nil, context.Cause(ctx)
		}
		return nil, w.died(err)
	}
	if kind == okReply {
		return b, nil
	}
	c := &cursor{b: b}
	code, text := c.word(), string(c.bytes())
	if code == codeProtocol {
		return nil, &FrameError{text}
	}
	return nil, &capi.Error{Code: capi.Code(code), Message: text}
}

// watch waits for the end of the process and lets everybody go who waits for it.
func (w *Worker) watch() {
	w.status = w.cmd.Wait()
	w.link.end()
	close(w.gone)
}

// diedWithin is how long a process that was told to end may take, and its
// standard error to be closed.
const diedWithin = 2 * time.Second

// died notes the end of the process; cause is what the rings said.
func (w *Worker) died(cause error) error {
	var fe *FrameError
	if errors.As(cause, &fe) {
		_ = w.cmd.Process.Kill()
	}
	<-w.gone
	status := "exit status 0"
	if w.status != nil {
		status = w.status.Error()
	}
	w.dead = &DiedError{status, w.tail.text()}
	w.link.close()
	w.shared.close()
	return w.dead
}

// Dead gives the *DiedError of a worker that ended, else nil.
func (w *Worker) Dead() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// Kill ends the process.
func (w *Worker) Kill() {
	_ = w.cmd.Process.Kill()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead == nil {
		w.died(io.EOF)
	}
}

// id gives a new id.
func (w *Worker) id() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nextID++
	return w.nextID
}

// tailBytes is how much of standard error is kept.
const tailBytes = 8 << 10

// tail keeps the last of what a process writes.
type tail struct {
	mu   gosync.Mutex
	b    []byte
	line func(string)
	part []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - tailBytes; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	if t.line != nil {
		t.part = append(t.part, p...)
		for {
			line, rest, ok := strings.Cut(string(t.part), "\n")
			if !ok {
				break
			}
			t.line(line)
			t.part = []byte(rest)
		}
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// String names the worker for messages.
func (w *Worker) String() string {
	return fmt.Sprintf("%s %s, PJRT %d.%d", w.about.Platform, w.about.Version, w.about.Major, w.about.Minor)
}
