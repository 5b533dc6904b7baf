package debug

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// What a predicate asks of operands is no Go: shape, dtype and the others are
// those of an operand that only the operation knows. It is compiled to closures
// of its own; a part that this evaluator does not know is a condition of the
// interpreter.

// A vkind is the kind of a value at run time.
type vkind uint8

const (
	bad vkind = iota
	vBool
	vInt   // int and int64, and constants
	vSmall // other integers: they compare, arithmetic would have to wrap
	vFloat // float64 and constants
	vText
	vType // an element type
	vInts // sizes
	vList // another slice, array or string by reference
	vSpec // a tensor operand or result
)

type value struct {
	k     vkind
	konst bool // an untyped constant
	b     bool
	i     int64
	f     float64
	s     string
	d     dtype.DType
	dims  []int
	r     reflect.Value
}

// An env is what the names of an expression mean at an operation, and what a
// part of it is as Go in the frame.
type env interface {
	name(n string) value
	inFrame(text string) value
}

// An expr is a compiled expression.
type expr func(e env) value

// compilePredicate compiles a predicate. names lists the free names of the parts
// that are evaluated here. The error is a *PredicateError.
func compilePredicate(text string) (x expr, names []string, err error) {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return nil, nil, &PredicateError{text, err}
	}
	p := &predicateCompiler{text: text}
	x = p.cond(e)
	return x, p.names, nil
}

// A PredicateError says that a predicate is no expression.
type PredicateError struct {
	Text string
	Err  error
}

func (e *PredicateError) Error() string { return fmt.Sprintf("%s: %v", e.Text, e.Err) }

func (e *PredicateError) Unwrap() error { return e.Err }

type predicateCompiler struct {
	text  string
	names []string
}

// cond compiles what is true or false.
func (p *predicateCompiler) cond(e ast.Expr) expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return p.cond(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return not(p.cond(e.X))
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return both(e.Op, p.cond(e.X), p.cond(e.Y))
		}
	}
	text := p.text[e.Pos()-1 : e.End()-1]
	c := &exprCompiler{seen: map[string]bool{}}
	x := c.expr(e)
	inFrame := func(v env) value { return v.inFrame(text) }
	if c.failed {
		return inFrame
	}
	p.names = append(p.names, c.names...)
	if slices.ContainsFunc(c.names, ofOperation) {
		return x
	}
	return func(v env) value {
		if r := x(v); r.k == vBool {
			return r
		}
		return v.inFrame(text)
	}
}

// ofOperation tells whether a name is none of the frame: an operation that has no
// such operand does not fit.
func ofOperation(name string) bool {
	switch name {
	case "self", "input", "other", "out", "result":
		return true
	}
	return slices.Contains(specFields[:], name)
}

func not(x expr) expr {
	return func(v env) value {
		a := x(v)
		if a.k != vBool {
			return value{}
		}
		a.b = !a.b
		return a
	}
}

func both(op token.Token, x, y expr) expr {
	return func(v env) value {
		a := x(v)
		if a.k != vBool || a.b == (op == token.LOR) {
			return a
		}
		if a = y(v); a.k != vBool {
			return value{}
		}
		return a
	}
}

type exprCompiler struct {
	names  []string
	seen   map[string]bool
	failed bool
}

func (c *exprCompiler) fail() expr {
	c.failed = true
	return func(env) value { return value{} }
}

func (c *exprCompiler) expr(e ast.Expr) expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.expr(e.X)
	case *ast.BasicLit:
		return c.literal(e)
	case *ast.Ident:
		return c.ident(e.Name)
	case *ast.UnaryExpr:
		return c.unary(e)
	case *ast.BinaryExpr:
		return c.binary(e)
	case *ast.IndexExpr:
		x, i := c.expr(e.X), c.expr(e.Index)
		return func(v env) value { return index(x(v), i(v)) }
	case *ast.SelectorExpr:
		x, name := c.expr(e.X), e.Sel.Name
		return func(v env) value { return x(v).field(name) }
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.Ident); ok && f.Name == "len" && len(e.Args) == 1 {
			x := c.expr(e.Args[0])
			return func(v env) value { return x(v).length() }
		}
	}
	return c.fail()
}

