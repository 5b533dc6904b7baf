package selftest

import (
	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
)

// special are the operations that are no row, or whose Go form is another one.
// A handler that gives false leaves the record to the rows.
var special = map[string]func(tensors, *conformance.Record) ([]*tpu.Tensor, bool){
	"getitem": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).Index(ts.items(r)...))
	},
	"setitem":  setItem,
	"setitem_": setItem,
	"fill_": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).FillInPlace(ts.value(r.Inputs[1])))
	},
	"zero_": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).ZeroInPlace()) },
	"copy_": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).CopyFrom(ts.value(r.Inputs[1])))
	},
	"t_": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).TransposeInPlace(0, 1))
	},
	"squeeze_": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).SqueezeInPlace(rest(r)...))
	},
	"unsqueeze_": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).UnsqueezeInPlace(rest(r)[0]))
	},
	"transpose_": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		n := rest(r)
		return one_(first(ts, r).TransposeInPlace(n[0], n[1]))
	},
	"detach":     func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).Detach()) },
	"contiguous": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).Contiguous()) },
	"view_as": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).ViewAs(second(ts, r)))
	},
	"expand_as": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).ExpandAs(second(ts, r)))
	},
	"broadcast_to": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return one_(first(ts, r).BroadcastTo(ints(r.Attrs["size"])...))
	},
	"mT":         func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).T()) },
	"adjoint":    func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).T()) },
	"atleast_1d": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).AtLeast1D()) },
	"atleast_2d": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).AtLeast2D()) },
	"atleast_3d": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return one_(first(ts, r).AtLeast3D()) },
	"unbind": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return first(ts, r).Unbind(attrInt(r, "dim", 0)), true
	},
	"chunk": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return first(ts, r).Chunk(intArg(r, "chunks"), attrInt(r, "dim", 0)), true
	},
	"split":        split,
	"tensor_split": tensorSplit,
	"hsplit": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return first(ts, r).HSplit(rest(r)[0]), true
	},
	"vsplit": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return first(ts, r).VSplit(rest(r)[0]), true
	},
	"dsplit": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return first(ts, r).DSplit(rest(r)[0]), true
	},
	"broadcast_tensors": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return tpu.BroadcastTensors(ts.list(r.Inputs[0])...), true
	},
	"cast": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		name, _ := r.Attrs["dtype"].(string)
		d, ok := dtype.Parse(name)
		if !ok || len(r.Inputs) != 1 {
			return nil, false
		}
		return one_(first(ts, r).To(tpu.DType(d)))
	},
	"slice": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		x := first(ts, r)
		dim := attrInt(r, "dim", 0)
		items := []any{}
		if dim < 0 {
			items = append(items, tpu.Ellipsis)
		} else {
			for range dim {
				items = append(items, tpu.Slice(nil, nil))
			}
		}
		if _, ok := r.Attrs["start"].(int); ok && dim >= 0 {
			if _, ok := r.Attrs["end"].(int); ok {
				return nil, false // the row takes it
			}
		}
		items = append(items, tpu.SliceStep(r.Attrs["start"], r.Attrs["end"], r.Attrs["step"]))
		for i := dim + 1; i < 0; i++ {
			items = append(items, tpu.Slice(nil, nil))
		}
		return one_(x.Index(items...))
	},
	"einsum": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		eq, _ := r.Attrs["equation"].(string)
		xs := []*tpu.Tensor{}
		for _, o := range r.Inputs {
			switch o.Kind {
			case conformance.String:
				eq = o.Str
			case conformance.List:
				xs = append(xs, ts.list(o)...)
			default:
				xs = append(xs, ts.upload(o.Array))
			}
		}
		return one_(tpu.Einsum(eq, xs...))
	},
	"nonzero": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		if tuple, _ := r.Attrs["as_tuple"].(bool); tuple {
			x := first(ts, r)
			if x.Rank() == 0 {
				x = x.Reshape(1)
			}
			return x.Nonzero().Unbind(1), true
		}
		return nil, false
	},
	"batch_norm": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		return ts.row(r)[:max(1, len(r.Outputs))], true
	},
	"unique":             func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return unique(ts, r), true },
	"unique_consecutive": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) { return unique(ts, r), true },
	"index_put":          indexPut,
	"index_put_":         indexPut,
	"dropout": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		if on, ok := r.Attrs["training"].(bool); ok && !on {
			return one_(first(ts, r))
		}
		return one_(first(ts, r).Dropout(float(r.Attrs["p"])))
	},
	"repeat_interleave": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		if len(r.Inputs) != 1 || len(r.Attrs) > 0 {
			return nil, false
		}
		x := first(ts, r) // the positions, each as often as its number says
		return one_(tpu.I64.Arange(x.Size()).RepeatEach(x))
	},
	"item": func(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
		first(ts, r).Item()
		return nil, true
	},
}

func one_(t *tpu.Tensor) ([]*tpu.Tensor, bool) { return []*tpu.Tensor{t}, true }

func first(ts tensors, r *conformance.Record) *tpu.Tensor  { return ts.upload(r.Inputs[0].Array) }
func second(ts tensors, r *conformance.Record) *tpu.Tensor { return ts.upload(r.Inputs[1].Array) }

