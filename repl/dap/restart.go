package dap

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tpush/tpush/repl/kernel"
)

// restart runs the program anew in a kernel of its own, from the file as it is
// now and with the breakpoints that are set. When that cannot be, the program
// that is there goes on.
func (s *server) restart(r *request) (any, error) {
	old := s.program
	if old == nil {
		return nil, bad("restart: nothing is launched")
	}
	var x struct {
		Arguments *LaunchArguments `json:"arguments"` // nil: as before
	}
	if len(r.Args) > 0 {
		if err := json.Unmarshal(r.Args, &x); err != nil {
			return nil, bad("restart: %v", err)
		}
	}
	a := old.args
	if x.Arguments != nil {
		a = *x.Arguments
		if strings.TrimSpace(a.Program) == "" {
			a.Program = old.args.Program
		}
	}
	p, err := s.start(a)
	if err != nil {
		return nil, bad("restart: %v", err)
	}
	s.close(old)
	p.again = old.begun
	s.program = p
	s.marks.restore(func(m *mark) (json.RawMessage, error) { return p.tell(s.ctx, m.command, m.arguments) })
	return nil, nil
}

// close ends a program whose place another one takes: requests that wait for it
// are cancelled, and the client is told nothing more of it.
func (s *server) close(p *program) {
	p.over.Store(true)
	s.mu.Lock()
	for _, cancel := range s.pending {
		cancel()
	}
	s.mu.Unlock()
	p.cancel(kernel.ErrInterrupted)
	p.stop()
	if p.begun {
		<-p.ended
	}
}

// marks are the breakpoints that the client has set. A kernel numbers them as
// they come; a client goes on using the numbers that it was told, so those of a
// kernel after a restart are translated.
type marks struct {
	mu     sync.Mutex
	list   []*mark
	known  map[int]int // the kernel's numbers to the client's; nil before a restart
	base   int         // is added to those that are not known
	newest int         // largest number of the client's
}

// A mark is the last request that set breakpoints of its kind, or in its file.
type mark struct {
	command   string
	source    string // of line breakpoints
	arguments json.RawMessage
	ids       []int // the client's; 0 for one that was not set
}

// settles tells the requests that set breakpoints.
var settles = map[string]bool{"setBreakpoints": true, "setFunctionBreakpoints": true, "setExceptionBreakpoints": true, "setDataBreakpoints": true}

// client gives the client's number of a breakpoint.
func (m *marks) client(id int) int {
	if at, ok := m.known[id]; ok {
		return at
	}
	if id > 0 {
		id += m.base
	}
	m.newest = max(m.newest, id)
	return id
}

// answered notes what a request has set and gives the body as the client is to
// see it.
func (m *marks) answered(r *request, body json.RawMessage) json.RawMessage {
	if !settles[r.Command] {
		return body
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var x struct {
		Breakpoints []map[string]json.RawMessage `json:"breakpoints"`
	}
	if json.Unmarshal(body, &x) != nil {
		return body
	}
	n := &mark{command: r.Command, source: sourceKey(r.Args), arguments: r.Args}
	for _, b := range x.Breakpoints {
		var id int
		if _ = json.Unmarshal(b["id"], &id); id > 0 {
			id = m.client(id)
			b["id"], _ = json.Marshal(id)
		}
		n.ids = append(n.ids, id)
	}
	m.list = slices.DeleteFunc(m.list, func(o *mark) bool { return o.command == n.command && o.source == n.source })
	m.list = append(m.list, n)
	if m.known == nil {
		return body
	}
	if b, err := json.Marshal(x); err == nil {
		body = b
	}
	return body
}

// sourceKey names the source of line breakpoints.
func sourceKey(args json.RawMessage) string {
	var x struct {
		Source json.RawMessage `json:"source"`
	}
	_ = json.Unmarshal(args, &x)
	return string(x.Source)
}

// restore sets the breakpoints again in another kernel.
func (m *marks) restore(set func(*mark) (json.RawMessage, error)) {
	m.mu.Lock()
	list := slices.Clone(m.list)
	m.mu.Unlock()
	known := map[int]int{}
	for _, n := range list {
		body, err := set(n)
		if err != nil {
			continue // what they stood at is gone: they are not hit
		}
		var x struct {
			Breakpoints []struct {
				ID int `json:"id"`
			} `json:"breakpoints"`
		}
		_ = json.Unmarshal(body, &x)
		for i, b := range x.Breakpoints {
			if i < len(n.ids) && b.ID > 0 && n.ids[i] > 0 {
				known[b.ID] = n.ids[i]
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.base = known, m.newest
}

// stopped gives the body of a stop as the client is to see it.
func (m *marks) stopped(body json.RawMessage) json.RawMessage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var x map[string]json.RawMessage
	var ids []int
	if m.known == nil || json.Unmarshal(body, &x) != nil || json.Unmarshal(x["hitBreakpointIds"], &ids) != nil {
		return body
	}
	for i, id := range ids {
		ids[i] = m.client(id)
	}
	x = maps.Clone(x)
	x["hitBreakpointIds"], _ = json.Marshal(ids)
	if b, err := json.Marshal(x); err == nil {
		return b
	}
	return body
}
