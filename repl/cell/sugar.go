package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// An operatorRow says which method an operator on tensors means.
type operatorRow struct {
	method   string // x op y
	reversed string // number op y, as y.reversed(number)
	compare  bool
}

// operators is the table of the sugar. @ comes from the token pass as &^.
var operators = map[token.Token]operatorRow{
	token.ADD:     {method: "Add", reversed: "Add"},
	token.SUB:     {method: "Sub", reversed: "RSub"},
	token.MUL:     {method: "Mul", reversed: "Mul"},
	token.QUO:     {method: "Div", reversed: "RDiv"},
	token.REM:     {method: "Remainder", reversed: "RRemainder"},
	token.AND:     {method: "BitwiseAnd", reversed: "BitwiseAnd"},
	token.OR:      {method: "BitwiseOr", reversed: "BitwiseOr"},
	token.XOR:     {method: "BitwiseXor", reversed: "BitwiseXor"},
	token.SHL:     {method: "BitwiseLeftShift", reversed: "RBitwiseLeftShift"},
	token.SHR:     {method: "BitwiseRightShift", reversed: "RBitwiseRightShift"},
	token.AND_NOT: {method: "MatMul"},
	token.EQL:     {method: "Eq", reversed: "Eq", compare: true},
	token.NEQ:     {method: "Ne", reversed: "Ne", compare: true},
	token.LSS:     {method: "Lt", reversed: "Gt", compare: true},
	token.LEQ:     {method: "Le", reversed: "Ge", compare: true},
	token.GTR:     {method: "Gt", reversed: "Lt", compare: true},
	token.GEQ:     {method: "Ge", reversed: "Le", compare: true},
}

// unaries are the operators with one operand; + leaves a tensor as it is.
var unaries = map[token.Token]string{token.SUB: "Neg", token.XOR: "BitwiseNot", token.ADD: ""}

// assignments lead from x op= y to x op y.
var assignments = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
	token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
	token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
}

// A sugarer rewrites the tensor sugar of one check. What the check could not
// type because it depends on sugar, it follows itself.
type sugarer struct {
	c       *compiler
	tensor  map[ast.Expr]bool
	objects map[types.Object]bool
	indexed map[ast.Expr]*indexing // calls of Index that stand for x[…]
	changed bool
}

// sugar rewrites what it can, and tells whether that was anything.
func (c *compiler) sugar() bool {
	if c.s.cfg.Tensor.Path == "" {
		return false
	}
	g := &sugarer{c: c, tensor: map[ast.Expr]bool{}, objects: map[types.Object]bool{}, indexed: map[ast.Expr]*indexing{}}
	astutil.Apply(c.file, nil, g.visit)
	if g.changed {
		g.fixTops()
	}
	return g.changed
}

// fixTops follows the statements that were replaced in the cell's function.
func (g *sugarer) fixTops() {
	c := g.c
	i := 0
	for _, t := range c.tops {
		if t.decl != nil {
			if _, ok := t.stmt.(*ast.LabeledStmt); ok {
				i++
			}
			continue
		}
		t.stmt = c.body.Body.List[i]
		i++
	}
}

// is tells whether e is a tensor.
func (g *sugarer) is(e ast.Expr) bool {
	if g.tensor[e] {
		return true
	}
	if t := g.c.info.Types[e].Type; valid(t) {
		return g.c.s.isTensor(t)
	}
	switch e := e.(type) {
	case *ast.Ident:
		o := g.c.info.ObjectOf(e)
		return o != nil && (g.objects[o] || g.c.s.isTensor(o.Type()))
	case *ast.ParenExpr:
		return g.is(e.X)
	case *ast.CallExpr:
		return g.isCall(e)
	}
	return false
}

func valid(t types.Type) bool { return t != nil && t != types.Typ[types.Invalid] }

// isCall tells whether a method of a tensor that is called gives a tensor.
func (g *sugarer) isCall(e *ast.CallExpr) bool {
	f, ok := e.Fun.(*ast.SelectorExpr)
	if !ok || !g.is(f.X) {
		return false
	}
	sig := g.c.tensorMethod(f.Sel.Name)
	return sig != nil && sig.Results().Len() == 1 && g.c.s.isTensor(sig.Results().At(0).Type())
}

