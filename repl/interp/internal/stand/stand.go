// Package stand is a tensor that only writes down what was asked of it: the
// tests of the sugar and of the positions run against it. It computes nothing.
package stand

import (
	_ "embed" // its own source
	"fmt"
	"reflect"
	"strings"
)

// A Tensor is the text of the expression that made it.
type Tensor struct {
	Text string
	told func(name string) // told of each op
}

func op(name string, args ...any) *Tensor {
	var b strings.Builder
	b.WriteString(name + "(")
	out := &Tensor{}
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		if t, ok := a.(*Tensor); ok {
			b.WriteString(t.Text)
			out.told = t.told
		} else {
			fmt.Fprint(&b, a)
		}
	}
	out.Text = b.String() + ")"
	if out.told != nil {
		out.told(name)
	}
	return out
}

// Source is this file, for the type checker.
//
//go:embed stand.go
var Source string

// Symbols are the package's for the interpreter; told is told of each op.
func Symbols(told func(name string)) map[string]reflect.Value {
	return map[string]reflect.Value{
		"Tensor": reflect.ValueOf((*Tensor)(nil)), "Range": reflect.ValueOf((*Range)(nil)), "Error": reflect.ValueOf((*Error)(nil)),
		"Of":    reflect.ValueOf(func(name string) *Tensor { return &Tensor{name, told} }),
		"Slice": reflect.ValueOf(Slice), "SliceStep": reflect.ValueOf(SliceStep), "Compile": reflect.ValueOf(Compile), "Fail": reflect.ValueOf(Fail),
		"Ellipsis": reflect.ValueOf(Ellipsis), "NewAxis": reflect.ValueOf(NewAxis),
		"Func": reflect.ValueOf((*Func)(nil)), "Apply": reflect.ValueOf(Apply),
	}
}

// A Range is a slice of an axis.
type Range struct{ Text string }

func (r Range) String() string { return r.Text }

func open(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func Slice(start, stop any) Range { return Range{open(start) + ":" + open(stop)} }
func SliceStep(start, stop, step any) Range {
	return Range{open(start) + ":" + open(stop) + ":" + open(step)}
}

type axis string

// Ellipsis and NewAxis are index items.
const (
	Ellipsis axis = "..."
	NewAxis  axis = "new"
)

func Of(name string) *Tensor           { return &Tensor{Text: name} }
func Compile(f any) any                { return f }
func (t *Tensor) String() string       { return t.Text }
func (t *Tensor) Add(y any) *Tensor    { return op("add", t, y) }
func (t *Tensor) Sub(y any) *Tensor    { return op("sub", t, y) }
func (t *Tensor) RSub(y any) *Tensor   { return op("rsub", t, y) }
func (t *Tensor) Mul(y any) *Tensor    { return op("mul", t, y) }
func (t *Tensor) Div(y any) *Tensor    { return op("div", t, y) }
func (t *Tensor) RDiv(y any) *Tensor   { return op("rdiv", t, y) }
func (t *Tensor) Neg() *Tensor         { return op("neg", t) }
func (t *Tensor) MatMul(y any) *Tensor { return op("matmul", t, y) }
func (t *Tensor) T() *Tensor           { return op("t", t) }
func (t *Tensor) Lt(y any) *Tensor     { return op("lt", t, y) }
func (t *Tensor) Gt(y any) *Tensor     { return op("gt", t, y) }
func (t *Tensor) Eq(y any) *Tensor     { return op("eq", t, y) }
func (t *Tensor) BitwiseAnd(y any) *Tensor {
	return op("and", t, y)
}

// A Func is a type of functions with a method.
type Func func(t *Tensor) *Tensor

// Forward calls the function.
func (f Func) Forward(t *Tensor) *Tensor { return f(t) }

// Apply calls the method of what it is given.
func Apply(l interface{ Forward(t *Tensor) *Tensor }, t *Tensor) *Tensor { return l.Forward(t) }

func (t *Tensor) Pass() *Tensor              { return t }
func (t *Tensor) Told() *Tensor              { t.told("told"); return t }
func (t *Tensor) Sum(axes ...int) *Tensor    { return op("sum", t) }
func (t *Tensor) Index(items ...any) *Tensor { return op("index", append([]any{t}, items...)...) }
func (t *Tensor) SetIndex(v any, items ...any) {
	t.Text = op("set", append([]any{t, v}, items...)...).Text
}
func (t *Tensor) Item() float64 {
	op("item", t)
	return 1
}
func (t *Tensor) MaxAxis(n int) (*Tensor, *Tensor) { return op("max", t, n), op("argmax", t, n) }
func Fail(t *Tensor) *Tensor                       { panic(&Error{"bad " + t.Text}) }

// An Error is what ops panic with.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }
