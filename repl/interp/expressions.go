package interp

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"
)

// An ex is a compiled expression. Exactly one of the evaluators is set, that of
// the type's class; addr as well when the expression is addressable.
type ex struct {
	t    *typ
	I    func(*fr) int64
	F    func(*fr) float64
	S    func(*fr) string
	B    func(*fr) bool
	P    func(*fr) unsafe.Pointer
	L    func(*fr) slc
	A    func(*fr) any
	C    func(*fr) complex128
	M    func(*fr) unsafe.Pointer // where the value is: to be copied before anything else runs
	addr func(*fr) unsafe.Pointer

	val   constant.Value // of a constant
	isNil bool
	tuple *callPlan // of a call with other than one result
	slot  int       // local variable + 1
}

// A fault is an error of the machine itself: something it can't compile.
type fault struct {
	pos token.Pos
	msg string
}

func (c *fc) fail(n ast.Node, format string, args ...any) {
	panic(&fault{n.Pos(), fmt.Sprintf(format, args...)})
}

// typeOf gives the type of an expression, type parameters replaced.
func (c *fc) typeOf(e ast.Expr) types.Type {
	if t := c.info.TypeOf(e); t != nil {
		return c.sub.typ(t)
	}
	c.fail(e, "no type of %s", types.ExprString(e))
	return nil
}

func (c *fc) typ(t types.Type) *typ { return c.m.types.of(c.sub.typ(t)) }

func (c *fc) constant(t *typ, v constant.Value) ex {
	e := ex{t: t, val: v}
	switch t.class {
	case clsInt:
		k := intConst(v)
		e.I = func(*fr) int64 { return k }
	case clsFloat:
		k, _ := constant.Float64Val(constant.ToFloat(v))
		if t.kind == types.Float32 {
			k32, _ := constant.Float32Val(constant.ToFloat(v))
			k = float64(k32)
		}
		e.F = func(*fr) float64 { return k }
	case clsString:
		k := constant.StringVal(v)
		e.S = func(*fr) string { return k }
	case clsBool:
		k := constant.BoolVal(v)
		e.B = func(*fr) bool { return k }
	case clsComplex:
		v = constant.ToComplex(v)
		re, _ := constant.Float64Val(constant.Real(v))
		im, _ := constant.Float64Val(constant.Imag(v))
		k := complex(re, im)
		if t.kind == types.Complex64 {
			k = complex128(complex64(k))
		}
		e.C = func(*fr) complex128 { return k }
	case clsIface: // a constant that stands for an any
		d := c.m.types.of(defaultOf(v))
		return c.toIface(c.constant(d, v), t)
	}
	return e
}

func intConst(v constant.Value) int64 {
	v = constant.ToInt(v)
	if k, ok := constant.Int64Val(v); ok {
		return k
	}
	u, _ := constant.Uint64Val(v)
	return int64(u)
}

func defaultOf(v constant.Value) types.Type {
	switch v.Kind() {
	case constant.Bool:
		return types.Typ[types.Bool]
	case constant.String:
		return types.Typ[types.String]
	case constant.Int:
		return types.Typ[types.Int]
	case constant.Float:
		return types.Typ[types.Float64]
	}
	return types.Typ[types.Complex128]
}

