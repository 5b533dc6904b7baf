package worker

import (
	"context"
	"errors"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// A Buffer is an array in the worker.
type Buffer struct {
	w  *Worker
	id uint64
}

// newBuffers gives n buffers new ids; the caller holds the lock.
func (w *Worker) newBuffers(n int) []*Buffer {
	made, list := make([]Buffer, n), make([]*Buffer, n)
	for i := range list {
		w.nextID++
		made[i] = Buffer{w, w.nextID}
		list[i] = &made[i]
	}
	return list
}

func (m message) buffers(list []*Buffer) message {
	m = m.word(uint64(len(list)))
	for _, b := range list {
		m = m.word(b.id)
	}
	return m
}

// inlineBytes is the largest array that travels in a frame; larger ones go
// through the shared memory.
const inlineBytes = 64 << 10

// Put copies a dense row-major array to a device. A failure, such as memory
// that is not there, shows when the buffer is used.
func (w *Worker) Put(device int, t capi.Type, dims []int64, b []byte) (*Buffer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	buf := w.newBuffers(1)[0]
	if len(b) <= inlineBytes {
		w.msg = w.msg[:0].word(buf.id).word(uint64(device)).word(uint64(t)).dims(dims).word(nowhere).bytes(b)
		return buf, w.sendLocked(put, w.msg)
	}
	place, ok := w.shared.take(len(b))
	if !ok { // everything sent so far is done after a reply
		if _, err := w.askLocked(context.Background(), sync); err != nil {
			if w.dead != nil {
				return nil, w.dead
			}
			w.late = errors.Join(w.late, err)
		}
		w.shared.reset()
		if place, ok = w.shared.take(len(b)); !ok {
			return nil, &capi.Error{Code: capi.ResourceExhausted, Message: "the array is larger than the memory shared with the plug-in process"}
		}
	}
	if w.dead != nil {
		return nil, w.dead
	}
	copy(w.shared.b[place:], b)
	w.msg = w.msg[:0].word(buf.id).word(uint64(device)).word(uint64(t)).dims(dims).word(uint64(place)).bytes(nil)
	return buf, w.sendLocked(put, w.msg)
}

// Get copies the array into dst, which must have its size on the host. It
// waits for what makes it.
func (b *Buffer) Get(ctx context.Context, dst []byte) error {
	w := b.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(dst) <= inlineBytes {
		w.msg = w.msg[:0].word(b.id).word(nowhere)
		got, err := w.answerLocked(ctx, get, w.msg)
		if err == nil && copy(dst, got) != len(dst) {
			err = &FrameError{"an array has another size"}
		}
		return err
	}
	place, ok := w.shared.take(len(dst))
	if !ok {
		if _, err := w.askLocked(ctx, sync); err != nil && w.dead != nil {
			return err
		}
		w.shared.reset()
		if place, ok = w.shared.take(len(dst)); !ok {
			return &capi.Error{Code: capi.ResourceExhausted, Message: "the array is larger than the memory shared with the plug-in process"}
		}
	}
	if _, err := w.askLocked(ctx, get, message(nil).word(b.id).word(uint64(place))); err != nil {
		return err
	}
	copy(dst, w.shared.b[place:])
	w.shared.reset() // the reply came after every request before it
	return nil
}

// Free gives the buffers back.
func (w *Worker) Free(list ...*Buffer) {
	if len(list) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.msg = w.msg[:0].buffers(list)
	_ = w.sendLocked(free, w.msg)
}
