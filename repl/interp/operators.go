package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"unsafe"
)

func (c *fc) binary(n *ast.BinaryExpr) ex {
	switch n.Op {
	case token.LAND, token.LOR:
		x, y := c.expr(n.X).B, c.expr(n.Y).B
		t := c.m.types.of(c.typeOf(n))
		if n.Op == token.LAND {
			return ex{t: t, B: func(f *fr) bool { return x(f) && y(f) }}
		}
		return ex{t: t, B: func(f *fr) bool { return x(f) || y(f) }}
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return c.comparison(n)
	case token.SHL, token.SHR:
		t := c.m.types.of(c.typeOf(n))
		x := c.as(n.X, t)
		before, y := c.rightFirst(n.X, n.Y, c.expr(n.Y))
		return after(before, c.shift(t, n.Op, x, y, n.OpPos))
	}
	t := c.m.types.of(c.typeOf(n))
	x := c.as(n.X, t)
	before, y := c.rightFirst(n.X, n.Y, c.as(n.Y, t))
	return after(before, c.arith(t, n.Op, x, y, n.OpPos))
}

// arith compiles an arithmetic operation.
func (c *fc) arith(t *typ, op token.Token, x, y ex, pos token.Pos) ex {
	switch t.class {
	case clsInt:
		return c.arithInt(t, op, x.I, y, pos)
	case clsFloat:
		return arithFloat(t, op, x.F, y.F)
	case clsString:
		a, b := x.S, y.S
		return ex{t: t, S: func(f *fr) string { s := a(f); return s + b(f) }}
	case clsComplex:
		return arithComplex(t, op, x.C, y.C)
	}
	panic(&fault{pos, "operator " + op.String() + " on " + t.t.String()})
}

func (c *fc) arithInt(t *typ, op token.Token, a func(*fr) int64, y ex, pos token.Pos) ex {
	b := y.I
	var r func(*fr) int64
	mark := c.mark(pos)
	if y.val != nil {
		k := b(nil)
		switch op {
		case token.ADD:
			r = func(f *fr) int64 { return a(f) + k }
		case token.SUB:
			r = func(f *fr) int64 { return a(f) - k }
		case token.MUL:
			r = func(f *fr) int64 { return a(f) * k }
		}
	}
	if r == nil {
		switch op {
		case token.ADD:
			r = func(f *fr) int64 { return a(f) + b(f) }
		case token.SUB:
			r = func(f *fr) int64 { return a(f) - b(f) }
		case token.MUL:
			r = func(f *fr) int64 { return a(f) * b(f) }
		case token.AND:
			r = func(f *fr) int64 { return a(f) & b(f) }
		case token.OR:
			r = func(f *fr) int64 { return a(f) | b(f) }
		case token.XOR:
			r = func(f *fr) int64 { return a(f) ^ b(f) }
		case token.AND_NOT:
			r = func(f *fr) int64 { return a(f) &^ b(f) }
		case token.QUO, token.REM:
			return ex{t: t, I: c.divide(t, op, a, b, mark)}
		default:
			panic(&fault{pos, "operator " + op.String()})
		}
	}
	if t.bits == 64 {
		return ex{t: t, I: r}
	}
	switch t.kind {
	case types.Int32:
		return ex{t: t, I: func(f *fr) int64 { return int64(int32(r(f))) }}
	case types.Uint8:
		return ex{t: t, I: func(f *fr) int64 { return int64(uint8(r(f))) }}
	case types.Uint32:
		return ex{t: t, I: func(f *fr) int64 { return int64(uint32(r(f))) }}
	}
	return ex{t: t, I: func(f *fr) int64 { return t.wrap(r(f)) }}
}

func (c *fc) divide(t *typ, op token.Token, a, b func(*fr) int64, mark func(*fr)) func(*fr) int64 {
	return func(f *fr) int64 {
		x, y := a(f), b(f)
		if y == 0 {
			mark(f)
			panic(goError{"runtime error: integer divide by zero"})
		}
		switch {
		case t.unsigned && op == token.QUO:
			return int64(uint64(x) / uint64(y))
		case t.unsigned:
			return int64(uint64(x) % uint64(y))
		case y == -1 && op == token.QUO:
			return t.wrap(-x)
		case y == -1:
			return 0
		case op == token.QUO:
			return x / y
		}
		return x % y
	}
}

