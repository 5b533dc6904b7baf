package tpu

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// ints gives a list as an attribute: nil for an empty one.
func ints(v []int) []int {
	if len(v) == 0 {
		return nil
	}
	return append([]int(nil), v...)
}

// defaultOf gives the default of an attribute.
func defaultOf(d *op.Def, name string) any {
	for i := range d.Params {
		if d.Params[i].Name == name {
			return d.Params[i].Default
		}
	}
	return nil
}

// intsOr gives a variadic list of numbers; when it is empty, the default of a
// row that has one.
func intsOr(d *op.Def, name string, v []int) any {
	if x := defaultOf(d, name); len(v) == 0 && (x != nil || v == nil) {
		return x
	}
	return append([]int(nil), v...)
}

// optionOr gives an option as the attribute its parameter wants; nil means the default.
func optionOr(d *op.Def, name string, v any) any {
	if v == nil {
		return defaultOf(d, name)
	}
	var p *op.Param
	for i := range d.Params {
		if d.Params[i].Name == name {
			p = &d.Params[i]
		}
	}
	if f, ok := v.(LiveNumber); ok {
		v = f()
		if c := ambientEngine().capture; c != nil {
			c.option(d, p, f)
		}
	}
	n, isNumber := number(v)
	switch p.Kind {
	case op.KInt:
		if i, ok := n.(int64); ok {
			return int(i)
		}
	case op.KFloat:
		switch n := n.(type) {
		case int64:
			return float64(n)
		case float64:
			return n
		}
	case op.KBool:
		if b, ok := n.(bool); ok {
			return b
		}
	case op.KString:
		if s, ok := v.(string); ok {
			return s
		}
	case op.KDType:
		switch t := v.(type) {
		case DType:
			return t.attr()
		case dtype.DType:
			return t
		}
	case op.KNumber:
		if isNumber {
			return numberAttr(v)
		}
	case op.KInts:
		if l, ok := v.([]int); ok {
			return l
		}
	}
	refuse(string(d.Name), &shape.ArgumentError{Op: string(d.Name), Arg: name, Value: v, Why: fmt.Sprintf("a %T does not fit", v)})
	return nil
}

// numberAttr gives a Go number as an attribute: float64, int or bool; nil stays nil.
func numberAttr(v any) any {
	if v == nil {
		return nil
	}
	n, ok := number(v)
	if !ok {
		refuse("", operandError(v, "a number is wanted"))
	}
	if i, ok := n.(int64); ok {
		return int(i)
	}
	return n
}

// spread puts a list of tensors behind the other operands.
func spread(list []*Tensor, in []any) []any {
	for _, t := range list {
		in = append(in, t)
	}
	return in
}

func doList(d *op.Def, a op.Attrs, list []*Tensor, in []any) *Tensor {
	return do(d, a, spread(list, in)...)
}

func inPlaceList(d *op.Def, a op.Attrs, list []*Tensor, in []any) *Tensor {
	return inPlace(d, a, spread(list, in)...)
}