// load reads memory.
func (c *fc) load(t *typ, addr func(*fr) unsafe.Pointer) ex {
	e := ex{t: t, addr: addr}
	switch t.class {
	case clsInt:
		if t.bits == 64 {
			e.I = func(f *fr) int64 { return *(*int64)(addr(f)) }
		} else {
			ld := loadInt(t)
			e.I = func(f *fr) int64 { return ld(addr(f)) }
		}
	case clsFloat:
		if t.kind == types.Float32 {
			e.F = func(f *fr) float64 { return float64(*(*float32)(addr(f))) }
		} else {
			e.F = func(f *fr) float64 { return *(*float64)(addr(f)) }
		}
	case clsString:
		e.S = func(f *fr) string { return *(*string)(addr(f)) }
	case clsBool:
		e.B = func(f *fr) bool { return *(*bool)(addr(f)) }
	case clsPtr:
		e.P = func(f *fr) unsafe.Pointer { return *(*unsafe.Pointer)(addr(f)) }
	case clsSlice:
		e.L = func(f *fr) slc { return *(*slc)(addr(f)) }
	case clsIface:
		e.A = func(f *fr) any { return *(*any)(addr(f)) }
	case clsComplex:
		if t.kind == types.Complex64 {
			e.C = func(f *fr) complex128 { return complex128(*(*complex64)(addr(f))) }
		} else {
			e.C = func(f *fr) complex128 { return *(*complex128)(addr(f)) }
		}
	default:
		e.M = addr
	}
	return e
}

// into gives what evaluates e and stores it.
func (c *fc) into(e ex) func(*fr, unsafe.Pointer) {
	t := e.t
	switch {
	case e.I != nil:
		x := e.I
		switch t.bits {
		case 32:
			return func(f *fr, p unsafe.Pointer) { *(*int32)(p) = int32(x(f)) }
		case 16:
			return func(f *fr, p unsafe.Pointer) { *(*int16)(p) = int16(x(f)) }
		case 8:
			return func(f *fr, p unsafe.Pointer) { *(*int8)(p) = int8(x(f)) }
		}
		return func(f *fr, p unsafe.Pointer) { *(*int64)(p) = x(f) }
	case e.F != nil:
		x := e.F
		if t.kind == types.Float32 {
			return func(f *fr, p unsafe.Pointer) { *(*float32)(p) = float32(x(f)) }
		}
		return func(f *fr, p unsafe.Pointer) { *(*float64)(p) = x(f) }
	case e.S != nil:
		x := e.S
		return func(f *fr, p unsafe.Pointer) { *(*string)(p) = x(f) }
	case e.B != nil:
		x := e.B
		return func(f *fr, p unsafe.Pointer) { *(*bool)(p) = x(f) }
	case e.P != nil:
		x := e.P
		return func(f *fr, p unsafe.Pointer) { *(*unsafe.Pointer)(p) = x(f) }
	case e.L != nil:
		x := e.L
		return func(f *fr, p unsafe.Pointer) { *(*slc)(p) = x(f) }
	case e.A != nil:
		x := e.A
		return func(f *fr, p unsafe.Pointer) { *(*any)(p) = x(f) }
	case e.C != nil:
		x := e.C
		if t.kind == types.Complex64 {
			return func(f *fr, p unsafe.Pointer) { *(*complex64)(p) = complex64(x(f)) }
		}
		return func(f *fr, p unsafe.Pointer) { *(*complex128)(p) = x(f) }
	case e.M != nil:
		x := e.M
		return func(f *fr, p unsafe.Pointer) { t.copyTo(p, x(f)) }
	}
	panic(&fault{token.NoPos, "a value that is none: " + t.t.String()})
}

// mem gives what evaluates e into fresh memory.
func (c *fc) mem(e ex) func(*fr) unsafe.Pointer {
	t, in := e.t, c.into(e)
	return func(f *fr) unsafe.Pointer {
		p := t.alloc()
		in(f, p)
		return p
	}
}

// peek is mem without a copy where the value is in memory already.
func (c *fc) peek(e ex) func(*fr) unsafe.Pointer {
	if e.M != nil {
		return e.M
	}
	if e.addr != nil {
		return e.addr
	}
	return c.mem(e)
}

// zeroEx is the zero value of a type.
func (c *fc) zeroEx(t *typ) ex {
	switch t.class {
	case clsMem:
		return ex{t: t, M: func(*fr) unsafe.Pointer { return t.alloc() }}
	}
	p := t.alloc()
	e := c.load(t, func(*fr) unsafe.Pointer { return p })
	e.addr = nil
	return e
}