func arithFloat(t *typ, op token.Token, a, b func(*fr) float64) ex {
	var r func(*fr) float64
	switch op {
	case token.ADD:
		r = func(f *fr) float64 { return a(f) + b(f) }
	case token.SUB:
		r = func(f *fr) float64 { return a(f) - b(f) }
	case token.MUL:
		r = func(f *fr) float64 { return a(f) * b(f) }
	case token.QUO:
		r = func(f *fr) float64 { return a(f) / b(f) }
	}
	if t.kind == types.Float32 {
		return ex{t: t, F: func(f *fr) float64 { return float64(float32(r(f))) }}
	}
	return ex{t: t, F: r}
}

func arithComplex(t *typ, op token.Token, a, b func(*fr) complex128) ex {
	narrow := t.kind == types.Complex64
	return ex{t: t, C: func(f *fr) complex128 {
		x, y := a(f), b(f)
		if narrow {
			p, q := complex64(x), complex64(y)
			switch op {
			case token.ADD:
				return complex128(p + q)
			case token.SUB:
				return complex128(p - q)
			case token.MUL:
				return complex128(p * q)
			}
			return complex128(p / q)
		}
		switch op {
		case token.ADD:
			return x + y
		case token.SUB:
			return x - y
		case token.MUL:
			return x * y
		}
		return x / y
	}}
}

func (c *fc) shift(t *typ, op token.Token, x, y ex, pos token.Pos) ex {
	a, b := x.I, y.I
	if b == nil && y.val != nil {
		b = c.constant(c.m.types.of(types.Typ[types.Uint]), y.val).I
	}
	signedCount := !y.t.unsigned
	mark := c.mark(pos)
	return ex{t: t, I: func(f *fr) int64 {
		v, s := a(f), b(f)
		if signedCount && s < 0 {
			mark(f)
			panic(goError{"runtime error: negative shift amount"})
		}
		n := uint64(s)
		if op == token.SHL {
			if n >= 64 {
				return 0
			}
			return t.wrap(v << n)
		}
		if t.unsigned {
			if n >= 64 {
				return 0
			}
			return int64(uint64(v) >> n)
		}
		if n > 63 {
			n = 63
		}
		return v >> n
	}}
}

func (c *fc) comparison(n *ast.BinaryExpr) ex {
	t := c.m.types.of(c.typeOf(n))
	x := c.expr(n.X)
	before, y := c.rightFirst(n.X, n.Y, c.expr(n.Y))
	return after(before, ex{t: t, B: c.compare(n.Op, x, y, n.OpPos)})
}

// compare compiles a comparison of two operands.
func (c *fc) compare(op token.Token, x, y ex, pos token.Pos) func(*fr) bool {
	switch {
	case x.isNil && y.isNil:
		return func(*fr) bool { return op == token.EQL }
	case x.isNil:
		x, y = y, x
		fallthrough
	case y.isNil:
		eq := isNilEx(x)
		if op == token.EQL {
			return eq
		}
		return func(f *fr) bool { return !eq(f) }
	}
	if x.t != y.t {
		switch {
		case x.t.class == clsIface && y.t.class != clsIface:
			y = c.toIface(y, x.t)
		case y.t.class == clsIface && x.t.class != clsIface:
			x = c.toIface(x, y.t)
		case x.val != nil && y.val == nil:
			x = c.constant(y.t, x.val)
		case y.val != nil && x.val == nil:
			y = c.constant(x.t, y.val)
		}
	}
	switch x.t.class {
	case clsInt:
		return compareInt(x.t, op, x.I, y.I, y.val != nil)
	case clsFloat:
		return ordered(op, x.F, y.F)
	case clsString:
		return ordered(op, x.S, y.S)
	case clsBool:
		a, b := x.B, y.B
		if op == token.EQL {
			return func(f *fr) bool { return a(f) == b(f) }
		}
		return func(f *fr) bool { return a(f) != b(f) }
	case clsPtr:
		a, b := x.P, y.P
		if op == token.EQL {
			return func(f *fr) bool { return a(f) == b(f) }
		}
		return func(f *fr) bool { return a(f) != b(f) }
	case clsIface:
		a, b, m := x.A, y.A, c.m
		mark := c.mark(pos)
		return func(f *fr) bool {
			p, q := a(f), b(f)
			mark(f)
			return m.equal(p, q) == (op == token.EQL)
		}
	case clsComplex:
		a, b := x.C, y.C
		return func(f *fr) bool { return (a(f) == b(f)) == (op == token.EQL) }
	case clsMem:
		a, b, m, t := c.mem(x), y.M, c.m, x.t
		return func(f *fr) bool { p := a(f); return m.equalMem(t, p, b(f)) == (op == token.EQL) }
	}
	panic(&fault{pos, "comparison of " + x.t.t.String()})
}

