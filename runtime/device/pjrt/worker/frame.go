package worker

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// A verb is what a request asks for.
type verb uint8

// The verbs. Those that answer nothing are sent ahead: what goes wrong in them
// comes out when a result is asked for.
const (
	hello      verb = iota + 1 // → JSON of About
	compile                    // executable id, options, format, program → outputs
	load                       // executable id, serialized program → outputs
	serialize                  // executable id → serialized program
	optimized                  // executable id → format, program after the compiler's passes
	memory                     // executable id → JSON of capi.Memory
	put                        // buffer id, device, type, dims, bytes or place in the shared memory
	execute                    // executable id, inputs, ids of the outputs
	executeAll                 // the same for several devices
	get                        // buffer id, place or none → bytes
	free                       // buffer ids
	drop                       // executable id
	sync                       // → nanoseconds that executions took, when all before it is done
	aot                        // JSON of AOTRequest, program → JSON of AOTReport, its bytes
	tpuOpen                    // serialized program of libtpu → JSON of TPUReport
	tpuCosts                   // chip, programs → JSON of []Cost
	numVerbs
)

// maxFrameBytes bounds a frame: more is a broken peer.
const maxFrameBytes = 1 << 30

// A FrameError says that the other side broke the protocol.
type FrameError struct{ Why string }

// Error gives the reason.
func (e *FrameError) Error() string { return "plug-in process: " + e.Why }

// writeFrame writes the length, a byte (verb or status) and the payload.
func writeFrame(w *bufio.Writer, kind uint8, payload ...[]byte) error {
	n := 1
	for _, p := range payload {
		n += len(p)
	}
	if n > maxFrameBytes {
		return &FrameError{fmt.Sprintf("a frame of %d bytes is over the limit of %d", n, maxFrameBytes)}
	}
	var head [5]byte
	binary.LittleEndian.PutUint32(head[:], uint32(n))
	head[4] = kind
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	for _, p := range payload {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// readFrame reads into buf, which it may replace.
func readFrame(r *bufio.Reader, buf []byte) (kind uint8, payload, grown []byte, err error) {
	const headBytes = 5
	head, err := r.Peek(headBytes)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, buf, err
	}
	n := int(binary.LittleEndian.Uint32(head))
	kind = head[4]
	if n < 1 || n > maxFrameBytes {
		return 0, nil, buf, &FrameError{fmt.Sprintf("a frame of %d bytes", n)}
	}
	_, _ = r.Discard(headBytes)
	if n--; cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err = io.ReadFull(r, buf)
	return kind, buf, buf, err
}

// A message is the payload of a frame being written.
type message []byte

func (m message) word(v uint64) message { return binary.LittleEndian.AppendUint64(m, v) }
func (m message) bytes(b []byte) message {
	return append(m.word(uint64(len(b))), b...)
}
func (m message) dims(dims []int64) message {
	m = m.word(uint64(len(dims)))
	for _, d := range dims {
		m = m.word(uint64(d))
	}
	return m
}

// A cursor reads a payload. A payload that is too short makes it bad, and it
// then gives zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) word() uint64 {
	if len(c.b) < 8 {
		c.b, c.bad = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	return v
}

func (c *cursor) bytes() []byte {
	n := c.word()
	if n > uint64(len(c.b)) {
		c.b, c.bad = nil, true
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// count reads a length of things that take at least size bytes each.
func (c *cursor) count(size int) int {
	n := c.word()
	if n > uint64(len(c.b)/size) {
		c.b, c.bad = nil, true
		return 0
	}
	return int(n)
}

// ids appends a list of ids to into.
func (c *cursor) ids(into []uint64) []uint64 {
	for range c.count(8) {
		into = append(into, c.word())
	}
	return into
}

func (c *cursor) dims() []int64 {
	dims := make([]int64, c.count(8))
	for i := range dims {
		dims[i] = int64(c.word())
	}
	return dims
}
