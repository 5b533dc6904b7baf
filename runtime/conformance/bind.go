package conformance

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A BindError says why a record's arguments do not fit a row.
type BindError struct {
	Row      op.Name
	Arg, Why string
}

// Error names the argument.
func (e *BindError) Error() string { return fmt.Sprintf("%s: %s: %s", e.Row, e.Arg, e.Why) }

// Bind orders the record's arguments as row d takes them: positional ones by
// the order of its parameters, keywords by name, defaults filled in.
func Bind(d *op.Def, r *Record) (in []kernel.Array, attrs op.Attrs, err error) {
	pos := r.Inputs
	byName := map[string]Operand{}
	var positional []Operand
	taken := map[int]bool{} // inputs that a keyword refers to
	for k, v := range r.Attrs {
		if k == "requires_grad" || k == "device" || k == "layout" {
			continue // says where and how, not what
		}
		if k == "return_indices" { // it chooses the row
			if (v == true) != (len(d.Results) > 1) {
				return nil, nil, &BindError{d.Name, k, "another row gives as many results"}
			}
			continue
		}
		o, ref, err := keyword(v, r.Inputs)
		if err != nil {
			return nil, nil, &BindError{d.Name, k, err.Error()}
		}
		for _, i := range ref {
			taken[i] = true
		}
		byName[k] = o
	}
	for i, o := range pos {
		if !taken[i] {
			positional = append(positional, o)
		}
	}
	var lists []kernel.Array
	for k, p := range d.Params {
		o, named := byName[p.Name]
		delete(byName, p.Name)
		if !named && len(positional) > 0 {
			o, positional = positional[0], positional[1:]
			named = true
		}
		if p.Kind.IsTensor() && p.Kind != op.KTensors && o.Kind == List {
			// PyTorch has the list before another tensor; a row has lists last.
			if k := slices.IndexFunc(positional, func(x Operand) bool { return x.Kind != List }); k >= 0 {
				o, positional[k] = positional[k], o
			}
		}
		if p.Kind.IsTensor() {
			switch {
			case p.Kind != op.KTensors && o.Kind == Tensor, o.Kind == Scalar && p.Kind == op.KOperand:
				in = append(in, o.Array)
			case o.Kind == Scalar && (p.Kind == op.KTensor || p.Kind == op.KOptTensor):
				return nil, nil, &BindError{d.Name, p.Name, "a number where a tensor is wanted"}
			case o.Kind == None && p.Kind == op.KOptTensor:
				in = append(in, kernel.Array{})
			case o.Kind == List && p.Kind == op.KTensors:
				for _, x := range o.Items {
					if x.Kind != Tensor {
						return nil, nil, &BindError{d.Name, p.Name, "a list of tensors is wanted"}
					}
					lists = append(lists, x.Array)
				}
			case o.Kind == Tensor && p.Kind == op.KTensors:
				// A list spread out: all tensors that follow belong to it.
				lists = append(lists, o.Array)
				for len(positional) > 0 && positional[0].Kind == Tensor {
					lists = append(lists, positional[0].Array)
					positional = positional[1:]
				}
			default:
				return nil, nil, &BindError{d.Name, p.Name, "a tensor is wanted"}
			}
			continue
		}
		if !named || o.Kind == None {
			if v, ok := absent[string(d.Name)+"."+p.Name]; ok {
				attrs = append(attrs, op.Attr{Name: p.Name, Value: v})
			}
			continue
		}
		if o.Kind == String && p.Kind == op.KInts && slices.ContainsFunc(d.Params, func(q op.Param) bool { return q.Name == p.Name+"_mode" }) {
			// PyTorch's padding="same" is an attribute of its own.
			attrs = append(attrs, op.Attr{Name: p.Name + "_mode", Value: o.Str})
			continue
		}
		if p.Kind == op.KInt && o.Kind == List && len(o.Items) == 2 && o.Items[0].Kind == List {
			// A pair of lists, one for each operand, has attributes of its own.
			for i, side := range []string{"_self", "_other"} {
				v, err := attribute(op.Param{Kind: op.KInts}, o.Items[i])
				if err != nil {
					return nil, nil, &BindError{d.Name, p.Name, err.Error()}
				}
				attrs = append(attrs, op.Attr{Name: p.Name + side, Value: v})
			}
			continue
		}
		if p.Kind == op.KInts && o.Kind == Scalar && k == len(d.Params)-1 { // sizes one by one
			o = Operand{Kind: List, Items: append([]Operand{o}, positional...)}
			positional = nil
		}
		v, err := attribute(p, o)
		if err != nil {
			return nil, nil, &BindError{d.Name, p.Name, err.Error()}
		}
		attrs = append(attrs, op.Attr{Name: p.Name, Value: v})
	}
	if len(positional) > 0 {
		return nil, nil, &BindError{d.Name, "arguments", fmt.Sprintf("%d too many", len(positional))}
	}
	for k := range byName {
		return nil, nil, &BindError{d.Name, k, "no such parameter"}
	}
	attrs, err = d.Complete(attrs)
	return append(in, lists...), attrs, err
}

