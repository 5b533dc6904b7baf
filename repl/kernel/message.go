// Package kernel is the kernel process and its protocol: messages with the
// names and fields of Jupyter's messaging specification, framed on a pair of
// pipes, a server inside the child and a client in every front end.
//
// It runs no cell itself: a Handler does. It imports trace. Invariant: every
// request gets exactly one reply, or the client learns that the kernel died.
package kernel

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// A Header identifies a message.
type Header struct {
	ID   string `json:"msg_id"`
	Type string `json:"msg_type"`
}

// A Message is one frame.
type Message struct {
	Header  Header          `json:"header"`
	Parent  Header          `json:"parent_header"`
	Content json.RawMessage `json:"content"`
}

// maxFrameBytes bounds a frame, so that a broken peer cannot make us allocate without limit.
const maxFrameBytes = 256 << 20

// A FrameError says that a peer broke the framing.
type FrameError struct {
	Bytes int64
	Err   error
}

// Error names the size or the cause.
func (e *FrameError) Error() string {
	if e.Err != nil {
		return "kernel: bad frame: " + e.Err.Error()
	}
	return fmt.Sprintf("kernel: frame of %d bytes is over the limit of %d", e.Bytes, maxFrameBytes)
}

// Unwrap gives the cause.
func (e *FrameError) Unwrap() error { return e.Err }

// A conn frames messages: four bytes of length, big-endian, then JSON.
type conn struct {
	r  io.Reader
	mu sync.Mutex // guards w: a frame is written whole
	w  io.Writer
}

func (c *conn) send(typ, id string, parent Header, content any) error {
	body, err := json.Marshal(content)
	if err != nil {
		return &FrameError{Err: err}
	}
	frame, err := json.Marshal(Message{Header{id, typ}, parent, body})
	if err != nil {
		return &FrameError{Err: err}
	}
	if len(frame) > maxFrameBytes {
		return &FrameError{Bytes: int64(len(frame))}
	}
	buf := make([]byte, 4+len(frame))
	binary.BigEndian.PutUint32(buf, uint32(len(frame)))
	copy(buf[4:], frame)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.w.Write(buf)
	return err
}

func (c *conn) receive() (Message, error) {
	var m Message
	var head [4]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrameBytes {
		return m, &FrameError{Bytes: int64(n)}
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c.r, body); err != nil {
		return m, &FrameError{Err: err}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, &FrameError{Err: err}
	}
	return m, nil
}

// The message types used.
const (
	TypeExecuteRequest    = "execute_request"
	TypeExecuteReply      = "execute_reply"
	TypeStream            = "stream"
	TypeExecuteResult     = "execute_result"
	TypeDisplayData       = "display_data"
	TypeError             = "error"
	TypeInputRequest      = "input_request"
	TypeInputReply        = "input_reply"
	TypeCompleteRequest   = "complete_request"
	TypeCompleteReply     = "complete_reply"
	TypeInspectRequest    = "inspect_request"
	TypeInspectReply      = "inspect_reply"
	TypeIsCompleteRequest = "is_complete_request"
	TypeIsCompleteReply   = "is_complete_reply"
	TypeKernelInfoRequest = "kernel_info_request"
	TypeKernelInfoReply   = "kernel_info_reply"
	TypeInterruptRequest  = "interrupt_request"
	TypeInterruptReply    = "interrupt_reply"
	TypeShutdownRequest   = "shutdown_request"
	TypeShutdownReply     = "shutdown_reply"
)

// ExecuteRequest asks to run a cell, or a command when Code begins with a colon.
type ExecuteRequest struct {
	Code       string `json:"code"`
	Silent     bool   `json:"silent,omitempty"`
	AllowStdin bool   `json:"allow_stdin,omitempty"`
	AllowDebug bool   `json:"allow_debug,omitempty"` // the front end answers stops of the debugger
	Skip       bool   `json:"skip,omitempty"`        // only give the cell its number: a replay leaves it out
	Last       bool   `json:"last,omitempty"`        // no code follows: a failure that nobody was told of is told now
	// Where the code stands, for error positions and profiles.
	File      string `json:"file,omitempty"`
	FirstLine int    `json:"first_line,omitempty"`
	// How answers of commands are drawn: the name of a theme of viz, "plain" when
	// empty, and how many columns there are, 0 when that does not matter.
	Look    string `json:"look,omitempty"`
	Columns int    `json:"columns,omitempty"`
}

// ExecuteReply ends an execution.
type ExecuteReply struct {
	Status         string `json:"status"` // ok, error, aborted
	ExecutionCount int    `json:"execution_count"`
	Exit           *int   `json:"exit,omitempty"`     // the program called os.Exit
	Quit           bool   `json:"quit,omitempty"`     // a command asked to end the session
	Restart        bool   `json:"restart,omitempty"`  // a command asked for a new kernel process
	Replay         bool   `json:"replay,omitempty"`   // a command asked to run again what the kernel before was asked
	Replayed       bool   `json:"replayed,omitempty"` // belongs to what a replay asks again
	ErrorName      string `json:"ename,omitempty"`    // kind word of the first error
	WallNS         int64  `json:"wall_ns"`
	DeviceNS       int64  `json:"device_ns"`
	Launches       int64  `json:"launches"`
	HBMDeltaBytes  int64  `json:"hbm_delta_bytes"`
	HBMUsedBytes   int64  `json:"hbm_used_bytes"`
	HBMPeakBytes   int64  `json:"hbm_peak_bytes"`
	HBMLimitBytes  int64  `json:"hbm_limit_bytes"`
	QueuedOps      int    `json:"queued_ops"`
	// What showing the cell's values launched, beside what the cell did.
	ShownOps      int64  `json:"shown_ops,omitempty"`
	ShownLaunches int64  `json:"shown_launches,omitempty"`
	ShownNS       int64  `json:"shown_ns,omitempty"`
	Mode          string `json:"mode"`
	// The session's names that the cell's text reads and sets, sorted: what makes another cell stale.
	Reads  []string `json:"reads,omitempty"`
	Writes []string `json:"writes,omitempty"`
}

