// Package kernel holds the loops: functions over host arrays that define what
// every operation computes.
//
// A kernel knows dtypes and dimensions, not tensors, graphs or devices. It
// imports dtype, shape, mem, par and simd. Invariant: a kernel reads its inputs through their
// strides, writes its outputs densely, and gives the same bits for any number
// of threads.
package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// An Array is a host array seen through a view. Strides and Offset count
// elements. Buf holds DType.HostBytes() bytes an element and is aligned to 64.
// The zero Array stands for an absent optional operand.
type Array struct {
	DType dtype.DType
	shape.View
	Buf []byte
	// Weak marks a Go number used as an operand, as in shape.Spec: a
	// comparison rounds it to the type of its partner.
	Weak bool
}

// New makes a dense zeroed array.
func New(s shape.Spec) Array {
	return Array{DType: s.DType, View: shape.Dense(s.Dims), Buf: Alloc(s.HostBytes())}
}

// NewRaw makes a dense array of unspecified contents.
func NewRaw(s shape.Spec) Array {
	return Array{DType: s.DType, View: shape.Dense(s.Dims), Buf: AllocRaw(s.HostBytes())}
}

// Spec gives element type and dimensions.
func (a Array) Spec() shape.Spec { return shape.Spec{DType: a.DType, Dims: a.Dims, Weak: a.Weak} }

// Size is the number of elements seen.
func (a Array) Size() int { return shape.Size(a.Dims) }

// Valid is false for an absent optional operand.
func (a Array) Valid() bool { return a.DType != dtype.Invalid }

// A Call is one run of a kernel. Out arrays are dense, of the inferred specs,
// and hold unspecified bytes: a kernel writes every element. Outputs never alias inputs.
type Call struct {
	In    []Array
	Out   []Array
	Attrs Attrs
	Memo  *Memo // nil: nothing is remembered
}

// A Memo is what a kernel remembers between calls whose arrays have the same
// types and views. The zero Memo remembers nothing.
type Memo struct {
	short  *elementwise // whose short way it is
	points *points      // whose program it is
	point  *point
	flat   bool
	grain  int // the most elements that one goroutine computes
}

// A Func computes c.Out from c.In. It returns an error only for data it
// cannot work on (an impossible factorization); shapes were checked before.
type Func func(c *Call) error