func (c *exprCompiler) literal(e *ast.BasicLit) expr {
	var v value
	switch e.Kind {
	case token.INT:
		i, err := strconv.ParseInt(e.Value, 0, 64)
		if err != nil {
			return c.fail()
		}
		v = value{k: vInt, i: i, konst: true}
	case token.FLOAT:
		f, err := strconv.ParseFloat(e.Value, 64)
		if err != nil {
			return c.fail()
		}
		v = value{k: vFloat, f: f, konst: true}
	case token.STRING:
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			return c.fail()
		}
		v = value{k: vText, s: s}
	default:
		return c.fail()
	}
	return func(env) value { return v }
}

func (c *exprCompiler) ident(name string) expr {
	switch name {
	case "true", "false":
		v := value{k: vBool, b: name == "true"}
		return func(env) value { return v }
	case "nil", "iota", "_":
		return c.fail()
	}
	if !c.seen[name] {
		c.seen[name] = true
		c.names = append(c.names, name)
	}
	return func(v env) value { return v.name(name) }
}

func (c *exprCompiler) unary(e *ast.UnaryExpr) expr {
	x := c.expr(e.X)
	switch e.Op {
	case token.NOT:
		return not(x)
	case token.SUB:
		return func(v env) value {
			a := x(v)
			switch a.k {
			case vInt, vFloat:
				a.i, a.f = -a.i, -a.f
				return a
			}
			return value{}
		}
	}
	return c.fail()
}

func (c *exprCompiler) binary(e *ast.BinaryExpr) expr {
	x, y := c.expr(e.X), c.expr(e.Y)
	switch op := e.Op; op {
	case token.LAND, token.LOR:
		return both(op, x, y)
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return func(v env) value { return compare(op, x(v), y(v)) }
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		return func(v env) value { return arithmetic(op, x(v), y(v)) }
	}
	return c.fail()
}

// promote gives both numbers the kind of the one that is no constant.
func promote(a, b value) (value, value) {
	toFloat := func(v value) value {
		if v.k == vInt && v.konst {
			v.k, v.f = vFloat, float64(v.i)
		}
		return v
	}
	if a.k == vFloat {
		return a, toFloat(b)
	}
	if b.k == vFloat {
		return toFloat(a), b
	}
	if a.k == vSmall && b.k == vInt && b.konst {
		b.k = vSmall
	}
	if b.k == vSmall && a.k == vInt && a.konst {
		a.k = vSmall
	}
	return a, b
}

func compare(op token.Token, a, b value) value {
	a, b = promote(a, b)
	if a.k != b.k {
		return value{}
	}
	switch a.k {
	case vInt, vSmall:
		return ordered(op, a.i, b.i)
	case vFloat:
		return ordered(op, a.f, b.f)
	case vText:
		return ordered(op, a.s, b.s)
	case vBool, vType:
		same := a.b == b.b && a.d == b.d
		switch op {
		case token.EQL:
			return value{k: vBool, b: same}
		case token.NEQ:
			return value{k: vBool, b: !same}
		}
	}
	return value{}
}

func ordered[T int64 | float64 | string](op token.Token, a, b T) value {
	v := value{k: vBool}
	switch op {
	case token.EQL:
		v.b = a == b
	case token.NEQ:
		v.b = a != b
	case token.LSS:
		v.b = a < b
	case token.LEQ:
		v.b = a <= b
	case token.GTR:
		v.b = a > b
	case token.GEQ:
		v.b = a >= b
	}
	return v
}

