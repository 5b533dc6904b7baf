package tpu

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A Range is an index item: start:stop:step. nil means open.
type Range struct{ Start, Stop, Step any }

// Slice is the index item start:stop; nil means open.
func Slice(start, stop any) Range { return Range{start, stop, nil} }

// SliceStep is the index item start:stop:step; nil means open.
func SliceStep(start, stop, step any) Range { return Range{start, stop, step} }

type ellipsis struct{}
type newAxis struct{}

// Ellipsis is the index item ... , which stands for as many whole axes as fit.
var Ellipsis any = ellipsis{}

// NewAxis is the index item that inserts an axis of size 1.
var NewAxis any = newAxis{}

// A TooManyIndicesError says that an index has more items than the tensor axes.
type TooManyIndicesError struct {
	Spec  shape.Spec
	Items int // axes they take
}

// Error counts them.
func (e *TooManyIndicesError) Error() string {
	return fmt.Sprintf("index: %d items for the %d axes of %v", e.Items, len(e.Spec.Dims), e.Spec)
}

// An IndexTypeError says that a value cannot be an item of an index.
type IndexTypeError struct{ Type string }

// Error names the type.
func (e *IndexTypeError) Error() string {
	return fmt.Sprintf("index: %s is no index: integers, ranges, masks and tensors of integers are", e.Type)
}

// A MaskError says that a mask does not have the sizes of the axes it selects from.
type MaskError struct {
	Mask, Of []int
	Axis     int // axis of the tensor where they differ
}

// Error names the axis.
func (e *MaskError) Error() string {
	return fmt.Sprintf("index: a mask of shape %s does not fit %s at axis %d", shape.FormatDims(e.Mask), shape.FormatDims(e.Of), e.Axis)
}

// plain is an index without its basic items: a view, and what is left for a gather.
type plain struct {
	view     *Tensor
	advanced []advanced // in the order of their axes
}

// advanced is a mask or a tensor of integers and the axis of the view it starts at.
type advanced struct {
	axis int
	t    *Tensor
	mask bool
}

// Index gives the elements an index selects, by PyTorch's rules: a view for
// integers, ranges, Ellipsis and NewAxis; a copy when a mask or a tensor or
// slice of integers is among the items.
func (t *Tensor) Index(items ...any) *Tensor {
	p := t.basic(items)
	if p.advanced == nil {
		if p.view == t {
			return call("alias", nil, t)
		}
		return p.view
	}
	front, index, back := p.arrange()
	def, attrs := lookup("index", nil)
	r := do(def, attrs, byKind(def, front, index, nil)...)
	if back != nil {
		r = call("permute", op.Attrs{{Name: "dims", Value: back(len(r.view.Dims))}}, r)
	}
	return r
}

// SetIndex writes v, broadcast and converted, where the index points.
func (t *Tensor) SetIndex(v any, items ...any) *Tensor {
	e := t.engine()
	p := t.basic(items)
	if p.advanced == nil {
		if y, ok := v.(*Tensor); ok {
			p.view.CopyFrom(y.trimTo("setitem", p.view.view.Dims))
		} else {
			p.view.FillInPlace(v)
		}
		return t
	}
	if m := p.onlyMask(); m != nil {
		if y, ok := v.(*Tensor); !ok || y != nil && len(y.view.Dims) == 0 && y.dt == t.dt {
			return t.fillMask(p.view, m, v)
		}
	}
	var y *Tensor
	switch v := v.(type) {
	case *Tensor:
		if v == nil {
			e.fail("setitem", &NilTensorError{})
		}
		y = v.to(t.dt)
	default:
		n, ok := number(v)
		if !ok {
			e.fail("setitem", operandError(v, "a *tpu.Tensor or a number is wanted"))
		}
		y = e.fullOf(shape.Spec{DType: t.dt, Dims: []int{}}, n)
	}
	front, index, back := p.arrange()
	if back != nil && len(y.view.Dims) > 0 {
		// The value has the shape of the result; bring its axes into the order of the gather.
		n := len(front.view.Dims) - len(index) + rankOf(index)
		y = y.trimTo("setitem", resultDims(front, index, back(n)))
		y = y.expandTo(resultDims(front, index, back(n)))
		y = call("permute", op.Attrs{{Name: "dims", Value: inverse(back(n))}}, y)
	}
	def, attrs := lookup("index_put", nil)
	front.write(def, attrs, byKind(def, front, index, y), false)
	return t
}

// inverse gives the permutation that undoes p.
func inverse(p []int) []int {
	q := make([]int, len(p))
	for i, x := range p {
		q[x] = i
	}
	return q
}

