package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// Events receive what an execution produces, on the goroutine that waits for
// it. A nil function ignores its kind.
type Events struct {
	Stream  func(StreamContent)
	Result  func(ResultContent)
	Display func(ResultContent)
	Error   func(ErrorContent)
	// Debug takes an event of the debugger, and may ask the debugger meanwhile:
	// the events and outputs that follow wait for it.
	Debug func(event json.RawMessage)
	// Input gives a piece of standard input, io.EOF at the end. It runs on a goroutine of its own.
	Input func() (string, error)
}

// A Client talks to one kernel.
type Client struct {
	conn conn
	died func() *DiedError // waits for the process and says how it ended

	mu      sync.Mutex
	next    int
	waiting map[string]chan Message
	gone    bool
	over    chan struct{} // closed once gone
	onDebug func(json.RawMessage)
}

// NewClient makes a client over a pair of pipes. died is called once the pipe
// has broken and says how the kernel ended; it may be nil.
func NewClient(r io.Reader, w io.Writer, died func() *DiedError) *Client {
	c := &Client{conn: conn{r: r, w: w}, died: died, waiting: map[string]chan Message{}, over: make(chan struct{})}
	go c.read()
	return c
}

func (c *Client) read() {
	for {
		m, err := c.conn.receive()
		if err != nil {
			c.mu.Lock()
			c.gone = true
			for _, ch := range c.waiting {
				close(ch)
			}
			clear(c.waiting)
			c.mu.Unlock()
			close(c.over)
			return
		}
		c.mu.Lock()
		ch, onDebug := c.waiting[m.Parent.ID], c.onDebug
		c.mu.Unlock()
		switch {
		case ch != nil:
			ch <- m
		case m.Header.Type == TypeDebugEvent && onDebug != nil:
			onDebug(m.Content)
		}
	}
}

// Wait waits until the kernel is gone, also when nobody asks it anything, and
// says how it ended: a *DiedError.
func (c *Client) Wait() error {
	<-c.over
	return c.dead()
}

func (c *Client) dead() error {
	if c.died != nil {
		return c.died()
	}
	return &DiedError{Status: "connection closed"}
}

// request sends a message and gives the channel of everything that answers it.
func (c *Client) request(typ string, content any) (string, chan Message, error) {
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return "", nil, c.dead()
	}
	c.next++
	id := strconv.Itoa(c.next)
	ch := make(chan Message, 256)
	c.waiting[id] = ch
	c.mu.Unlock()
	if err := c.conn.send(typ, id, Header{}, content); err != nil {
		c.forget(id)
		return "", nil, c.dead()
	}
	return id, ch, nil
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
}

// Execute runs a cell or a command and waits for its end. When ctx ends it
// interrupts the cell, giving the cause, and goes on waiting for the reply.
// A *DiedError says that the kernel is gone.
func (c *Client) Execute(ctx context.Context, r ExecuteRequest, ev Events) (ExecuteReply, error) {
	r.AllowStdin, r.AllowDebug = ev.Input != nil, ev.Debug != nil
	id, ch, err := c.request(TypeExecuteRequest, r)
	if err != nil {
		return ExecuteReply{}, err
	}
	defer c.forget(id)
	stop := ctx.Done()
	var late []Message // came while a debugger's event was being handled
	for {
		var m Message
		ok := true
		if len(late) > 0 {
			m, late = late[0], late[1:]
		} else {
			select {
			case <-stop:
				stop = nil
				c.interrupt(ctx, id)
				continue
			case m, ok = <-ch:
			}
		}
		if !ok {
			return ExecuteReply{}, c.dead()
		}
		if m.Header.Type == TypeDebugEvent && ev.Debug != nil {
			handled := make(chan struct{})
			go func() {
				defer close(handled)
				ev.Debug(m.Content)
			}()
			if late, stop, ok = c.collect(ctx, id, ch, stop, handled, late); !ok {
				return ExecuteReply{}, c.dead()
			}
			continue
		}
		rep, done, err := c.deliver(m, ev)
		if done || err != nil {
			return rep, err
		}
	}
}