// expr compiles an expression with one value.
func (c *fc) expr(n ast.Expr) ex {
	if tv, ok := c.info.Types[n]; ok {
		if tv.Value != nil {
			t := c.sub.typ(tv.Type)
			return c.constant(c.m.types.of(t), tv.Value)
		}
		if tv.IsNil() {
			return ex{t: c.m.types.of(types.NewInterfaceType(nil, nil)), isNil: true, A: func(*fr) any { return nil }}
		}
	}
	switch n := n.(type) {
	case *ast.Ident:
		return c.ident(n)
	case *ast.ParenExpr:
		return c.expr(n.X)
	case *ast.SelectorExpr:
		return c.selector(n)
	case *ast.StarExpr:
		return c.deref(c.expr(n.X), n.Star)
	case *ast.UnaryExpr:
		return c.unary(n)
	case *ast.BinaryExpr:
		return c.binary(n)
	case *ast.IndexExpr:
		if id := instantiated(n.X); id != nil {
			if _, ok := c.info.Instances[id]; ok {
				return c.expr(n.X)
			}
		}
		return c.index(n)
	case *ast.IndexListExpr:
		return c.expr(n.X)
	case *ast.SliceExpr:
		return c.slice(n)
	case *ast.CallExpr:
		return c.call(n)
	case *ast.CompositeLit:
		return c.composite(n, c.m.types.of(c.typeOf(n)))
	case *ast.FuncLit:
		return c.funcLit(n)
	case *ast.TypeAssertExpr:
		return c.assert(n)
	}
	c.fail(n, "expression %T", n)
	return ex{}
}

func instantiated(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.ParenExpr:
		return instantiated(e.X)
	}
	return nil
}

// as compiles an expression as a value of type t.
func (c *fc) as(n ast.Expr, t *typ) ex { return c.convertTo(c.expr(n), t) }

// convertTo makes an assignable value one of type t.
func (c *fc) convertTo(e ex, t *typ) ex {
	if e.t == t && !e.isNil {
		return e
	}
	if e.isNil {
		return c.zeroEx(t)
	}
	if t.class == clsIface {
		if e.t.class == clsIface {
			return ex{t: t, A: e.A}
		}
		return c.toIface(e, t)
	}
	if e.val != nil {
		return c.constant(t, e.val)
	}
	e.t, e.addr = t, nil
	return e
}

// toIface puts a value into an interface.
func (c *fc) toIface(e ex, t *typ) ex {
	m, d := c.m, e.t
	if d.plain && e.val != nil {
		p := c.mem(e)(nil)
		k := m.iface(d, p)
		return ex{t: t, A: func(*fr) any { return k }}
	}
	if d.plain {
		switch {
		case d.rt == intType:
			x := e.I
			return ex{t: t, A: func(f *fr) any { return int(x(f)) }}
		case d.rt == stringType:
			x := e.S
			return ex{t: t, A: func(f *fr) any { return x(f) }}
		case d.class == clsFloat && d.rt == basicTypes[types.Float64]:
			x := e.F
			return ex{t: t, A: func(f *fr) any { return x(f) }}
		case d.rt == basicTypes[types.Bool]:
			x := e.B
			return ex{t: t, A: func(f *fr) any { return x(f) }}
		}
	}
	peek := c.peek(e)
	return ex{t: t, A: func(f *fr) any { return m.iface(d, peek(f)) }}
}

func (c *fc) ident(n *ast.Ident) ex {
	o := c.info.ObjectOf(n)
	switch o := o.(type) {
	case *types.Var:
		return c.variable(o, n)
	case *types.Func:
		return c.funcValue(o, c.instanceOf(n), n)
	case *types.Nil:
		return ex{isNil: true, t: c.m.types.of(types.NewInterfaceType(nil, nil)), A: func(*fr) any { return nil }}
	}
	c.fail(n, "name %s", n.Name)
	return ex{}
}