// rankOf is the rank of the broadcast indices.
func rankOf(index []*Tensor) int {
	n := 0
	for _, x := range index {
		n = max(n, len(x.view.Dims))
	}
	return n
}

// resultDims gives the sizes of a gather after its axes were put back in place.
func resultDims(front *Tensor, index []*Tensor, back []int) []int {
	var dims []int
	for _, x := range index {
		d, ok := shape.Broadcast(dims, x.view.Dims)
		if !ok {
			front.engine().fail("index", shape.NewBroadcastError("index", shape.Spec{DType: x.dt, Dims: dims}, x.Spec()))
		}
		dims = d
	}
	all := append(append([]int{}, dims...), front.view.Dims[len(index):]...)
	out := make([]int, len(back))
	for i, b := range back {
		out[i] = all[b]
	}
	return out
}

// trimTo drops leading axes of size 1 that the target does not have.
func (t *Tensor) trimTo(name string, dims []int) *Tensor {
	if t == nil {
		refuse(name, &NilTensorError{})
	}
	have := t.view.Dims
	for len(have) > len(dims) && have[0] == 1 {
		have = have[1:]
	}
	if len(have) == len(t.view.Dims) {
		return t
	}
	return call("reshape", op.Attrs{{Name: "shape", Value: nonNil(have)}}, t)
}

// onlyMask gives the mask when the index has nothing else to gather by.
func (p *plain) onlyMask() *advanced {
	if len(p.advanced) == 1 && p.advanced[0].mask {
		return &p.advanced[0]
	}
	return nil
}

// fillMask writes one number where the mask is true: no sizes depend on data.
func (t *Tensor) fillMask(v *Tensor, mask *advanced, x any) *Tensor {
	m := mask.t
	for range len(v.view.Dims) - mask.axis - len(m.view.Dims) {
		m = call("unsqueeze", op.Attrs{{Name: "dim", Value: -1}}, m)
	}
	name := op.Name("masked_fill")
	if _, ok := x.(*Tensor); ok && op.Lookup("masked_fill.Tensor") != nil {
		name = "masked_fill.Tensor"
	}
	def := op.Must(name)
	var attrs op.Attrs
	in := []any{v, m}
	takes := false
	for _, p := range def.Params {
		if p.Name == "value" && !p.Kind.IsTensor() {
			attrs, takes = op.Attrs{{Name: "value", Value: numberAttr(x)}}, true
		}
	}
	if !takes {
		in = append(in, x)
	}
	a, err := def.Complete(attrs)
	if err != nil {
		t.engine().fail(string(name), err)
	}
	v.write(def, a, in, false)
	return t
}

// byKind orders operands as an indexing row takes them.
func byKind(def *op.Def, x *Tensor, index []*Tensor, value *Tensor) []any {
	var in []any
	first := true
	list := false
	for _, p := range def.Params {
		switch {
		case !p.Kind.IsTensor():
		case p.Kind == op.KTensors:
			list = true
		case first:
			in, first = append(in, x), false
		case value != nil:
			in = append(in, value)
		}
	}
	if list {
		in = spread(index, in)
	}
	return in
}

// basic applies the basic items of an index and gathers the others.
func (t *Tensor) basic(items []any) *plain {
	e := t.engine()
	rank := len(t.view.Dims)
	takes, dots := 0, 0
	for i, x := range items {
		switch x := x.(type) {
		case nil, newAxis, bool:
		case ellipsis:
			dots++
		case *Tensor:
			switch {
			case x == nil:
				e.fail("index", &NilTensorError{Arg: fmt.Sprintf("item %d", i)})
			case isMask(x.dt):
				takes += len(x.view.Dims)
			default:
				takes++
			}
		default:
			takes++
		}
	}
	if takes > rank {
		e.fail("index", &TooManyIndicesError{t.Spec(), takes})
	}
	if dots > 1 {
		e.fail("index", &shape.ArgumentError{Op: "index", Arg: "...", Value: dots, Why: "it may stand only once"})
	}
	p := &plain{view: t}
	axis := 0
	for _, item := range items {
		switch x := item.(type) {
		case nil, newAxis:
			p.view = call("unsqueeze", op.Attrs{{Name: "dim", Value: axis}}, p.view)
			axis++
		case ellipsis:
			axis += rank - takes
		case bool:
			p.view = call("unsqueeze", op.Attrs{{Name: "dim", Value: axis}}, p.view)
			p.gather(axis, e.boolIndex(x), false)
			axis++
		case Range:
			p.view = p.view.slice(axis, x)
			axis++
		case []int:
			p.gather(axis, e.indexOf(x), false)
			axis++
		case []bool:
			p.gather(axis, From(x), true)
			p.checkMask(axis)
			axis++
		case *Tensor:
			switch {
			case isMask(x.dt) && len(x.view.Dims) == 0:
				p.view = call("unsqueeze", op.Attrs{{Name: "dim", Value: axis}}, p.view)
				p.gather(axis, call("reshape", op.Attrs{{Name: "shape", Value: []int{1}}}, x), true)
				axis++
			case isMask(x.dt):
				p.gather(axis, x, true)
				p.checkMask(axis)
				axis += len(x.view.Dims)
			case !x.dt.IsInt():
				e.fail("index", &IndexTypeError{x.dt.String() + " tensor"})
			case len(x.view.Dims) == 0 && !e.d.InProgram():
				p.view = p.view.selectAt(axis, x.Int())
			default:
				p.gather(axis, x, false)
				axis++
			}
		default:
			n, ok := number(item)
			i, whole := n.(int64)
			if !ok || !whole {
				e.fail("index", &IndexTypeError{reflect.TypeOf(item).String()})
			}
			p.view = p.view.selectAt(axis, int(i))
		}
	}
	return p
}

