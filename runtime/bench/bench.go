// Package bench holds the workloads that tpush is measured by: single
// operations, products, fused chains, rows, training steps, decoding,
// convolutions and graphs of many nodes.
//
// It uses the tensor layer as a program would and never looks below it.
// It imports tpu, optim, exec and device/sim. Invariant: the inputs of a case
// depend on nothing but its name, so that every run, mode and peer computes the
// same numbers, and Check says what they came to.
package bench

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// A Case is one row of a workload.
type Case struct {
	Workload, Name string
	DType          tpu.DType
	Work           float64 // what one unit amounts to, counted in Unit
	Unit           string  // op, FLOP, byte, element, step, token, node

	// modes are the modes the case is about; nil for all.
	modes []*exec.Mode
	// once marks a unit that runs alone in a sample: what it measures happens one time.
	once  bool
	build func(m *exec.Mode) unit
}

// A unit is a case that was set up in one mode.
type unit struct {
	// run does n units and returns when their results are there.
	run func(n int)
	// check gives the numbers that the case comes to.
	check func() []float64
}

// A Workload is a group of cases.
type Workload struct {
	Name, Doc string
	cases     func() []Case
}

// Workloads lists the workloads that run in this process, in order. W10 (the
// start of the program) and W11 (a mode against another) are made of them by who runs them.
func Workloads() []Workload {
	return []Workload{
		{"W1", "one small operation, called again and again", dispatchCases},
		{"W2", "products of matrices", productCases},
		{"W3", "chains of ten elementwise operations", chainCases},
		{"W4", "operations on rows, sorting, gathering and scattering", rowCases},
		{"W5", "a training step of a perceptron, 784-512-512-10", perceptronCases},
		{"W6", "a training step of a transformer of 4 layers", transformerCases},
		{"W7", "greedy decoding with a transformer of 6 layers and a cache", decodeCases},
		{"W8", "a convolutional network, gradients and inference", convolutionCases},
		{"W9", "100,000 dependent operations, and graphs of up to 10,000 nodes", graphCases},
	}
}

// An UnknownError says that there is no workload of a name.
type UnknownError struct{ Name string }

// Error names it.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no workload %s: there are W1 to W11", e.Name)
}

// Cases lists the cases of a workload that make sense in a mode. It returns *UnknownError.
func Cases(workload string, m *exec.Mode) ([]Case, error) {
	for _, w := range Workloads() {
		if w.Name != workload {
			continue
		}
		var list []Case
		for _, c := range w.cases() {
			c.Workload = workload
			if c.modes == nil || slices.Contains(c.modes, m) {
				list = append(list, c)
			}
		}
		return list, nil
	}
	return nil, &UnknownError{workload}
}

// newDispatcher makes a simulated v5e with empty caches.
func newDispatcher(m *exec.Mode) *exec.Dispatcher {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		panic(err) // the table of chips has it
	}
	return exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: m})
}

// function makes f one program in the compiled mode, and in the others a block
// whose intermediate tensors are freed at its end.
func function[F any](m *exec.Mode, f F, tidy func(F) F) F {
	if m == exec.Compiled {
		return tpu.Compile(f).(F)
	}
	return tidy(f)
}

// producer is function for one without operands.
func producer(m *exec.Mode, f func() *tpu.Tensor) func() *tpu.Tensor {
	return function(m, f, func(f func() *tpu.Tensor) func() *tpu.Tensor {
		return func() *tpu.Tensor { return tpu.Tidy(f) }
	})
}

// launch launches what is queued and waits for nothing.
func launch() {
	if err := tpu.Dispatcher().Flush(exec.ReasonSync); err != nil {
		panic(err) // no case fails
	}
}

// simple is a unit that computes one tensor without gradients. It is launched
// before it is freed: what nobody uses would not be computed.
func simple(m *exec.Mode, f func() *tpu.Tensor) unit {
	g := producer(m, f)
	var last *tpu.Tensor
	once := func() {
		if last != nil {
			last.Free()
		}
		last = g()
		launch()
	}
	return unit{
		run: func(n int) {
			for range n {
				once()
			}
			tpu.Sync(last)
		},
		check: func() []float64 { return summary(g()) },
	}
}