func (c *fc) instanceOf(n *ast.Ident) []types.Type {
	inst, ok := c.info.Instances[n]
	if !ok {
		return nil
	}
	var out []types.Type
	for t := range inst.TypeArgs.Types() {
		out = append(out, c.sub.typ(t))
	}
	return out
}

// variable compiles the use of a variable.
func (c *fc) variable(o *types.Var, n ast.Node) ex {
	if o.Pkg() != nil && o.Pkg().Path() != mainPath && o.Parent() == o.Pkg().Scope() {
		return c.nativeVar(o, n)
	}
	t := c.typ(o.Type())
	if k, ok := c.slot(o); ok {
		e := c.load(t, func(f *fr) unsafe.Pointer { return f.p[k] })
		switch {
		case t.class == clsInt && t.bits == 64:
			e.I = func(f *fr) int64 { return *(*int64)(f.p[k]) }
		case t.class == clsFloat && t.kind == types.Float64:
			e.F = func(f *fr) float64 { return *(*float64)(f.p[k]) }
		case t.class == clsPtr:
			e.P = func(f *fr) unsafe.Pointer { return *(*unsafe.Pointer)(f.p[k]) }
		case t.class == clsSlice:
			e.L = func(f *fr) slc { return *(*slc)(f.p[k]) }
		}
		e.slot = k + 1
		return e
	}
	p := c.m.globals[o]
	if p == nil {
		c.fail(n, "variable %s", o.Name())
	}
	e := c.load(t, func(*fr) unsafe.Pointer { return p })
	if t.class == clsInt && t.bits == 64 {
		q := (*int64)(p)
		e.I = func(*fr) int64 { return *q }
	}
	return e
}

func nilDeref() {
	panic(goError{"runtime error: invalid memory address or nil pointer dereference"})
}

// deref is *e.
func (c *fc) deref(e ex, pos token.Pos) ex {
	pt, ok := e.t.u.(*types.Pointer)
	if !ok {
		panic(&fault{pos, "dereference of " + e.t.t.String()})
	}
	x := e.P
	mark := c.mark(pos)
	return c.load(c.m.types.of(pt.Elem()), func(f *fr) unsafe.Pointer {
		p := x(f)
		if p == nil {
			mark(f)
			nilDeref()
		}
		return p
	})
}

// selection finds what x.sel is for the types in force.
func (c *fc) selection(recv types.Type, s *types.Selection) (types.Object, []int, bool) {
	if c.sub == nil {
		return s.Obj(), s.Index(), s.Indirect()
	}
	o, path, indirect := types.LookupFieldOrMethod(recv, true, s.Obj().Pkg(), s.Obj().Name())
	return o, path, indirect
}

func (c *fc) selector(n *ast.SelectorExpr) ex {
	s := c.info.Selections[n]
	if s == nil { // qualified
		switch o := c.info.ObjectOf(n.Sel).(type) {
		case *types.Var:
			return c.nativeVar(o, n)
		case *types.Func:
			return c.funcValue(o, c.instanceOf(n.Sel), n)
		}
		c.fail(n, "selector %s", n.Sel.Name)
	}
	recv := c.sub.typ(s.Recv())
	switch s.Kind() {
	case types.MethodExpr:
		return c.methodExpr(n, recv, s)
	case types.MethodVal:
		return c.methodValue(n, recv, s)
	}
	_, path, _ := c.selection(recv, s)
	return c.fieldPath(c.expr(n.X), path, n.Sel.Pos())
}

// fieldPath walks to a field, through embedded ones and pointers.
func (c *fc) fieldPath(e ex, path []int, pos token.Pos) ex {
	for _, i := range path {
		e = c.field(e, i, pos)
	}
	return e
}