func isNilEx(e ex) func(*fr) bool {
	switch e.t.class {
	case clsPtr:
		x := e.P
		return func(f *fr) bool { return x(f) == nil }
	case clsSlice:
		x := e.L
		return func(f *fr) bool { return x(f).p == nil }
	case clsIface:
		x := e.A
		return func(f *fr) bool { return x(f) == nil }
	}
	panic(&fault{token.NoPos, "nil of " + e.t.t.String()})
}

func compareInt(t *typ, op token.Token, a, b func(*fr) int64, isConst bool) func(*fr) bool {
	if t.unsigned && t.bits == 64 {
		switch op {
		case token.LSS:
			return func(f *fr) bool { return uint64(a(f)) < uint64(b(f)) }
		case token.LEQ:
			return func(f *fr) bool { return uint64(a(f)) <= uint64(b(f)) }
		case token.GTR:
			return func(f *fr) bool { return uint64(a(f)) > uint64(b(f)) }
		case token.GEQ:
			return func(f *fr) bool { return uint64(a(f)) >= uint64(b(f)) }
		}
	}
	if isConst {
		k := b(nil)
		switch op {
		case token.EQL:
			return func(f *fr) bool { return a(f) == k }
		case token.LSS:
			return func(f *fr) bool { return a(f) < k }
		case token.GTR:
			return func(f *fr) bool { return a(f) > k }
		}
	}
	return ordered(op, a, b)
}

func ordered[T int64 | float64 | string](op token.Token, a, b func(*fr) T) func(*fr) bool {
	switch op {
	case token.EQL:
		return func(f *fr) bool { x := a(f); return x == b(f) }
	case token.NEQ:
		return func(f *fr) bool { x := a(f); return x != b(f) }
	case token.LSS:
		return func(f *fr) bool { x := a(f); return x < b(f) }
	case token.LEQ:
		return func(f *fr) bool { x := a(f); return x <= b(f) }
	case token.GTR:
		return func(f *fr) bool { x := a(f); return x > b(f) }
	}
	return func(f *fr) bool { x := a(f); return x >= b(f) }
}

// conversion is T(x).
func (c *fc) conversion(n *ast.CallExpr, t *typ) ex {
	return c.convert(c.expr(n.Args[0]), t, n)
}

