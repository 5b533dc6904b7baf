package stablehlo

import (
	"github.com/tpush/tpush/runtime/shape"
)

// While repeats body as long as cond gives true; both get the carried values,
// and body gives the next ones, of the same types.
func (w *Writer) While(init []Value, cond func(w *Writer, args []Value) Value, body Region) []Value {
	args := specs(init)
	return w.Op("stablehlo.while", init, args, "",
		region(args, func(w *Writer, a []Value) []Value { return []Value{cond(w, a)} }),
		region(args, body))
}

// If writes if: the results of yes when pred is true, else those of no. The
// regions have no arguments and use the values around them.
func (w *Writer) If(pred Value, out []shape.Spec, yes, no func(w *Writer) []Value) []Value {
	branch := func(f func(w *Writer) []Value) func(*Writer) {
		return region(nil, func(w *Writer, _ []Value) []Value { return f(w) })
	}
	return w.Op("stablehlo.if", []Value{pred}, out, "", branch(yes), branch(no))
}

// RngBitGenerator writes rng_bit_generator: the state u64[2] and bits of the
// given unsigned type. algorithm is THREE_FRY, PHILOX or DEFAULT.
func (w *Writer) RngBitGenerator(algorithm string, state Value, out shape.Spec) (next, bits Value) {
	r := w.Op("stablehlo.rng_bit_generator", []Value{state}, []shape.Spec{state.Spec, out},
		"rng_algorithm = #stablehlo<rng_algorithm "+algorithm+">")
	return r[0], r[1]
}

// OptimizationBarrier keeps the compiler from moving work across it.
func (w *Writer) OptimizationBarrier(xs ...Value) []Value {
	return w.Op("stablehlo.optimization_barrier", xs, specs(xs), "")
}
