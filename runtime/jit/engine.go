package jit

import "sync"

// An Engine makes kernels of programs and remembers them. It may be used by
// many goroutines.
type Engine struct {
	mu      sync.Mutex
	kernels map[string]*Kernel
	make    func(pl *plan, alias bool) machine
	longRow int
}

// NewEngine makes an engine that knows no program yet.
func NewEngine() *Engine {
	return &Engine{kernels: map[string]*Kernel{}, make: func(pl *plan, _ bool) machine { return newVM(pl) }, longRow: 1 << 16}
}

// Kernel gives the kernel of p; the one made before for a program of the same Key.
func (e *Engine) Kernel(p *Program) *Kernel {
	e.mu.Lock()
	defer e.mu.Unlock()
	k, ok := e.kernels[p.key]
	if !ok {
		k = newKernel(p, e)
		e.kernels[p.key] = k
	}
	return k
}
