package view

import (
	"reflect"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// known are the variables as they were when they could last be looked at.
type known struct {
	rows   inspect.Variables
	detail inspect.VariablesArgs // of rows.Detail
}

// reached lists the values that a variable leads to.
func reached(x any) []uint64 {
	if x == nil {
		return nil
	}
	var ids []uint64
	for _, t := range tpu.Tensors(reflect.ValueOf(x)) {
		if t != nil {
			ids = append(ids, t.Value().ID())
		}
	}
	return ids
}

// Variables are the names of the session. While a cell runs they are given as
// they were before it.
func (v *Views) Variables(args inspect.VariablesArgs) (inspect.Variables, error) {
	if v.s.Quiet(func() { v.read(args) }) {
		return v.vars.rows, nil
	}
	out := v.vars.rows
	out.Before = true
	if args != v.vars.detail {
		out.Detail = nil
	}
	return out, nil
}

// read reads the variables; no cell may run.
func (v *Views) read(args inspect.VariablesArgs) {
	d := v.s.Dispatcher()
	blocks := map[uint64]*inspect.MemoryBlock{}
	m := inspect.MemoryOf(v.s.Device().HBM())
	for i := range m.Blocks {
		if id := m.Blocks[i].Value; id != 0 {
			blocks[id] = &m.Blocks[i]
		}
	}
	next := uint64(d.Stats().Launches + 1)
	out := inspect.Variables{Rows: []inspect.Variable{}}
	counted := map[uint64]bool{}
	for _, x := range v.s.Interp().Variables() {
		row := inspect.Variable{Name: x.Name, Type: x.Type, Cell: x.Cell, Address: -1}
		t, ok := x.Value.(*tpu.Tensor)
		if !ok || t == nil {
			row.Text = v.s.Brief(interp.Shown{Value: x.Value, Type: x.Type, Name: x.Name})
			for _, id := range reached(x.Value) { // a model: what its tensors take
				if b := blocks[id]; b != nil && !counted[id] {
					row.HBMBytes += b.Size
					counted[id] = true
				}
			}
			out.HBMBytes += row.HBMBytes
			out.Rows = append(out.Rows, row)
			continue
		}
		val := t.Value()
		row.Tensor, row.Type, row.State, row.Op, row.Value = true, t.Spec().String(), t.State().String(), val.OpNumber(), val.ID()
		if f := val.Stack().Top(); f.Line > 0 {
			row.Place, row.Cell, row.Line = f.Place(), f.Cell, f.Line
		}
		if b := blocks[val.ID()]; b != nil {
			row.HBMBytes, row.Address, row.Group = b.Size, b.Addr, b.Group
			if !counted[val.ID()] {
				out.HBMBytes += b.Size
				counted[val.ID()] = true
			}
		} else if row.State == exec.Deferred.String() {
			row.Group = next
		}
		if args.Detail == x.Name {
			out.Detail = TensorOf(t, x.Name, args.Slice)
		}
		out.Rows = append(out.Rows, row)
	}
	v.vars = known{out, args}
}

// sampled is how many numbers of a tensor are looked at in a snapshot.
const sampled = 1 << 16

// TensorOf describes a tensor. Numbers that are not computed are not asked for.
func TensorOf(t *tpu.Tensor, name, slice string) *inspect.Tensor {
	spec := t.Spec()
	out := &inspect.Tensor{
		Name: name, Spec: spec.String(), Dims: t.Dims(), Layout: t.Layout().String(), Bytes: t.Bytes(), HBMBytes: t.PaddedBytes(),
		State: t.State().String(), Op: t.Value().What(), Strides: t.Strides(), Offset: t.Offset(), Version: t.Version(),
	}
	if f := t.Origin().Top(); f.Line > 0 {
		out.Place = f.Place()
	}
	if t.RequiresGrad() {
		if out.Grad = t.GradFn(); out.Grad == "" {
			out.Grad = "a leaf"
		}
	}
	a, ok := t.Peek()
	if !ok {
		return out
	}
	out.Known = true
	x := sample(a, sampled)
	if x.Size() < a.Size() {
		out.Sampled = x.Size()
	}
	out.Stats = inspect.StatsOf(x)
	out.Hist = inspect.HistOf(x, histBins)
	out.Slice = matrix(a, slice)
	return out
}

// histBins is how many intervals the histogram of a snapshot has.
const histBins = 60

// Sample gives the numbers of an array; of many, some that are evenly spread.
func Sample(a kernel.Array) []float64 { return inspect.Magnitudes(sample(a, sampled)) }

// sample takes at most n elements, evenly spread.
func sample(a kernel.Array, n int) kernel.Array {
	if a.Size() <= n {
		return a
	}
	step := (a.Size() + n - 1) / n
	flat := kernel.Contiguous(a)
	flat.View = shape.View{Dims: []int{(a.Size() + step - 1) / step}, Strides: []int{step}}
	return flat
}