func arithmetic(op token.Token, a, b value) value {
	a, b = promote(a, b)
	if a.k != b.k {
		return value{}
	}
	v := value{k: a.k, konst: a.konst && b.konst}
	switch a.k {
	case vInt:
		switch op {
		case token.ADD:
			v.i = a.i + b.i
		case token.SUB:
			v.i = a.i - b.i
		case token.MUL:
			v.i = a.i * b.i
		case token.QUO, token.REM:
			if b.i == 0 {
				return value{}
			}
			if v.i = a.i / b.i; op == token.REM {
				v.i = a.i % b.i
			}
		}
		return v
	case vFloat:
		switch op {
		case token.ADD:
			v.f = a.f + b.f
		case token.SUB:
			v.f = a.f - b.f
		case token.MUL:
			v.f = a.f * b.f
		case token.QUO:
			if b.konst && b.f == 0 {
				return value{}
			}
			v.f = a.f / b.f
		default:
			return value{}
		}
		return v
	case vText:
		if op == token.ADD {
			v.s = a.s + b.s
			return v
		}
	}
	return value{}
}

func index(x, i value) value {
	if i.k != vInt && i.k != vSmall {
		return value{}
	}
	n := int(i.i)
	switch x.k {
	case vInts:
		if n < 0 { // an axis counted from the end
			n += len(x.dims)
		}
		if n < 0 || n >= len(x.dims) {
			return value{k: vInt, i: -1} // an operand of lower rank: no size has this value
		}
		return value{k: vInt, i: int64(x.dims[n])}
	case vList:
		if k := x.r.Kind(); (k == reflect.Slice || k == reflect.Array) && n >= 0 && n < x.r.Len() {
			return valueFrom(x.r.Index(n))
		}
	}
	return value{}
}

func (v value) length() value {
	switch v.k {
	case vInts:
		return value{k: vInt, i: int64(len(v.dims))}
	case vText:
		return value{k: vInt, i: int64(len(v.s))}
	case vList:
		switch v.r.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			return value{k: vInt, i: int64(v.r.Len())}
		}
	}
	return value{}
}

// field selects shape, dtype, rank, numel or bytes of an operand.
func (v value) field(name string) value {
	if v.k != vSpec {
		return value{}
	}
	return specField(shape.Spec{DType: v.d, Dims: v.dims}, name)
}

// specFields are what a predicate can ask of an operand.
var specFields = [...]string{"shape", "dtype", "rank", "numel", "bytes"}

func specField(s shape.Spec, name string) value {
	switch name {
	case "shape":
		return value{k: vInts, dims: s.Dims}
	case "dtype":
		return value{k: vType, d: s.DType}
	case "rank":
		return value{k: vInt, i: int64(len(s.Dims))}
	case "numel":
		return value{k: vInt, i: int64(s.Size())}
	case "bytes":
		return value{k: vInt, i: s.Bytes()}
	}
	return value{}
}

// valueAt reads the variable that a pointer leads to.
func valueAt(p any) value {
	switch p := p.(type) {
	case nil:
		return value{}
	case *int:
		return value{k: vInt, i: int64(*p)}
	case *float64:
		return value{k: vFloat, f: *p}
	case *bool:
		return value{k: vBool, b: *p}
	case *string:
		return value{k: vText, s: *p}
	}
	r := reflect.ValueOf(p)
	if r.Kind() != reflect.Pointer || r.IsNil() {
		return value{}
	}
	return valueFrom(r.Elem())
}

func valueFrom(r reflect.Value) value {
	switch r.Kind() {
	case reflect.Int, reflect.Int64:
		return value{k: vInt, i: r.Int()}
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return value{k: vSmall, i: r.Int()}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return value{k: vSmall, i: int64(r.Uint())}
	case reflect.Float64:
		return value{k: vFloat, f: r.Float()}
	case reflect.Bool:
		return value{k: vBool, b: r.Bool()}
	case reflect.String:
		return value{k: vText, s: r.String()}
	case reflect.Slice, reflect.Array, reflect.Map:
		return value{k: vList, r: r}
	}
	return value{}
}