// field is the i-th field of a struct or of what a pointer leads to.
func (c *fc) field(e ex, i int, pos token.Pos) ex {
	base, addressable := e.M, e.addr != nil
	st := e.t
	if pt, ok := e.t.u.(*types.Pointer); ok {
		st = c.m.types.of(pt.Elem())
		x := e.P
		mark := c.mark(pos)
		base = func(f *fr) unsafe.Pointer {
			p := x(f)
			if p == nil {
				mark(f)
				nilDeref()
			}
			return p
		}
		addressable = true
	}
	u, ok := st.u.(*types.Struct)
	if !ok {
		panic(&fault{pos, "field of " + st.t.String()})
	}
	ft := c.m.types.of(u.Field(i).Type())
	rf := st.rt.Field(i)
	if c.m.isNativeMemory(st) && !ft.plain {
		return c.foreignField(base, st, i, ft)
	}
	off := rf.Offset
	addr := base
	if off != 0 {
		addr = func(f *fr) unsafe.Pointer { return unsafe.Add(base(f), off) }
	}
	r := c.load(ft, addr)
	if !addressable {
		r.addr = nil
	}
	return r
}

// isNativeMemory tells whether a struct is laid out by Go itself: interfaces
// and functions in it are Go's own.
func (m *machine) isNativeMemory(t *typ) bool {
	n, ok := types.Unalias(t.t).(*types.Named)
	return ok && t.rt != funcType && m.types.native(n) != nil
}

// foreignField reads an interface or function in a struct of Go.
func (c *fc) foreignField(base func(*fr) unsafe.Pointer, st *typ, i int, ft *typ) ex {
	m := c.m
	return c.load(ft, func(f *fr) unsafe.Pointer {
		v := st.at(base(f)).Field(i)
		if !v.CanInterface() {
			v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
		}
		p := ft.alloc()
		m.fromGo(ft, v, p)
		return p
	})
}

func (c *fc) unary(n *ast.UnaryExpr) ex {
	switch n.Op {
	case token.AND:
		return c.address(n)
	case token.ARROW:
		return c.receive(n)
	}
	e := c.expr(n.X)
	t := c.m.types.of(c.typeOf(n))
	switch n.Op {
	case token.ADD:
		return e
	case token.NOT:
		x := e.B
		return ex{t: t, B: func(f *fr) bool { return !x(f) }}
	case token.SUB:
		switch t.class {
		case clsInt:
			x := e.I
			if t.bits == 64 {
				return ex{t: t, I: func(f *fr) int64 { return -x(f) }}
			}
			return ex{t: t, I: func(f *fr) int64 { return t.wrap(-x(f)) }}
		case clsFloat:
			x := e.F
			return ex{t: t, F: func(f *fr) float64 { return -x(f) }}
		case clsComplex:
			x := e.C
			return ex{t: t, C: func(f *fr) complex128 { return -x(f) }}
		}
	case token.XOR:
		x := e.I
		return ex{t: t, I: func(f *fr) int64 { return t.wrap(^x(f)) }}
	}
	c.fail(n, "operator %v on %v", n.Op, t.t)
	return ex{}
}

// address is &x: of a variable, an element, a field, or a literal.
func (c *fc) address(n *ast.UnaryExpr) ex {
	t := c.m.types.of(c.typeOf(n))
	x := n.X
	for {
		p, ok := x.(*ast.ParenExpr)
		if !ok {
			break
		}
		x = p.X
	}
	if lit, ok := x.(*ast.CompositeLit); ok {
		return ex{t: t, P: c.mem(c.expr(lit))}
	}
	e := c.expr(x)
	if e.addr == nil {
		return ex{t: t, P: c.mem(e)}
	}
	if e.t.rt.Size() == 0 {
		a := e.addr
		return ex{t: t, P: func(f *fr) unsafe.Pointer {
			if p := a(f); p != nil {
				return p
			}
			return nil
		}}
	}
	return ex{t: t, P: e.addr}
}

func (c *fc) noAddr(e ex) ex {
	e.addr = nil
	return e
}
