package selftest

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// tensors finds the tensor of an operand's host array.
type tensors map[*byte]*tpu.Tensor

func key(a kernel.Array) *byte { return unsafe.SliceData(a.Buf) }

// upload makes a tensor of an operand; a strided one is a view of its storage.
func (ts tensors) upload(a kernel.Array) *tpu.Tensor {
	if t := ts[key(a)]; t != nil {
		return t
	}
	var t *tpu.Tensor
	if n := len(a.Buf) / max(1, a.DType.HostBytes()); n == a.Size() && a.Offset == 0 && a.Contiguous() {
		t = tpu.FromArray(a)
	} else {
		whole := a
		whole.View = shape.Dense([]int{n})
		t = tpu.Apply("as_strided", op.Attrs{{Name: "size", Value: a.Dims}, {Name: "stride", Value: a.Strides}, {Name: "storage_offset", Value: a.Offset}}, tpu.FromArray(whole))[0]
	}
	ts[key(a)] = t
	return t
}

// uploadAll uploads every tensor among operands.
func (ts tensors) uploadAll(ops []conformance.Operand) {
	for i := range ops {
		switch ops[i].Kind {
		case conformance.Tensor:
			ts.upload(ops[i].Array)
		case conformance.List:
			ts.uploadAll(ops[i].Items)
		case conformance.Foreign:
			panic(skip("element type " + ops[i].Str))
		}
	}
}

// apply runs one recorded operation on tensors. For an in-place one the result is the target.
func (ts tensors) apply(r *conformance.Record) []*tpu.Tensor {
	if strings.HasPrefix(r.ID, "opinfo/") || r.ID == "" {
		if out, ok := ts.formed(r); ok {
			return out
		}
	}
	if f, ok := ts.transformed(r.Op); ok {
		return f(&composite{ts, r})
	}
	f := special[r.Op]
	if f == nil {
		f = composed[r.Op]
	}
	if f != nil {
		if out, ok := f(ts, r); ok {
			return out
		}
	}
	if out, ok := ts.composed(r); ok {
		return out
	}
	if !hasRow(r.Op) && !strings.HasSuffix(r.Op, "_") {
		if out, ok := ts.formed(r); ok {
			return out
		}
	}
	return ts.row(r)
}

// row is apply for an operation that is a row, perhaps in an in-place form.
func (ts tensors) row(r *conformance.Record) []*tpu.Tensor {
	name, write := r.Op, ""
	switch {
	case strings.HasSuffix(name, ".out"):
		name, write = strings.TrimSuffix(name, ".out"), "out"
	case strings.HasSuffix(name, "_"):
		name, write = strings.TrimSuffix(name, "_"), "in"
	}
	c := *r
	c.Op = name
	var out *tpu.Tensor
	if write == "out" {
		out = ts.upload(c.Inputs[len(c.Inputs)-1].Array)
		c.Inputs = c.Inputs[:len(c.Inputs)-1]
	}
	a := conformance.Adapt(&c)
	var last error = &conformance.BindError{Row: op.Name(a.Op), Arg: "operation", Why: "no row"}
	for _, n := range conformance.Rows(a.Op) {
		row := op.Lookup(n)
		if row == nil {
			continue
		}
		in, attrs, err := conformance.Bind(row, a)
		if err != nil {
			last = err
			continue
		}
		args := make([]any, len(in))
		for i, x := range in {
			switch {
			case !x.Valid():
			case x.Weak:
				args[i] = numberOf(x)
			default:
				args[i] = ts.upload(x)
			}
		}
		switch write {
		case "out":
			return []*tpu.Tensor{tpu.Into(out, string(n), attrs, args...)}
		case "in":
			return []*tpu.Tensor{tpu.InPlace(string(n), attrs, args...)}
		}
		return tpu.Apply(string(n), attrs, args...)
	}
	var be *conformance.BindError
	if errors.As(last, &be) && be.Arg == "operation" {
		panic(skip("no row " + a.Op))
	}
	panic(&tpu.Error{Op: a.Op, Err: last})
}