func isMask(d dtype.DType) bool { return d == dtype.Bool || d == dtype.U8 }

func (p *plain) gather(axis int, t *Tensor, mask bool) {
	p.advanced = append(p.advanced, advanced{axis, t, mask})
}

// checkMask refuses a mask, the last item, that does not fit the axes from axis on.
func (p *plain) checkMask(axis int) {
	m := p.advanced[len(p.advanced)-1].t
	for i, d := range m.view.Dims {
		if d != p.view.view.Dims[axis+i] {
			p.view.engine().fail("index", &MaskError{m.view.Dims, p.view.view.Dims, axis + i})
		}
	}
}

// slice applies a range to an axis; the whole range changes nothing.
func (t *Tensor) slice(axis int, r Range) *Tensor {
	bound := func(x any, open int) int {
		if x == nil {
			return open
		}
		if y, ok := x.(*Tensor); ok && y != nil {
			return y.Int()
		}
		n, _ := number(x)
		i, ok := n.(int64)
		if !ok {
			t.engine().fail("index", &IndexTypeError{fmt.Sprintf("%T", x)})
		}
		return int(max(min(i, math.MaxInt32<<16), -math.MaxInt32<<16))
	}
	start, end, step := bound(r.Start, 0), bound(r.Stop, t.view.Dims[axis]), bound(r.Step, 1)
	if start == 0 && end >= t.view.Dims[axis] && step == 1 {
		return t
	}
	return call("slice", op.Attrs{{Name: "dim", Value: axis}, {Name: "start", Value: start}, {Name: "end", Value: end}, {Name: "step", Value: step}}, t)
}

// indexOf uploads a list of positions.
func (e *engine) indexOf(xs []int) *Tensor {
	a := kernel.New(shape.Of(dtype.I64, len(xs)))
	for i, x := range xs {
		kernel.As[int64](a.Buf)[i] = int64(x)
	}
	return e.upload(a, "index")
}

// boolIndex is the index that a Go bool stands for: one position, or none.
func (e *engine) boolIndex(b bool) *Tensor {
	if b {
		return e.indexOf([]int{0})
	}
	return e.indexOf(nil)
}

// arrange turns masks into positions and brings the axes that are gathered by
// to the front. back gives the permutation that brings the gathered axes of a
// result of rank n to where PyTorch has them; nil when they are there.
func (p *plain) arrange() (front *Tensor, index []*Tensor, back func(n int) []int) {
	var axes []int
	for _, a := range p.advanced {
		if !a.mask {
			axes, index = append(axes, a.axis), append(index, a.t)
			continue
		}
		at := call("nonzero", nil, a.t)
		for k := range len(a.t.view.Dims) {
			axes, index = append(axes, a.axis+k), append(index, at.selectAt(1, k))
		}
	}
	first, adjacent := axes[0], true
	for i, a := range axes {
		adjacent = adjacent && a == first+i
	}
	front = p.view
	if adjacent && first == 0 {
		return front, index, nil
	}
	perm := append([]int{}, axes...)
	for i := range front.view.Dims {
		taken := false
		for _, a := range axes {
			taken = taken || a == i
		}
		if !taken {
			perm = append(perm, i)
		}
	}
	rest := len(perm) - len(axes)
	front = call("permute", op.Attrs{{Name: "dims", Value: perm}}, front)
	if !adjacent {
		return front, index, nil
	}
	return front, index, func(n int) []int {
		gathered := n - rest
		out := make([]int, 0, n)
		for i := range first {
			out = append(out, gathered+i)
		}
		for i := range gathered {
			out = append(out, i)
		}
		for i := first; i < rest; i++ {
			out = append(out, gathered+i)
		}
		return out
	}
}