// rest gives the integers after the first input.
func rest(r *conformance.Record) []int {
	var out []int
	for _, o := range r.Inputs[1:] {
		if n, ok := o.Number.(int); ok {
			out = append(out, n)
		}
		for _, x := range o.Items {
			if n, ok := x.Number.(int); ok {
				out = append(out, n)
			}
		}
	}
	return out
}

func attrInt(r *conformance.Record, name string, or int) int {
	if n, ok := r.Attrs[name].(int); ok {
		return n
	}
	return or
}

// intArg is a parameter given by position or by name.
func intArg(r *conformance.Record, name string) int {
	if len(r.Inputs) > 1 {
		return rest(r)[0]
	}
	return attrInt(r, name, 0)
}

func (ts tensors) list(o conformance.Operand) []*tpu.Tensor {
	var out []*tpu.Tensor
	for _, x := range o.Items {
		out = append(out, ts.upload(x.Array))
	}
	return out
}

// value gives what a value operand is in Go.
func (ts tensors) value(o conformance.Operand) any {
	if o.Kind == conformance.Tensor {
		return ts.upload(o.Array)
	}
	return o.Number
}

func split(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
	x, dim := first(ts, r), attrInt(r, "dim", 0)
	if l, ok := r.Attrs["split_size_or_sections"].([]any); ok {
		return x.SplitSizes(ints(l), dim), true
	}
	if len(r.Inputs) > 1 && r.Inputs[1].Kind == conformance.List {
		return x.SplitSizes(rest(r), dim), true
	}
	return x.Split(intArg(r, "split_size_or_sections"), dim), true
}

func tensorSplit(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
	x, dim := first(ts, r), attrInt(r, "dim", 0)
	if len(r.Inputs) > 1 && r.Inputs[1].Kind == conformance.List {
		return x.TensorSplitAt(rest(r), dim), true
	}
	for _, k := range []string{"indices_or_sections", "indices", "tensor_indices_or_sections"} {
		if l, ok := r.Attrs[k].([]any); ok {
			return x.TensorSplitAt(ints(l), dim), true
		}
	}
	if len(r.Inputs) > 1 {
		return x.TensorSplit(rest(r)[0], dim), true
	}
	return x.TensorSplit(attrInt(r, "indices_or_sections", attrInt(r, "sections", 0)), dim), true
}

// items makes the items of a recorded index.
func (ts tensors) items(r *conformance.Record) []any {
	list, _ := r.Attrs["index"].([]any)
	out := make([]any, len(list))
	for i, x := range list {
		switch x := x.(type) {
		case nil:
			out[i] = tpu.NewAxis
		case string:
			out[i] = tpu.Ellipsis
		case map[string]any:
			switch {
			case x["slice"] != nil:
				s := x["slice"].([]any)
				out[i] = tpu.SliceStep(s[0], s[1], s[2])
			case x["list"] != nil:
				l := x["list"].([]any)
				if _, ok := l[0].(bool); ok {
					b := make([]bool, len(l))
					for k := range l {
						b[k], _ = l[k].(bool)
					}
					out[i] = b
				} else {
					out[i] = ints(l)
				}
			default:
				out[i] = ts.upload(r.Inputs[x["input"].(int)].Array)
			}
		default:
			out[i] = x
		}
	}
	return out
}

func setItem(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
	x := first(ts, r)
	if len(r.Cotangents) > 0 && x.IsLeaf() { // recorded with a copy of the leaf as the target
		x = x.Clone()
	}
	x.SetIndex(ts.value(r.Inputs[r.Attrs["value"].(int)]), ts.items(r)...)
	return []*tpu.Tensor{x}, true
}

// unique gives the results that the flags ask for.
func unique(ts tensors, r *conformance.Record) []*tpu.Tensor {
	all := ts.row(r)
	out := all[:1:1]
	for i, flag := range []string{"return_inverse", "return_counts"} {
		if on, _ := r.Attrs[flag].(bool); on {
			out = append(out, all[i+1])
		}
	}
	return out
}

// indexPut writes by masks through an index; positions are left to the row.
func indexPut(ts tensors, r *conformance.Record) ([]*tpu.Tensor, bool) {
	masks := false
	for _, o := range r.Inputs[1].Items {
		masks = masks || o.Array.DType == dtype.Bool
	}
	if !masks {
		return nil, false
	}
	x := first(ts, r)
	if r.Op == "index_put" {
		x = x.Clone()
	}
	if yes(r.Attrs["accumulate"]) {
		var at []*tpu.Tensor
		for _, t := range ts.list(r.Inputs[1]) {
			if t.DType() == tpu.Bool {
				at = append(at, t.Nonzero().Unbind(1)...)
			} else {
				at = append(at, t)
			}
		}
		args := []any{x, ts.value(r.Inputs[2])}
		for _, t := range at {
			args = append(args, t)
		}
		return one_(tpu.InPlace("index_put", op.Attrs{{Name: "accumulate", Value: true}}, args...))
	}
	var items []any
	for _, t := range ts.list(r.Inputs[1]) {
		items = append(items, t)
	}
	x.SetIndex(ts.value(r.Inputs[2]), items...)
	return []*tpu.Tensor{x}, true
}
