// Package op is the table of operations: one row says everything about one.
//
// It never computes by itself and never looks at a queue or a device. It
// imports dtype, shape, kernel and stablehlo. Invariant: every row is complete
// (TestRowsComplete), and no row mentions the table: rows name other
// operations by their Name constants.
package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Name is the key of a row, in PyTorch's spelling: add, index_select.
type Name string

// Attrs are the attributes of one call.
type Attrs = kernel.Attrs

// Attr is one attribute.
type Attr = kernel.Attr

// A Value is a handle on a result, perhaps not computed yet. Only exec and tpu make them.
type Value interface{ Spec() shape.Spec }

// A Builder applies operations while a gradient is being written. Its methods
// panic with the runtime's typed error when an operation is refused; the
// caller of a gradient rule recovers.
type Builder interface {
	// Do applies a row and gives its first result.
	Do(n Name, a Attrs, in ...Value) Value
	// All applies a row and gives every result.
	All(n Name, a Attrs, in ...Value) []Value
	// Scalar makes an operand of a Go number: weak, so it does not promote its partner within a kind.
	Scalar(x float64) Value
	// Full makes a constant of the given spec.
	Full(s shape.Spec, x float64) Value
}

// A Call is one application that a gradient rule looks at. In and Out follow
// the row: one entry per tensor parameter (a list parameter expands at the
// end), nil for an absent optional operand. Needs says which inputs want a gradient.
type Call struct {
	Attrs Attrs
	In    []Value
	Out   []Value
	Needs []bool
}

// Class groups rows: one file and one documentation section each.
type Class uint8

// The classes of operations.
const (
	Elementwise Class = iota
	Reduce
	Contract
	Move
	View
	Index
	Normalize
	Loss
	Random
	Factory
	Collective
	numClasses
)

// Traits are yes-or-no properties of a row.
type Traits uint16

// The traits.
const (
	MetadataOnly Traits = 1 << iota // never triggers a launch, even in Strict
	Commutative                     // operands may be swapped
	SideEffect                      // kept in the queue though nobody holds its result
	CutBefore                       // a region ends before it
	CutAfter                        // a region ends after it
	Draws                           // random: an input carries the counter state
	HostSize                        // the size of the result depends on data: it reads the device
	Composite                       // runs as one kernel, lowers to several StableHLO ops
)

// Unit is the part of the chip that does the work.
type Unit uint8

// The units.
const (
	VPU Unit = iota // vector unit
	MXU             // matrix unit
	XLU             // cross-lane unit: transposes, lane reductions
	DMA             // copies
	EUP             // transcendental unit
)

// String gives the name of the unit.
func (u Unit) String() string { return [...]string{"VPU", "MXU", "XLU", "DMA", "EUP"}[u] }

// Cost is the work of one call, before padding. The device adds layout and bandwidth.
type Cost struct {
	FLOPs      int64 // useful floating-point operations
	VPUOps     int64 // vector operations (one element each)
	EUPOps     int64 // transcendental evaluations
	XLUOps     int64 // elements through the cross-lane unit
	M, N, K, B int   // matmul B×[m,k]×[k,n]; zero when none
	Unit       Unit
}

// Kind of a parameter.
type Kind uint8

// The kinds of parameters. Tensor kinds come first in the inputs, in order.
const (
	KTensor    Kind = iota // *Tensor
	KOperand               // *Tensor or Go number
	KOptTensor             // *Tensor, may be absent
	KTensors               // ...*Tensor: must be the last tensor parameter
	KInt
	KFloat
	KBool
	KString
	KInts // []int, variadic when last
	KDType
	KNumber // float64 or int or bool, kept as given
)

// IsTensor says whether a parameter of this kind is an input.
func (k Kind) IsTensor() bool { return k <= KTensors }

// A Param is one parameter in PyTorch's order. A Default makes an attribute
// optional: it then lives in the generated options struct, whose zero value
// means the default.
type Param struct {
	Name    string // PyTorch's keyword: dim, keepdim, other
	Kind    Kind
	Default any  // nil: required
	Dynamic bool // the value is an argument of the executable, not part of the cache key
	Doc     string
}

// An IndexCheck tells Debug mode which values of an index input are legal.
type IndexCheck struct {
	Index  int    // position of the index tensor among the inputs
	Into   int    // position of the tensor it points into; -1 when none (one_hot)
	Axis   int    // axis of Into, or Flat
	Lo, Hi int64  // legal values, both included; Lo < 0 when negative indices count from the end
	Skip   *int64 // a value that is always legal (ignore_index)
}

// A Trap is a number that PyTorch refuses as an operand of integers, and for
// which the device itself computes something.
type Trap struct {
	In      int  // position among the inputs
	Numbers bool // only Go numbers are refused, always; else all, when checks were switched on
	Bad     func(x int64) bool
	Why     string // "division by zero"
}