// numberOf gives the Go number of a weak array.
func numberOf(a kernel.Array) any {
	switch a.DType.Kind() {
	case 0:
		return kernel.Bools(a)[0] != 0
	case 1, 2:
		return kernel.Int64s(a)[0]
	}
	return kernel.Float64s(a)[0]
}

// call runs a record that is one call: results, layouts, gradients, second gradients.
func call(r *conformance.Record) error {
	ts := tensors{}
	ts.uploadAll(r.Inputs)
	var flat []conformance.Operand
	var leaf []bool
	for i, o := range r.Inputs {
		grads := len(r.Cotangents) > 0
		for _, k := range r.NoGradInputs {
			grads = grads && k != i
		}
		switch o.Kind {
		case conformance.Tensor:
			flat, leaf = append(flat, o), append(leaf, grads && o.Array.DType.IsFloat())
		case conformance.List:
			for _, x := range o.Items {
				flat, leaf = append(flat, x), append(leaf, grads && x.Kind == conformance.Tensor && x.Array.DType.IsFloat())
			}
		default:
			flat, leaf = append(flat, o), append(leaf, false)
		}
	}
	var leaves []*tpu.Tensor
	for i, o := range flat {
		if leaf[i] {
			t := ts[key(o.Array)]
			if !t.RequiresGrad() {
				t.RequireGrad()
			}
			leaves = append(leaves, t)
		}
	}
	if len(r.Cotangents) > 0 && strings.HasSuffix(r.Op, "_") && !strings.HasSuffix(r.Op, "__") && leaf[0] {
		k := key(flat[0].Array) // recorded on a copy of the first input
		own := ts[k]
		ts[k] = own.Clone()
		defer func() { ts[k] = own }()
	}
	got := ts.apply(r)
	if len(r.Outputs) == 1 && r.Outputs[0].Kind == conformance.List {
		r.Outputs = r.Outputs[0].Items
	}
	got = asked(r, got)
	if len(got) != len(r.Outputs) {
		return fmt.Errorf("%d results, want %d", len(got), len(r.Outputs))
	}
	for i, want := range r.Outputs {
		if want.Kind != conformance.Tensor {
			continue
		}
		if err := conformance.Compare(got[i].Array(), want.Array, r.Tol); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
		if err := layout(got[i], want, flat, ts, len(flat) != len(r.Inputs)); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	if len(r.Cotangents) == 0 || len(leaves) == 0 {
		return nil
	}
	return gradients(r, ts, got, flat, leaf, leaves)
}

// layout compares strides, offset and storage of a view.
func layout(t *tpu.Tensor, want conformance.Operand, in []conformance.Operand, ts tensors, nested bool) error {
	if want.Layout == nil {
		return nil
	}
	v := t.StorageView()
	if want.Alias != nil && (!shape.EqualDims(v.Strides, want.Layout.Strides) || v.Offset != want.Layout.Offset) {
		return fmt.Errorf("strides %v offset %d, want %v %d", v.Strides, v.Offset, want.Layout.Strides, want.Layout.Offset)
	}
	for i, o := range in {
		if o.Kind != conformance.Tensor || nested {
			continue
		}
		shares := ts[key(o.Array)].SharesStorage(t)
		if alias := want.Alias != nil && *want.Alias == i; shares != alias && t.Size() > 0 {
			return fmt.Errorf("shares the storage of input %d: %v, want %v", i, shares, alias)
		}
	}
	return nil
}

// flatten lists the operands inside lists.
func flatten(ops []conformance.Operand) []conformance.Operand {
	var out []conformance.Operand
	for _, o := range ops {
		if o.Kind == conformance.List {
			out = append(out, o.Items...)
		} else {
			out = append(out, o)
		}
	}
	return out
}

func gradients(r *conformance.Record, ts tensors, got []*tpu.Tensor, flat []conformance.Operand, leaf []bool, leaves []*tpu.Tensor) error {
	cots := flatten(r.Cotangents)
	second := r.Extra["grads2"] != nil
	var ys, gs, gleaf []*tpu.Tensor
	for i, y := range got {
		if i < len(cots) && cots[i].Kind == conformance.Tensor && y.RequiresGrad() {
			g := tpu.FromArray(cots[i].Array)
			if second {
				g.RequireGrad()
			}
			ys, gs = append(ys, y), append(gs, g)
			gleaf = append(gleaf, g)
		}
	}
	want := flatten(r.Grads)
	if len(ys) == 0 {
		for _, w := range want {
			if w.Kind == conformance.Tensor && !zeros(w.Array) {
				return fmt.Errorf("no result takes part in gradients")
			}
		}
		return nil
	}
	grads := tpu.GradAll(ys, gs, tpu.GradOptions{AllowUnused: true, CreateGraph: second}, leaves...)
	k := 0
	var wants []conformance.Operand
	if second {
		wants = want // flat over the differentiable inputs
	} else {
		for i := range flat {
			if leaf[i] {
				w := conformance.Operand{}
				if i < len(want) {
					w = want[i]
				}
				wants = append(wants, w)
			}
		}
	}
	for ; k < len(grads) && k < len(wants); k++ {
		if err := compareGrad(grads[k], wants[k], r.GradTol); err != nil {
			return fmt.Errorf("gradient %d: %w", k, err)
		}
	}
	if !second {
		return nil
	}
	return secondGradients(r, grads, leaves, gleaf)
}

func compareGrad(got *tpu.Tensor, want conformance.Operand, tol conformance.Tol) error {
	switch {
	case want.Kind != conformance.Tensor:
		if got != nil && !zeros(got.Array()) {
			return fmt.Errorf("%v, want none", got)
		}
		return nil
	case got == nil:
		if zeros(want.Array) {
			return nil
		}
		return fmt.Errorf("none, want %v", want.Array.Spec())
	}
	return conformance.Compare(got.Array(), want.Array, tol)
}

func zeros(a kernel.Array) bool {
	for _, x := range kernel.Float64s(a) {
		if x != 0 {
			return false
		}
	}
	return true
}

func secondGradients(r *conformance.Record, grads, leaves, cots []*tpu.Tensor) error {
	list := func(name string) []conformance.Operand {
		l, _ := r.Extra[name].([]any)
		out := make([]conformance.Operand, len(l))
		for i, x := range l {
			o, err := conformance.Decode(x)
			if err != nil {
				panic(&tpu.Error{Op: name, Err: err})
			}
			out[i] = o
		}
		return out
	}
	var ys, gs []*tpu.Tensor
	for i, c := range list("cotangents2") {
		if c.Kind == conformance.Tensor && i < len(grads) && grads[i] != nil && grads[i].RequiresGrad() {
			ys, gs = append(ys, grads[i]), append(gs, tpu.FromArray(c.Array))
		}
	}
	xs := append(append([]*tpu.Tensor{}, leaves...), cots...)
	var got []*tpu.Tensor
	if len(ys) == 0 {
		got = make([]*tpu.Tensor, len(xs))
	} else {
		got = tpu.GradAll(ys, gs, tpu.GradOptions{AllowUnused: true}, xs...)
	}
	for i, w := range list("grads2") {
		if err := compareGrad(got[i], w, r.GradTol); err != nil {
			return fmt.Errorf("second gradient %d: %w", i, err)
		}
	}
	for i, w := range list("grads2_cotangents") {
		if len(leaves)+i >= len(got) {
			break
		}
		if err := compareGrad(got[len(leaves)+i], w, r.GradTol); err != nil {
			return fmt.Errorf("second gradient of cotangent %d: %w", i, err)
		}
	}
	return nil
}
