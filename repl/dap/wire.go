package dap

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Bounds of a message, so that a broken client cannot make us allocate without limit.
const (
	maxHeaderBytes  = 8 << 10
	maxContentBytes = 16 << 20
)

// A FrameError says that a client broke the framing: nothing after it can be read.
type FrameError struct{ Why string }

// Error gives the reason.
func (e *FrameError) Error() string { return "dap: " + e.Why }

// A conn frames messages: header lines, an empty line, JSON of the length that
// the header says.
type conn struct {
	r *bufio.Reader

	mu  sync.Mutex // a message is written whole, in the order of its number
	w   io.Writer
	seq int
	off bool
}

// mute drops what is written from now on: the client has left.
func (c *conn) mute() {
	c.mu.Lock()
	c.off = true
	c.mu.Unlock()
}

func newConn(r io.Reader, w io.Writer) *conn {
	return &conn{r: bufio.NewReaderSize(r, maxHeaderBytes), w: w}
}

// read gives the content of the next message. io.EOF is a clean end; anything
// else that cannot be read on from is a *FrameError or the reader's error.
func (c *conn) read() ([]byte, error) {
	length, read := -1, 0
	for {
		line, err := c.r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			return nil, &FrameError{fmt.Sprintf("a header of more than %d bytes", maxHeaderBytes)}
		case err == io.EOF && read == 0 && len(line) == 0:
			return nil, io.EOF
		case err == io.EOF:
			return nil, &FrameError{"the connection ended inside a header"}
		case err != nil:
			return nil, err
		}
		if read += len(line); read > maxHeaderBytes {
			return nil, &FrameError{fmt.Sprintf("a header of more than %d bytes", maxHeaderBytes)}
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if length < 0 {
				return nil, &FrameError{"a header without Content-Length"}
			}
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, &FrameError{fmt.Sprintf("no header line: %.40q", text)}
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 63)
		if err != nil {
			return nil, &FrameError{fmt.Sprintf("Content-Length: %.40q is no length", value)}
		}
		if n > maxContentBytes {
			return nil, &FrameError{fmt.Sprintf("Content-Length: %d is over the limit of %d", n, maxContentBytes)}
		}
		length = int(n)
	}
	content := make([]byte, length)
	if _, err := io.ReadFull(c.r, content); err != nil {
		return nil, &FrameError{"the connection ended inside a message"}
	}
	return content, nil
}

// write numbers a message, which must be a JSON object, and sends it.
func (c *conn) write(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return nil
	}
	c.seq++
	fields["seq"] = json.RawMessage(strconv.Itoa(c.seq))
	if b, err = json.Marshal(fields); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.w, "Content-Length: %d\r\n\r\n%s", len(b), b)
	return err
}
