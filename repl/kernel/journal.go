package kernel

import (
	"context"
	"encoding/json"
	"sync"
)

// A Runner runs cells and commands; a Client is one.
type Runner interface {
	Execute(ctx context.Context, r ExecuteRequest, ev Events) (ExecuteReply, error)
}

// A Journal is what a kernel was asked to do and what must be asked again of
// the kernel that replaces it: each cell, so that the numbers stay, and the
// commands that change what later cells do.
type Journal struct {
	mu      sync.Mutex
	entries []journalEntry
}

type journalEntry struct {
	request ExecuteRequest
	failed  string // kind word of its error, "" if it ran
}

// Note keeps a request and how it ended.
func (j *Journal) Note(r ExecuteRequest, rep ExecuteReply) {
	if !rep.Replayed {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, journalEntry{r, rep.ErrorName})
}

// noteDebug keeps a command that the debugger evaluated.
func (j *Journal) noteDebug(request, reply json.RawMessage) {
	var r struct {
		Body struct {
			Replayed bool `json:"replayed"`
		} `json:"body"`
	}
	if json.Unmarshal(reply, &r) != nil || !r.Body.Replayed {
		return
	}
	var q struct {
		Arguments struct {
			Expression string `json:"expression"`
		} `json:"arguments"`
	}
	if json.Unmarshal(request, &q) == nil {
		j.Note(ExecuteRequest{Code: q.Arguments.Expression}, ExecuteReply{Replayed: true})
	}
}

// Len is how many requests are kept.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

// take empties the journal and gives what it held.
func (j *Journal) take() []journalEntry {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.entries
	j.entries = nil
	return list
}

// Replayed says how a replay went.
type Replayed struct {
	Requests  int              // that were asked again
	Next      int              // number that the next cell gets, 0 if no cell ran
	Skipped   []ExecuteRequest // cells that were stopped from outside then: they took their number only
	Different []ExecuteRequest // that failed now and did not then, or the other way round
}

// stopped are the kinds of errors of cells that would not have ended by
// themselves.
var stopped = map[string]bool{"interrupt": true, "timeout": true}

// replay asks everything again; what the cells print and show is dropped.
func replay(ctx context.Context, k Runner, list []journalEntry) (Replayed, error) {
	var out Replayed
	for _, e := range list {
		r := e.request
		r.Silent = true
		r.Skip = stopped[e.failed]
		rep, err := k.Execute(ctx, r, Events{})
		if err != nil {
			return out, err
		}
		out.Requests++
		if rep.ExecutionCount > 0 {
			out.Next = rep.ExecutionCount + 1
		}
		switch {
		case r.Skip:
			out.Skipped = append(out.Skipped, e.request)
		case rep.ErrorName != e.failed:
			out.Different = append(out.Different, e.request)
		}
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
	}
	return out, nil
}
