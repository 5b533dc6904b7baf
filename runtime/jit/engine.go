package jit

import (
	"sync"

	"github.com/tpush/tpush/runtime/simd"
)

// Level is the way an Engine runs programs. All levels give the same bits.
type Level = simd.Level

// The levels.
const (
	Tiles  = simd.Generic // Go loops over tiles, on any processor
	AVX2   = simd.AVX2    // machine code for 256-bit registers
	AVX512 = simd.AVX512  // machine code for 512-bit registers
)

// Best is the highest level this processor has.
func Best() Level { return simd.Detected() }

// An Engine makes kernels of programs and remembers them. It may be used by
// many goroutines.
type Engine struct {
	level   Level
	longRow int // a row longer than this is cut even when it is folded
	stream  int // bytes from which on a result is written past the cache: it is larger than the one of a core, and writing through would first read what it replaces
	mu      sync.RWMutex
	kernels map[string]*Kernel
}

// NewEngine makes an engine that knows no program yet. It falls back to Tiles
// when the processor has not the level, or the system allows no machine code
// made at run time.
func NewEngine(level Level) *Engine {
	if level > Best() || level > Tiles && !allowed() {
		level = Tiles
	}
	return &Engine{level: level, longRow: 1 << 16, stream: 4 << 20, kernels: map[string]*Kernel{}}
}

// Level is how the engine runs programs.
func (e *Engine) Level() Level { return e.level }

// Kernel gives the kernel of p; the one made before for a program of the same Key.
func (e *Engine) Kernel(p *Program) *Kernel {
	e.mu.RLock()
	k := e.kernels[p.key]
	e.mu.RUnlock()
	if k != nil {
		return k
	}
	k = newKernel(p, e) // may ask for kernels itself
	e.mu.Lock()
	defer e.mu.Unlock()
	if other := e.kernels[p.key]; other != nil {
		return other
	}
	e.kernels[p.key] = k
	return k
}

// machine makes the code of a plan.
func (e *Engine) machine(pl *plan, l layout) machine {
	if e.level > Tiles {
		if m := native(pl, e.level, l); m != nil {
			return m
		}
	}
	return newVM(pl)
}
