package jit

import "sync"

// An Engine makes kernels of programs and remembers them. It may be used by
// many goroutines.
type Engine struct {
	mu      sync.Mutex
	kernels map[string]*Kernel
}

// NewEngine makes an engine that knows no program yet.
func NewEngine() *Engine { return &Engine{kernels: map[string]*Kernel{}} }

// Kernel gives the kernel of p; the one made before for a program of the same Key.
func (e *Engine) Kernel(p *Program) *Kernel {
	e.mu.Lock()
	defer e.mu.Unlock()
	k, ok := e.kernels[p.key]
	if !ok {
		k = &Kernel{program: p}
		e.kernels[p.key] = k
	}
	return k
}

// A Kernel runs one program. It may run in many goroutines at once.
type Kernel struct {
	program *Program
}

// Program is what the kernel computes.
func (k *Kernel) Program() *Program { return k.program }

// Run computes the outputs of c. The error is a *CallError.
func (k *Kernel) Run(c *Call) error { return k.program.Interpret(c) }