func (c *fc) convert(e ex, t *typ, n ast.Node) ex {
	if e.isNil {
		return c.zeroEx(t)
	}
	if t.class == clsIface || e.t == t {
		return c.noAddr(c.convertTo(e, t))
	}
	switch t.class {
	case clsInt:
		return c.toInt(e, t, n)
	case clsFloat:
		narrow := t.kind == types.Float32
		var r func(*fr) float64
		switch e.t.class {
		case clsFloat:
			r = e.F
		case clsInt:
			x := e.I
			if e.t.unsigned && e.t.bits == 64 {
				r = func(f *fr) float64 { return float64(uint64(x(f))) }
				if narrow {
					return ex{t: t, F: func(f *fr) float64 { return float64(float32(uint64(x(f)))) }}
				}
			} else {
				r = func(f *fr) float64 { return float64(x(f)) }
				if narrow {
					return ex{t: t, F: func(f *fr) float64 { return float64(float32(x(f))) }}
				}
			}
		}
		if narrow {
			x := r
			r = func(f *fr) float64 { return float64(float32(x(f))) }
		}
		return ex{t: t, F: r}
	case clsComplex:
		x := e.C
		if t.kind == types.Complex64 {
			return ex{t: t, C: func(f *fr) complex128 { return complex128(complex64(x(f))) }}
		}
		return ex{t: t, C: x}
	case clsString:
		switch e.t.class {
		case clsString:
			return ex{t: t, S: e.S}
		case clsInt:
			x, unsigned := e.I, e.t.unsigned
			return ex{t: t, S: func(f *fr) string {
				v := x(f)
				if v < 0 || v > math.MaxInt32 || unsigned && uint64(v) > math.MaxInt32 {
					return "\uFFFD"
				}
				return string(rune(v))
			}}
		case clsSlice:
			x := e.L
			if elemSize(e.t) == 1 {
				return ex{t: t, S: func(f *fr) string { s := x(f); return string(unsafe.Slice((*byte)(s.p), s.len)) }}
			}
			return ex{t: t, S: func(f *fr) string { s := x(f); return string(unsafe.Slice((*rune)(s.p), s.len)) }}
		}
	case clsSlice:
		if e.t.class == clsString {
			x := e.S
			if elemSize(t) == 1 {
				return ex{t: t, L: func(f *fr) slc { b := []byte(x(f)); return slc{unsafe.Pointer(unsafe.SliceData(b)), len(b), cap(b)} }}
			}
			return ex{t: t, L: func(f *fr) slc { b := []rune(x(f)); return slc{unsafe.Pointer(unsafe.SliceData(b)), len(b), cap(b)} }}
		}
		return ex{t: t, L: e.L}
	case clsMem:
		if e.t.class == clsSlice { // to an array
			return c.sliceToArray(e, t, n)
		}
		return ex{t: t, M: e.M}
	case clsPtr:
		if e.t.class == clsSlice { // to a pointer to an array
			u := t.u.(*types.Pointer)
			arr := c.m.types.of(u.Elem()).u.(*types.Array)
			x, want := e.L, int(arr.Len())
			mark := c.mark(n.Pos())
			return ex{t: t, P: func(f *fr) unsafe.Pointer {
				s := x(f)
				if s.len < want {
					mark(f)
					arrayFault(s.len, want)
				}
				return s.p
			}}
		}
		if e.t.class == clsPtr {
			return ex{t: t, P: e.P}
		}
	case clsBool:
		return ex{t: t, B: e.B}
	}
	c.fail(n, "conversion from %v to %v", e.t.t, t.t)
	return ex{}
}

func (c *fc) sliceToArray(e ex, t *typ, n ast.Node) ex {
	x, want := e.L, int(t.u.(*types.Array).Len())
	mark := c.mark(n.Pos())
	return ex{t: t, M: func(f *fr) unsafe.Pointer {
		s := x(f)
		if s.len < want {
			mark(f)
			arrayFault(s.len, want)
		}
		if want == 0 {
			return t.alloc()
		}
		return s.p
	}}
}

func arrayFault(have, want int) {
	panic(goError{"runtime error: cannot convert slice with length " + itoa(have) + " to array or pointer to array with length " + itoa(want)})
}

func elemSize(t *typ) uintptr {
	if s, ok := t.u.(*types.Slice); ok {
		return basicSize(s.Elem())
	}
	return 0
}

func (c *fc) toInt(e ex, t *typ, n ast.Node) ex {
	switch e.t.class {
	case clsInt:
		x := e.I
		if t.bits == 64 {
			return ex{t: t, I: x}
		}
		return ex{t: t, I: func(f *fr) int64 { return t.wrap(x(f)) }}
	case clsFloat:
		x := e.F
		switch t.kind {
		case types.Uint64, types.Uint, types.Uintptr:
			return ex{t: t, I: func(f *fr) int64 { return int64(uint64(x(f))) }}
		case types.Int32:
			return ex{t: t, I: func(f *fr) int64 { return int64(int32(x(f))) }}
		case types.Int16:
			return ex{t: t, I: func(f *fr) int64 { return int64(int16(x(f))) }}
		case types.Int8:
			return ex{t: t, I: func(f *fr) int64 { return int64(int8(x(f))) }}
		case types.Uint32:
			return ex{t: t, I: func(f *fr) int64 { return int64(uint32(x(f))) }}
		case types.Uint16:
			return ex{t: t, I: func(f *fr) int64 { return int64(uint16(x(f))) }}
		case types.Uint8:
			return ex{t: t, I: func(f *fr) int64 { return int64(uint8(x(f))) }}
		}
		return ex{t: t, I: func(f *fr) int64 { return int64(x(f)) }}
	}
	c.fail(n, "conversion from %v to %v", e.t.t, t.t)
	return ex{}
}

// basicSize is the size of a basic type's memory.
func basicSize(t types.Type) uintptr {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return basicTypes[b.Kind()].Size()
	}
	return 0
}
