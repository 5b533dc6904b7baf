package tpu

import "github.com/tpush/tpush/runtime/exec"

// A Snapshot remembers tensors as they are: which value each storage holds,
// its place on the tape, the gradient gathered. Values are immutable, so none is
// copied; they take no HBM for it, only host memory once the program frees them.
type Snapshot struct {
	tensors  map[*Tensor]Tensor
	storages map[*Storage]Storage
	hists    map[*history]history
	nodes    map[*node]savedNode
	e        *engine
	seed     uint64
	offset   uint64
	x64      bool
}

// A savedNode is what a backward pass takes from the tape.
type savedNode struct {
	freed bool
	saved []*saved
}

// NewSnapshot begins a snapshot; it remembers the state of the random numbers.
func NewSnapshot() *Snapshot {
	e := ambientEngine()
	return &Snapshot{
		tensors: map[*Tensor]Tensor{}, storages: map[*Storage]Storage{}, hists: map[*history]history{}, nodes: map[*node]savedNode{},
		e: e, seed: e.seed, offset: e.offset, x64: e.x64,
	}
}

// Add remembers a tensor and what its gradient hangs on.
func (p *Snapshot) Add(t *Tensor) {
	var todo []*node
	p.tensor(t, &todo)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, s := range n.saved {
			if s != nil {
				p.storage(s.s)
				p.history(s.hist, &todo)
			}
		}
		for _, h := range n.ins {
			p.history(h, &todo)
		}
	}
}

func (p *Snapshot) tensor(t *Tensor, todo *[]*node) {
	for ; t != nil && t.s != nil; t = t.base {
		if _, ok := p.tensors[t]; ok {
			return
		}
		p.tensors[t] = *t
		p.storage(t.s)
		p.history(t.hist, todo)
	}
}

func (p *Snapshot) storage(s *Storage) {
	if _, ok := p.storages[s]; !ok {
		p.storages[s] = *s
		s.value.Hold() // as long as the snapshot may be restored
	}
}

func (p *Snapshot) history(h *history, todo *[]*node) {
	if h == nil {
		return
	}
	if _, ok := p.hists[h]; ok {
		return
	}
	p.hists[h] = *h
	if h.grad != nil {
		h.shown = true
		p.tensor(h.grad, todo)
	}
	if n := h.fn; n != nil {
		if _, ok := p.nodes[n]; !ok {
			p.nodes[n] = savedNode{n.freed, append([]*saved(nil), n.saved...)}
			*todo = append(*todo, n)
		}
	}
}

// Values calls f with the value of each storage.
func (p *Snapshot) Values(f func(*exec.Value)) {
	for _, s := range p.storages {
		f(s.value)
	}
}

// Restore makes every tensor what it was.
func (p *Snapshot) Restore() {
	p.e.live.forget()
	p.e.unsettle()
	for t, old := range p.tensors {
		*t = old
	}
	for s, old := range p.storages {
		*s = old
		s.views()
		s.pins = 0
	}
	for h, old := range p.hists {
		*h = old
		h.held = held{}
	}
	for n, old := range p.nodes {
		n.freed = old.freed
		n.saved = append(n.saved[:0], old.saved...)
	}
	p.e.seed, p.e.offset, p.e.x64 = p.seed, p.offset, p.x64
	p.e.d.Touch()
}