// keyword makes an operand of a keyword's value; {"input": k} refers to an input.
func keyword(v any, inputs []Operand) (o Operand, ref []int, err error) {
	switch v := v.(type) {
	case map[string]any:
		if k, ok := v["input"].(int); ok && k < len(inputs) {
			return inputs[k], []int{k}, nil
		}
		if _, ok := v["dtype"]; ok {
			return Operand{}, nil, fmt.Errorf("a tensor as keyword")
		}
		o, err = Decode(v)
		return o, nil, err
	case []any:
		o.Kind = List
		for _, x := range v {
			y, r, err := keyword(x, inputs)
			if err != nil {
				return o, nil, err
			}
			o.Items = append(o.Items, y)
			ref = append(ref, r...)
		}
		return o, ref, nil
	}
	o, err = Decode(v)
	return o, nil, err
}

// attribute converts an operand to the Go type of a parameter.
func attribute(p op.Param, o Operand) (any, error) {
	n := o.Number
	if o.Kind == Tensor && o.Array.Size() == 1 && p.Kind != op.KNumber { // item()
		switch {
		case o.Array.DType.IsFloat():
			n = kernel.Float64s(o.Array)[0]
		default:
			n = int(kernel.Int64s(o.Array)[0])
		}
	}
	switch p.Kind {
	case op.KInt:
		switch n := n.(type) {
		case int:
			return n, nil
		case bool:
			if n {
				return 1, nil
			}
			return 0, nil
		}
	case op.KFloat:
		switch n := n.(type) {
		case int:
			return float64(n), nil
		case float64:
			return n, nil
		}
	case op.KNumber:
		if n != nil {
			return n, nil
		}
		if o.Kind == String { // the name of a norm
			return o.Str, nil
		}
	case op.KBool:
		switch n := n.(type) {
		case bool:
			return n, nil
		case int:
			return n != 0, nil
		}
	case op.KString:
		if o.Kind == String {
			return o.Str, nil
		}
		if f, ok := n.(float64); ok && math.IsInf(f, 0) {
			return map[bool]string{true: "inf", false: "-inf"}[f > 0], nil
		}
		if i, ok := n.(int); ok { // the order of a matrix norm
			return strconv.Itoa(i), nil
		}
	case op.KInts:
		if i, ok := n.(int); ok {
			return []int{i}, nil
		}
		if o.Kind == List {
			out := make([]int, 0, len(o.Items))
			for _, x := range o.Items {
				if x.Kind == None { // adaptive pooling: keep this size
					out = append(out, -1)
					continue
				}
				i, ok := x.Number.(int)
				if !ok {
					return nil, fmt.Errorf("a list of integers is wanted")
				}
				out = append(out, i)
			}
			return out, nil
		}
	case op.KDType:
		if t, ok := dtype.Parse(o.Str); ok && o.Kind == String {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%v does not fit", n)
}

// Rows gives the rows that may stand for a recorded operation, the likeliest
// first. Module paths (nn.functional.gelu) do not count.
func Rows(recorded string) []op.Name {
	if alias, ok := names[recorded]; ok {
		return slices.Clone(alias)
	}
	for _, path := range []string{"nn.functional.", "special.", "linalg."} {
		short, ok := strings.CutPrefix(recorded, path)
		if !ok {
			continue
		}
		under := strings.ReplaceAll(path, ".", "_") + short // linalg_inv
		return append(Rows(short), op.Name(under))
	}
	return []op.Name{op.Name(recorded)}
}

// Resolve finds the row that takes a record's arguments. A *BindError means
// that there is none.
func Resolve(r *Record) (d *op.Def, in []kernel.Array, attrs op.Attrs, err error) {
	err = &BindError{op.Name(r.Op), "operation", "no row"}
	r = adapt(r)
	for _, name := range Rows(r.Op) {
		row := op.Lookup(name)
		if row == nil {
			continue
		}
		in, attrs, berr := Bind(row, r)
		if berr == nil {
			return row, in, attrs, nil
		}
		err = berr
	}
	return nil, nil, nil, err
}

// Run finds the row for a record, infers the results and runs the kernel.
func Run(r *Record) (d *op.Def, out []kernel.Array, err error) {
	d, in, attrs, err := Resolve(r)
	if err != nil {
		return nil, nil, err
	}
	out, err = Apply(d, in, attrs)
	return d, out, err
}

// Apply infers the results of row d and runs its kernel.
func Apply(d *op.Def, in []kernel.Array, attrs op.Attrs) ([]kernel.Array, error) {
	specs := make([]shape.Spec, len(in))
	for i, a := range in {
		specs[i] = a.Spec()
	}
	if d.Host != nil {
		var err error
		if attrs, err = d.Host(in, attrs); err != nil {
			return nil, err
		}
	}
	res, err := d.Specs(specs, attrs)
	if err != nil {
		return nil, err
	}
	c := &kernel.Call{In: in, Attrs: attrs, Out: make([]kernel.Array, len(res))}
	for i, s := range res {
		c.Out[i] = kernel.New(shape.Spec{DType: s.DType, Dims: s.Dims})
		for j := range c.Out[i].Buf {
			c.Out[i].Buf[j] = 0xA5 // a kernel must write every element
		}
	}
	return c.Out, d.Kernel(c)
}