// Flat in place of an axis says that indices count all elements in row-major order.
const Flat = -1

// A Grad rule gives the gradient for each input (nil: none) from the gradients
// of the outputs (dy[i] nil: no gradient came for output i).
type Grad func(b Builder, c *Call, dy []Value) []Value

// A LowerCall is what a lowering sees.
type LowerCall struct {
	In    []stablehlo.Value // absent optional operands have an empty ID
	Out   []shape.Spec
	Attrs Attrs
	// Number, when not nil, gives an attribute as an argument of the program, an
	// f64[], so that one program serves every value of it. A rule may still look
	// at Attrs: programs are told apart by the sign of a number, and by whether
	// it is 0, 1, infinite or NaN.
	Number func(name string) (stablehlo.Value, bool)
}

// Splat gives numeric attribute name as a tensor of spec s: an argument of the
// program where it may be one, else a constant.
func (c *LowerCall) Splat(w *stablehlo.Writer, name string, s shape.Spec) stablehlo.Value {
	if c.Number != nil {
		if v, ok := c.Number(name); ok {
			return w.BroadcastTo(w.Convert(v, s.DType), s.Dims)
		}
	}
	return w.Splat(s, numberAttr(c.Attrs.Get(name)))
}

// A Def is one row of the table.
type Def struct {
	Name    Name
	Torch   string // PyTorch's operator and overload: add.Tensor
	Method  string // Go method on *tpu.Tensor; "" when it has none
	Func    string // Go function of package tpu; "" when it has none
	InPlace bool   // the method also exists as Method+"InPlace"
	Doc     string // one sentence
	Example string // one line of a cell, executed by a test
	Class   Class
	Traits  Traits
	Params  []Param
	Results []string // names of the results when there are several

	// Shape and DType infer a single result; Infer does it for rows with
	// several results, or where both hang together. They refuse bad input with
	// the typed errors of shape and dtype.
	Shape func(in []shape.Spec, a Attrs) ([]int, error)
	DType func(in []shape.Spec, a Attrs) (dtype.DType, error)
	Infer func(in []shape.Spec, a Attrs) ([]shape.Spec, error)

	// Host, in rows with HostSize, reads the inputs on the host and gives the
	// attributes completed with the sizes it found; Shape wants those. nil: the
	// size does not hang on data for these attributes.
	Host func(in []kernel.Array, a Attrs) (Attrs, error)

	Grad    Grad
	NoGrad  string // why there is no gradient
	Kernel  kernel.Func
	View    func(v shape.View, a Attrs) (shape.View, error) // class View only: the result sees the same storage
	Lower   func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value
	Cost    func(in, out []shape.Spec, a Attrs) Cost
	Indices func(in []shape.Spec, a Attrs) []IndexCheck
	Trap    *Trap
}

// Inputs gives the tensor parameters.
func (d *Def) Inputs() []Param {
	var p []Param
	for _, x := range d.Params {
		if x.Kind.IsTensor() {
			p = append(p, x)
		}
	}
	return p
}

// Attributes gives the parameters that are not tensors.
func (d *Def) Attributes() []Param {
	var p []Param
	for _, x := range d.Params {
		if !x.Kind.IsTensor() {
			p = append(p, x)
		}
	}
	return p
}

// Specs infers the results of a call, or says why it is refused.
func (d *Def) Specs(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	if err := d.refuseComplex(in); err != nil {
		return nil, err
	}
	if d.Infer != nil {
		out, err := d.Infer(in, a)
		for i := 0; err == nil && i < len(out); i++ {
			err = shape.CheckDims(string(d.Name), out[i].Dims)
		}
		return out, d.named(err)
	}
	s, err := d.Spec(in, a)
	if err != nil {
		return nil, err
	}
	return []shape.Spec{s}, nil
}

// Spec infers the only result of a call. d.Infer must be nil.
func (d *Def) Spec(in []shape.Spec, a Attrs) (shape.Spec, error) {
	if err := d.refuseComplex(in); err != nil {
		return shape.Spec{}, err
	}
	t, err := d.DType(in, a)
	if err != nil {
		return shape.Spec{}, d.named(err)
	}
	dims, err := d.Shape(in, a)
	if err == nil {
		err = shape.CheckDims(string(d.Name), dims)
	}
	if err != nil {
		return shape.Spec{}, d.named(err)
	}
	return shape.Spec{DType: t, Dims: dims}, nil
}

// named puts the row's name into a refusal found by a rule that rows share.
func (d *Def) named(err error) error {
	switch e := err.(type) {
	case *shape.MismatchError:
		if e.Op == "" {
			n := *e
			n.Op = string(d.Name)
			return &n
		}
	case *shape.ArgumentError:
		if e.Op == "" {
			n := *e
			n.Op = string(d.Name)
			return &n
		}
	}
	return err
}

// Has says whether the row has trait t.
func (d *Def) Has(t Traits) bool { return d.Traits&t != 0 }