// StreamContent is output of the program.
type StreamContent struct {
	Name string `json:"name"` // stdout, stderr
	Text string `json:"text"`
	// Bytes are what was written when that is no UTF-8 text; Text is then an approximation.
	Bytes []byte `json:"bytes,omitempty"`
}

// streamContent makes the message that carries b, to the byte.
func streamContent(name string, b []byte) StreamContent {
	c := StreamContent{Name: name, Text: string(b)}
	if !utf8.Valid(b) {
		c.Bytes = b
	}
	return c
}

// whole gives the content with the text as it was written.
func (c StreamContent) whole() StreamContent {
	if len(c.Bytes) > 0 {
		c.Text = string(c.Bytes)
	}
	return c
}

// wholeRunes is how much of b ends with a whole character: what a program
// prints arrives in pieces that may cut one.
func wholeRunes(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if at := len(b) - n; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return at
			}
			break
		}
	}
	return len(b)
}

// ResultContent is a shown value, or the answer of a command (display_data).
type ResultContent struct {
	ExecutionCount int               `json:"execution_count"`
	Data           map[string]string `json:"data"` // text/plain always
	Warning        bool              `json:"warning,omitempty"`
}

// ErrorContent is a failure.
type ErrorContent struct {
	Name      string   `json:"ename"`     // kind word: type, panic, bounds, oom, …
	Value     string   `json:"evalue"`    // one line
	Traceback []string `json:"traceback"` // the block below the line
	File      string   `json:"file,omitempty"`
	Cell      int      `json:"cell"`
	Line      int      `json:"line"` // in File when there is one, else in the cell
	Column    int      `json:"column"`
}

// InputContent asks the front end for a piece of standard input, and answers it.
type InputContent struct {
	Value string `json:"value"`
	EOF   bool   `json:"eof,omitempty"`
}

// CompleteRequest asks what may stand at the cursor (a byte offset).
type CompleteRequest struct {
	Code      string `json:"code"`
	CursorPos int    `json:"cursor_pos"`
}

// CompleteReply lists candidates that replace [CursorStart, CursorEnd).
type CompleteReply struct {
	Status      string      `json:"status"`
	Matches     []string    `json:"matches"`
	Details     []Candidate `json:"details,omitempty"`
	CursorStart int         `json:"cursor_start"`
	CursorEnd   int         `json:"cursor_end"`
}

// A Candidate describes one match.
type Candidate struct {
	Text   string `json:"text"`
	Kind   string `json:"type"`
	Detail string `json:"signature,omitempty"`
}

// InspectRequest asks about the thing at the cursor.
type InspectRequest struct {
	Code        string `json:"code"`
	CursorPos   int    `json:"cursor_pos"`
	DetailLevel int    `json:"detail_level,omitempty"`
}

// InspectReply describes it.
type InspectReply struct {
	Status string            `json:"status"`
	Found  bool              `json:"found"`
	Data   map[string]string `json:"data"`
}

// IsCompleteReply says whether code is whole.
type IsCompleteReply struct {
	Status string `json:"status"` // complete, incomplete, invalid
	Indent string `json:"indent"`
	// Errors are the mistakes of the code, when they were asked for and it is whole; Status is then invalid.
	Errors []ErrorContent `json:"errors,omitempty"`
}

// CodeRequest carries code alone.
type CodeRequest struct {
	Code  string `json:"code"`
	Check bool   `json:"check,omitempty"` // type-check it too; nothing runs
}

// KernelInfo is the answer to kernel_info_request.
type KernelInfo struct {
	Status          string       `json:"status"`
	ProtocolVersion string       `json:"protocol_version"`
	Implementation  string       `json:"implementation"`
	Version         string       `json:"implementation_version"`
	Language        LanguageInfo `json:"language_info"`
	Banner          string       `json:"banner"`
	PID             int          `json:"pid"`
}

// LanguageInfo describes the language of cells.
type LanguageInfo struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	MIMEType      string `json:"mimetype"`
	FileExtension string `json:"file_extension"`
}

// InterruptRequest stops an execution, also one that has not begun yet.
type InterruptRequest struct {
	Target string `json:"target"`           // msg_id of its execute_request
	Reason string `json:"reason,omitempty"` // "timeout", else an interrupt
}

// ShutdownRequest ends the kernel.
type ShutdownRequest struct {
	Restart bool `json:"restart"`
}

// ShutdownReply confirms it.
type ShutdownReply struct {
	Status string `json:"status"`
}