// tensorMethod gives the signature of a method of the tensor type.
func (c *compiler) tensorMethod(name string) *types.Signature {
	p, err := c.s.cfg.Importer.Import(c.s.cfg.Tensor.Path)
	if err != nil {
		return nil
	}
	o := p.Scope().Lookup(c.s.cfg.Tensor.Name)
	if o == nil {
		return nil
	}
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(o.Type()), true, p, name)
	if f, ok := m.(*types.Func); ok {
		return f.Signature()
	}
	return nil
}

// operand tells whether e may stand beside a tensor: a tensor, a number, a bool.
func (g *sugarer) operand(e ast.Expr) bool {
	if g.is(e) {
		return true
	}
	return isNumber(g.c.info.Types[e].Type)
}

func isNumber(t types.Type) bool {
	if !valid(t) {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() != types.UntypedNil && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// method makes the call x.name(args…) at the operator's position.
func (g *sugarer) method(x ast.Expr, name string, p token.Pos, end token.Pos, args ...ast.Expr) *ast.CallExpr {
	e := &ast.CallExpr{Fun: &ast.SelectorExpr{X: x, Sel: ident(name, p)}, Lparen: p, Args: args, Rparen: end}
	g.tensor[e] = true
	g.changed = true
	return e
}

// visit rewrites one node whose children have been visited.
func (g *sugarer) visit(cur *astutil.Cursor) bool {
	switch n := cur.Node().(type) {
	case *ast.BinaryExpr:
		if e := g.binary(n); e != nil {
			cur.Replace(e)
		}
	case *ast.UnaryExpr:
		if name, ok := unaries[n.Op]; ok && g.is(n.X) {
			if name == "" {
				g.changed = true
				cur.Replace(n.X)
				break
			}
			e := g.method(n.X, name, n.OpPos, n.End())
			g.c.wrote(e, func(of func(ast.Expr) string) string { return n.Op.String() + of(n.X) })
			cur.Replace(e)
		} else if n.Op == token.NOT && g.is(n.X) {
			n.X = g.condition(n.X, "!")
		}
	case *ast.IndexExpr:
		if g.is(n.X) {
			cur.Replace(g.index(n.X, []ast.Expr{n.Index}, n.Lbrack, n.Rbrack))
		} else {
			g.notTensor(n)
		}
	case *ast.IndexListExpr:
		if g.is(n.X) {
			cur.Replace(g.index(n.X, n.Indices, n.Lbrack, n.Rbrack))
		}
	case *ast.SliceExpr:
		if g.is(n.X) {
			cur.Replace(g.index(n.X, []ast.Expr{g.slice(n)}, n.Lbrack, n.Rbrack))
		}
	case *ast.SelectorExpr:
		if c, ok := cur.Parent().(*ast.CallExpr); ok && c.Fun == ast.Expr(n) {
			break
		}
		if n.Sel.Name == "T" && g.is(n.X) {
			e := g.method(n.X, "T", n.Sel.Pos(), n.End())
			g.c.wrote(e, func(of func(ast.Expr) string) string { return of(n.X) + ".T" })
			cur.Replace(e)
		}
	case *ast.AssignStmt:
		if st := g.assign(n); st != nil {
			cur.Replace(st)
		}
	case *ast.IncDecStmt:
		if g.is(n.X) {
			op := token.ADD_ASSIGN
			if n.Tok == token.DEC {
				op = token.SUB_ASSIGN
			}
			one := intLit(1, n.TokPos)
			g.c.info.Types[one] = types.TypeAndValue{Type: types.Typ[types.UntypedInt]}
			as := &ast.AssignStmt{Lhs: []ast.Expr{n.X}, Tok: op, TokPos: n.TokPos, Rhs: []ast.Expr{one}}
			if st := g.assign(as); st != nil {
				cur.Replace(st)
			} else {
				cur.Replace(as)
			}
		}
	case *ast.ValueSpec:
		if n.Type == nil && len(n.Names) == len(n.Values) {
			for i, id := range n.Names {
				g.learn(id, n.Values[i])
			}
		}
	case *ast.IfStmt:
		n.Cond = g.boolean(n.Cond)
	case *ast.ForStmt:
		n.Cond = g.boolean(n.Cond)
	case *ast.CallExpr:
		if e := g.compile(n); e != nil {
			cur.Replace(e)
		}
	}
	return true
}

// learn notes that a variable is a tensor because its value is.
func (g *sugarer) learn(l ast.Expr, r ast.Expr) {
	id, ok := l.(*ast.Ident)
	if !ok || !g.is(r) {
		return
	}
	if o := g.c.info.ObjectOf(id); o != nil && !valid(o.Type()) {
		g.objects[o] = true
	}
}

func (g *sugarer) binary(n *ast.BinaryExpr) ast.Expr {
	x, y := g.is(n.X), g.is(n.Y)
	if n.Op == token.AND_NOT {
		if at := g.c.isMatMul(n); at != (x && y) {
			if at && g.known(n.X) && g.known(n.Y) {
				g.c.errorAt(n.OpPos, "type", "operator @ needs a tensor on both sides: it has %s and %s", g.typeName(n.X), g.typeName(n.Y))
			}
			return nil
		} else if !at {
			return nil
		}
		return g.infix(n, "@", g.method(n.X, "MatMul", n.OpPos, n.End(), n.Y))
	}
	if !x && !y {
		return nil
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		if x {
			n.X = g.condition(n.X, n.Op.String())
		}
		if y {
			n.Y = g.condition(n.Y, n.Op.String())
		}
		return nil
	}
	row, ok := operators[n.Op]
	if !ok || !g.operand(n.X) || !g.operand(n.Y) {
		return nil
	}
	if x {
		return g.infix(n, n.Op.String(), g.method(n.X, row.method, n.OpPos, n.End(), n.Y))
	}
	return g.infix(n, n.Op.String(), g.method(n.Y, row.reversed, n.OpPos, n.End(), n.X))
}

// infix notes that e was written as an operation.
func (g *sugarer) infix(n *ast.BinaryExpr, op string, e *ast.CallExpr) ast.Expr {
	x, y := n.X, n.Y
	g.c.wrote(e, func(of func(ast.Expr) string) string { return of(x) + " " + op + " " + of(y) })
	return e
}

// isMatMul tells whether a &^ was written @.
func (c *compiler) isMatMul(n *ast.BinaryExpr) bool { return c.isMatMulAt(n.OpPos) }

func (c *compiler) isMatMulAt(p token.Pos) bool {
	f := c.asm.file
	return int(p) >= f.Base() && int(p) <= f.Base()+f.Size() && c.asm.isMatMul(f.Offset(p))
}

// known tells whether the type of e is settled.
func (g *sugarer) known(e ast.Expr) bool { return g.is(e) || valid(g.c.info.Types[e].Type) }

func (g *sugarer) typeName(e ast.Expr) string {
	if t := g.c.info.Types[e].Type; valid(t) {
		return g.c.s.TypeString(t)
	}
	return "a tensor"
}

// condition reports a tensor where Go wants a bool, and gives what stands for it.
func (g *sugarer) condition(e ast.Expr, where string) ast.Expr {
	g.changed = true
	no := ident("false", e.Pos())
	if g.c.refused == nil {
		g.c.refused = map[*ast.Ident]bool{}
	}
	g.c.refused[no] = true
	g.c.errorAt(e.Pos(), "type", "a tensor is no condition for %s: say which, .All() or .Any() and then .Bool()", where)
	return no
}

// boolean checks the condition of a statement.
func (g *sugarer) boolean(e ast.Expr) ast.Expr {
	if e == nil || !g.is(e) {
		return e
	}
	return g.condition(e, "a statement")
}

// assign rewrites op= on tensors and writes through an index.
func (g *sugarer) assign(n *ast.AssignStmt) ast.Stmt {
	if len(n.Lhs) == len(n.Rhs) && (n.Tok == token.DEFINE || n.Tok == token.ASSIGN) {
		for i := range n.Lhs {
			g.learn(n.Lhs[i], n.Rhs[i])
		}
	}
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		for _, l := range n.Lhs {
			if g.indexed[l] != nil {
				g.c.errorAt(l.Pos(), "type", "a write into a tensor stands on its own, not in a list of assignments")
			}
		}
		return nil
	}
	l, r := n.Lhs[0], n.Rhs[0]
	if ix := g.indexed[l]; ix != nil {
		return g.write(ix, n)
	}
	op, ok := assignments[n.Tok]
	if !ok || !g.is(l) && !g.is(r) {
		return nil
	}
	var pre []ast.Stmt
	if _, paren := l.(*ast.ParenExpr); !paren {
		l = g.writable(l, &pre)
	}
	x := clone(l)
	g.tensor[x] = g.is(n.Lhs[0])
	e := g.binary(&ast.BinaryExpr{X: x, OpPos: n.TokPos, Op: op, Y: r})
	if e == nil {
		return nil
	}
	st := &ast.AssignStmt{Lhs: []ast.Expr{l}, TokPos: n.TokPos, Tok: token.ASSIGN, Rhs: []ast.Expr{e}}
	if len(pre) > 0 {
		return block(n.TokPos, append(pre, st)...)
	}
	return st
}

// writable gives a variable that is read and written a form that may stand
// twice: what it calls is evaluated first, into pre.
func (g *sugarer) writable(l ast.Expr, pre *[]ast.Stmt) ast.Expr {
	once := func(e ast.Expr) ast.Expr {
		if simple(e) {
			return e
		}
		name := g.c.temp("w")
		*pre = append(*pre, define(name, e, e.Pos()))
		return ident(name, e.Pos())
	}
	switch l := l.(type) {
	case *ast.IndexExpr:
		return &ast.IndexExpr{X: once(l.X), Lbrack: l.Lbrack, Index: once(l.Index), Rbrack: l.Rbrack}
	case *ast.SelectorExpr:
		if simple(l) {
			return l
		}
		if t := g.c.info.Types[l.X].Type; t != nil {
			if _, ptr := t.Underlying().(*types.Pointer); ptr {
				return &ast.SelectorExpr{X: once(l.X), Sel: l.Sel}
			}
		}
		name := g.c.temp("w")
		*pre = append(*pre, define(name, addr(l, l.Pos()), l.Pos()))
		return &ast.StarExpr{Star: l.Pos(), X: ident(name, l.Pos())}
	}
	return l
}

// compile gives tpu.Compile(f) and tpu.Checkpoint(f) the type of f.
func (g *sugarer) compile(n *ast.CallExpr) ast.Expr {
	f, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Compile" && f.Sel.Name != "Checkpoint" || len(n.Args) == 0 {
		return nil
	}
	fn, ok := g.c.info.Uses[f.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != g.c.s.cfg.Tensor.Path || fn.Signature().Recv() != nil {
		return nil
	}
	res := g.c.info.Types[n].Type
	t := g.c.info.Types[n.Args[0]].Type
	if res == nil || !types.IsInterface(res) || !valid(t) || g.indexed[n] != nil {
		return nil
	}
	if _, ok := t.Underlying().(*types.Signature); !ok {
		return nil
	}
	if g.c.compiled == nil {
		g.c.compiled = map[*ast.CallExpr]bool{}
	}
	if g.c.compiled[n] {
		return nil
	}
	g.c.compiled[n] = true
	g.changed = true
	return &ast.TypeAssertExpr{X: n, Lparen: n.Rparen, Type: g.c.typeExpr(t, n.Rparen), Rparen: n.Rparen}
}

// temp makes a name that no user types.
func (c *compiler) temp(prefix string) string {
	c.tmp++
	return "ʹ" + prefix + strconv.Itoa(c.tmp)
}

// typeExpr gives a type a name that syntax can use.
func (c *compiler) typeExpr(t types.Type, p token.Pos) ast.Expr {
	if c.typeNames == nil {
		c.typeNames = map[string]types.Type{}
	}
	name := c.temp("type")
	c.typeNames[name] = t
	return ident(name, p)
}
