package tpu

import (
	"fmt"
	"hash/fnv"
	"io"
	"testing"

	"github.com/tpush/tpush/runtime/par"
	"github.com/tpush/tpush/runtime/simd/simdtest"
)

// TestProgramsGiveTheSameBits runs random programs over small and large tensors
// in every mode, at every level of the processor and without machine code, on
// one thread and on all: they read, print and are refused the same everywhere.
func TestProgramsGiveTheSameBits(t *testing.T) {
	statements = fuzzStatements()
	simdtest.Everywhere(t, func(t *testing.T, _ simdtest.Way, found simdtest.Found) {
		for seed := range uint64(24) {
			large := seed%2 == 1
			par.Default().SetThreads(int(seed / 2 % 2))
			log := agree(t, 5000+seed, 1+int(seed*7%40), large)
			for i, line := range log {
				h := fnv.New64a()
				io.WriteString(h, line)
				found(fmt.Sprintf("seed %d, line %d", seed, i), h.Sum64())
			}
			if !large {
				continue
			}
			par.Default().SetThreads(4)
			again := runs()[0].play(t, 5000+seed, 1+int(seed*7%40), large)
			for i, line := range again.log {
				if i >= len(log) || line != log[i] {
					t.Errorf("seed %d, line %d: other threads give other bits", seed, i)
					break
				}
			}
		}
	})
}
