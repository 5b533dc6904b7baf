package kernel

import (
	"context"
	"encoding/json"
	"sync"
)

// A Supervisor keeps a kernel process running: when it dies or is to be
// replaced, the next one can be brought to where the last one was.
type Supervisor struct {
	start func() (*Process, error)

	mu      sync.Mutex
	process *Process
	journal *Journal
	lost    []journalEntry // of the kernel before, until it is replayed
}

// Supervise starts a kernel with start, which is called again for each
// replacement.
func Supervise(start func() (*Process, error)) (*Supervisor, error) {
	p, err := start()
	if err != nil {
		return nil, err
	}
	return &Supervisor{start: start, process: p, journal: &Journal{}}, nil
}

// Process is the kernel that runs now.
func (s *Supervisor) Process() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// Execute runs a cell or a command. A *DiedError says that the kernel is gone:
// Restart replaces it.
func (s *Supervisor) Execute(ctx context.Context, r ExecuteRequest, ev Events) (ExecuteReply, error) {
	s.mu.Lock()
	p, j := s.process, s.journal
	s.mu.Unlock()
	rep, err := p.Execute(ctx, r, ev)
	if err == nil {
		j.Note(r, rep)
	}
	return rep, err
}

// Debug sends a request to the debugger of the kernel that runs now. A command
// that is evaluated at a stop and sets something is kept as if it had been
// executed.
func (s *Supervisor) Debug(ctx context.Context, request json.RawMessage) (json.RawMessage, error) {
	s.mu.Lock()
	p, j := s.process, s.journal
	s.mu.Unlock()
	reply, err := p.Debug(ctx, request)
	if err == nil {
		j.noteDebug(request, reply)
	}
	return reply, err
}

// IsComplete asks whether code is whole.
func (s *Supervisor) IsComplete(ctx context.Context, code string) (IsCompleteReply, error) {
	return s.Process().IsComplete(ctx, code)
}

// Restart ends the kernel, if it lives, and starts the next. What the old one
// was asked to do can be replayed on it.
func (s *Supervisor) Restart() error {
	s.Process().Kill()
	p, err := s.start()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.journal.take(); len(list) > 0 {
		s.lost = list
	}
	s.process, s.journal = p, &Journal{}
	return nil
}

// Lost is how many cells and commands of the kernel before could be replayed.
func (s *Supervisor) Lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lost)
}

// Replay asks the present kernel everything again that the kernel before it was
// asked. What the cells print is dropped and they read no input.
func (s *Supervisor) Replay(ctx context.Context) (Replayed, error) {
	s.mu.Lock()
	list := s.lost
	s.lost = nil
	s.mu.Unlock()
	return replay(ctx, s, list)
}

// Stop ends the kernel.
func (s *Supervisor) Stop() { s.Process().Stop() }
