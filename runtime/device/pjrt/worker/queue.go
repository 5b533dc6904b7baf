package worker

import (
	"encoding/binary"
	"fmt"
	"io"
	gosync "sync"
)

// A queue is what was asked and not yet written. A goroutine writes it, so
// that whoever starts a program pays no system call, and what comes while the
// pipe is busy travels together.
type queue struct {
	w    io.Writer
	more chan struct{} // buffered: something is in out

	writing gosync.Mutex // taken before mu
	mu      gosync.Mutex
	out     []byte
	spare   []byte
	err     error
	closed  bool
}

// maxQueuedBytes is how much waits before whoever adds to it writes it itself.
const maxQueuedBytes = 1 << 20

func newQueue(w io.Writer) *queue {
	q := &queue{w: w, more: make(chan struct{}, 1)}
	go func() {
		for range q.more {
			_ = q.flush() // the error is told to whoever adds
		}
	}()
	return q
}

// add appends a frame: the length, a byte and the payload. The error is one of
// an earlier write.
func (q *queue) add(kind uint8, payload ...[]byte) error {
	n := 1
	for _, p := range payload {
		n += len(p)
	}
	if n > maxFrameBytes {
		return &FrameError{fmt.Sprintf("a frame of %d bytes is over the limit of %d", n, maxFrameBytes)}
	}
	q.mu.Lock()
	q.out = append(binary.LittleEndian.AppendUint32(q.out, uint32(n)), kind)
	for _, p := range payload {
		q.out = append(q.out, p...)
	}
	err, large := q.err, len(q.out) > maxQueuedBytes
	q.mu.Unlock()
	if err == nil && large {
		return q.flush()
	}
	return err
}

// wake lets the goroutine write.
func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// flush writes all that was added so far.
func (q *queue) flush() error {
	q.writing.Lock()
	defer q.writing.Unlock()
	q.mu.Lock()
	b, err := q.out, q.err
	q.out = q.spare[:0]
	q.mu.Unlock()
	if err == nil && len(b) > 0 {
		_, err = q.w.Write(b)
	}
	if cap(b) > 2*maxQueuedBytes {
		b = nil
	}
	q.mu.Lock()
	q.spare, q.err = b[:0], err
	q.mu.Unlock()
	return err
}

// close ends the goroutine.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.more)
	}
}