// interrupt asks the kernel to stop an execution because ctx ended.
func (c *Client) interrupt(ctx context.Context, id string) {
	reason := ""
	if context.Cause(ctx) == context.DeadlineExceeded {
		reason = "timeout"
	}
	_ = c.conn.send(TypeInterruptRequest, id+".i", Header{}, InterruptRequest{id, reason})
}

// collect keeps what arrives until a debugger's event is handled. The handler
// talks to the kernel, so the goroutine that reads from it must never wait.
func (c *Client) collect(ctx context.Context, id string, ch <-chan Message, stop, handled <-chan struct{}, late []Message) ([]Message, <-chan struct{}, bool) {
	for {
		select {
		case <-handled:
			return late, stop, true
		case <-stop:
			stop = nil
			c.interrupt(ctx, id)
		case m, ok := <-ch:
			if !ok {
				<-handled // its own requests fail now
				return late, stop, false
			}
			late = append(late, m)
		}
	}
}

func (c *Client) deliver(m Message, ev Events) (rep ExecuteReply, done bool, err error) {
	switch m.Header.Type {
	case TypeStream:
		err = decode(m, func(c StreamContent) {
			if ev.Stream != nil {
				ev.Stream(c.whole())
			}
		})
	case TypeExecuteResult:
		err = decode(m, ev.Result)
	case TypeDisplayData:
		err = decode(m, ev.Display)
	case TypeError:
		err = decode(m, ev.Error)
	case TypeInputRequest:
		go func() {
			text, err := ev.Input()
			_ = c.conn.send(TypeInputReply, "", m.Parent, InputContent{Value: text, EOF: err != nil})
		}()
	case TypeExecuteReply:
		return rep, true, json.Unmarshal(m.Content, &rep)
	}
	return rep, false, err
}

func decode[T any](m Message, f func(T)) error {
	if f == nil {
		return nil
	}
	var v T
	if err := json.Unmarshal(m.Content, &v); err != nil {
		return &FrameError{Err: fmt.Errorf("%s: %w", m.Header.Type, err)}
	}
	f(v)
	return nil
}

// ask sends a request that has a single reply. When ctx ends first it gives
// its cause, and the reply is dropped when it comes.
func ask[T any](ctx context.Context, c *Client, typ string, content any) (T, error) {
	var v T
	id, ch, err := c.request(typ, content)
	if err != nil {
		return v, err
	}
	defer c.forget(id)
	select {
	case m, ok := <-ch:
		if !ok {
			return v, c.dead()
		}
		return v, json.Unmarshal(m.Content, &v)
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}

// Complete asks for candidates.
func (c *Client) Complete(ctx context.Context, r CompleteRequest) (CompleteReply, error) {
	return ask[CompleteReply](ctx, c, TypeCompleteRequest, r)
}

// Inspect asks about the thing at the cursor.
func (c *Client) Inspect(ctx context.Context, r InspectRequest) (InspectReply, error) {
	return ask[InspectReply](ctx, c, TypeInspectRequest, r)
}

// Check asks whether code is whole and, when it is, for its mistakes. Nothing runs.
func (c *Client) Check(ctx context.Context, code string) (IsCompleteReply, error) {
	return ask[IsCompleteReply](ctx, c, TypeIsCompleteRequest, CodeRequest{Code: code, Check: true})
}

// IsComplete asks whether code is whole.
func (c *Client) IsComplete(ctx context.Context, code string) (IsCompleteReply, error) {
	return ask[IsCompleteReply](ctx, c, TypeIsCompleteRequest, CodeRequest{Code: code})
}

// Info asks who the kernel is.
func (c *Client) Info(ctx context.Context) (KernelInfo, error) {
	return ask[KernelInfo](ctx, c, TypeKernelInfoRequest, struct{}{})
}

// Shutdown asks the kernel to end and waits for its consent.
func (c *Client) Shutdown() error {
	_, err := ask[ShutdownReply](context.Background(), c, TypeShutdownRequest, ShutdownRequest{})
	return err
}
