package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// A Candidate is one way to go on at the cursor.
type Candidate struct {
	Text   string // the whole name, of which a part may be typed
	Kind   string // "func", "method", "var", "const", "type", "field", "package", "keyword"
	Detail string // signature or type, with parameter names
}

// CompleteAt lists what may stand at the byte offset pos of src, and where the
// word begins that it replaces: names that begin with the letters before pos,
// members after a dot.
func (s *Scope) CompleteAt(src string, pos int) ([]Candidate, int) {
	pos = max(0, min(pos, len(src)))
	text := src[:pos]
	i := len(text)
	for i > 0 && isNameByte(text[i-1]) {
		i--
	}
	prefix, head := text[i:], text[:i]
	var out []Candidate
	if strings.HasSuffix(head, ".") && !strings.HasSuffix(head, "..") {
		out = s.members(src, operandBefore(head[:len(head)-1]), prefix)
	} else {
		out = s.scopeNames(src, prefix)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Text < out[j].Text })
	return out, i
}

func isNameByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// operandBefore gives the operand that ends a text: names, selectors, calls and
// indexes, with their brackets balanced.
func operandBefore(text string) string {
	text, _, _ = rewriteTokens(text)
	toks, _ := scan(text)
	for len(toks) > 0 && (toks[len(toks)-1].tok == token.EOF || toks[len(toks)-1].tok == token.SEMICOLON) {
		toks = toks[:len(toks)-1]
	}
	i := len(toks) - 1
	for i >= 0 {
		switch toks[i].tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			k := opening(toks, i)
			if k < 0 {
				return ""
			}
			i = k
			if i > 0 && endsOperand(toks[i-1].tok) {
				i--
				continue
			}
		case token.IDENT, token.STRING, token.INT, token.FLOAT, token.CHAR:
		default:
			return ""
		}
		if i > 1 && toks[i-1].tok == token.PERIOD {
			i -= 2
			continue
		}
		return text[toks[i].offset:]
	}
	return ""
}

// checkedPackage makes a package with the session's names under the names that
// the user knows.
func (s *Scope) checkedPackage(names func(yield func(string) bool)) *types.Package {
	pkg := types.NewPackage(mainPath, mainPath)
	for name := range names {
		if e := s.names[name]; e != nil {
			pkg.Scope().Insert(alias(pkg, name, e.obj))
			continue
		}
		if path := s.importPath(name); path != "" {
			if p, err := s.cfg.Importer.Import(path); err == nil {
				pkg.Scope().Insert(types.NewPkgName(token.NoPos, pkg, name, p))
			}
		}
	}
	return pkg
}

// alias gives an object another name.
func alias(pkg *types.Package, name string, o types.Object) types.Object {
	if o.Name() == name {
		return o
	}
	switch o := o.(type) {
	case *types.Var:
		return types.NewVar(o.Pos(), pkg, name, o.Type())
	case *types.Const:
		return types.NewConst(o.Pos(), pkg, name, o.Type(), o.Val())
	case *types.Func:
		return types.NewFunc(o.Pos(), pkg, name, o.Signature())
	case *types.TypeName:
		return types.NewTypeName(o.Pos(), pkg, name, o.Type())
	}
	return o
}

// TypeOf gives the type of an expression as the user writes it, several results
// as (T, U), without running anything. The error is a *CompileError.
func (s *Scope) TypeOf(expr string) (string, error) {
	if t, err := s.typeOf(expr); err == nil {
		return s.TypeString(t), nil
	}
	u, err := s.Compile(Source{Text: expr})
	if err != nil {
		return "", err
	}
	list := make([]string, len(u.Shown))
	for i, x := range u.Shown {
		list[i] = x.Type
	}
	switch len(list) {
	case 0:
		return "", &CompileError{Diagnostics: []Diagnostic{{Line: 1, Column: 1, Kind: "type", Msg: "no value: not an expression"}}}
	case 1:
		return list[0], nil
	}
	return "(" + strings.Join(list, ", ") + ")", nil
}

func (s *Scope) typeOf(expr string) (types.Type, error) {
	text, _, _ := rewriteTokens(expr)
	e, err := parser.ParseExpr(text)
	if err != nil {
		return nil, &CompileError{[]Diagnostic{{Line: 1, Column: 1, Kind: "syntax", Msg: plain(err.Error())}}}
	}
	pkg := s.checkedPackage(identsOf(e))
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if err := types.CheckExpr(token.NewFileSet(), pkg, token.NoPos, e, info); err != nil {
		if t := s.sugaredType(e, info); t != nil {
			return t, nil
		}
		return nil, &CompileError{[]Diagnostic{{Line: 1, Column: 1, Kind: "type", Msg: plain(messageOf(err))}}}
	}
	t := info.Types[e].Type
	if t == nil {
		return nil, &CompileError{[]Diagnostic{{Line: 1, Column: 1, Kind: "type", Msg: expr + " has no type"}}}
	}
	return t, nil
}

// messageOf gives an error's text without a position.
func messageOf(err error) string {
	if e, ok := err.(types.Error); ok {
		return e.Msg
	}
	return err.Error()
}

// sugaredType types an expression that is Go only after the sugar: an operator
// or an index on a tensor gives a tensor.
func (s *Scope) sugaredType(e ast.Expr, info *types.Info) types.Type {
	if s.cfg.Tensor.Path == "" {
		return nil
	}
	c := &compiler{s: s, info: info}
	g := &sugarer{c: c, tensor: map[ast.Expr]bool{}, objects: map[types.Object]bool{}}
	var typ func(e ast.Expr) bool
	typ = func(e ast.Expr) bool {
		if g.is(e) {
			return true
		}
		switch e := e.(type) {
		case *ast.ParenExpr:
			return typ(e.X)
		case *ast.BinaryExpr:
			return typ(e.X) || typ(e.Y)
		case *ast.UnaryExpr:
			return typ(e.X)
		case *ast.IndexExpr:
			return typ(e.X)
		case *ast.IndexListExpr:
			return typ(e.X)
		case *ast.SliceExpr:
			return typ(e.X)
		case *ast.SelectorExpr:
			return e.Sel.Name == "T" && typ(e.X)
		case *ast.CallExpr:
			f, ok := e.Fun.(*ast.SelectorExpr)
			if !ok || !typ(f.X) {
				return false
			}
			g.tensor[f.X] = true
			return g.isCall(e)
		}
		return false
	}
	if !typ(e) {
		return nil
	}
	return c.tensorPointer()
}

func (c *compiler) tensorPointer() types.Type {
	p, err := c.s.cfg.Importer.Import(c.s.cfg.Tensor.Path)
	if err != nil {
		return nil
	}
	if o := p.Scope().Lookup(c.s.cfg.Tensor.Name); o != nil {
		return types.NewPointer(o.Type())
	}
	return nil
}

func identsOf(e ast.Expr) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !seen[id.Name] {
				seen[id.Name] = true
				if !yield(id.Name) {
					return false
				}
			}
			return true
		})
	}
}

// members lists what may follow a dot.
func (s *Scope) members(src, operand, prefix string) (out []Candidate) {
	if operand == "" {
		return nil
	}
	if path := s.importPath(operand); path != "" && s.names[operand] == nil {
		p, err := s.cfg.Importer.Import(path)
		if err != nil {
			return nil
		}
		for _, n := range p.Scope().Names() {
			if token.IsExported(n) && strings.HasPrefix(n, prefix) {
				out = append(out, s.candidate(n, p.Scope().Lookup(n), "func"))
			}
		}
		return out
	}
	t, err := s.typeOf(operand)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	eachMember(t, func(o types.Object) {
		if !strings.HasPrefix(o.Name(), prefix) || seen[o.Name()] {
			return
		}
		seen[o.Name()] = true
		kind := "method"
		if _, ok := o.(*types.Var); ok {
			kind = "field"
		}
		out = append(out, s.candidate(o.Name(), o, kind))
	})
	return out
}

// fields visits the fields that can be selected from t, promoted ones too.
func fields(t types.Type, depth int, visit func(*types.Var)) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || depth > 4 {
		return
	}
	for f := range st.Fields() {
		visit(f)
		if f.Embedded() {
			fields(f.Type(), depth+1, visit)
		}
	}
}

// scopeNames lists the names in scope, those of the text before the cursor too.
func (s *Scope) scopeNames(src, prefix string) (out []Candidate) {
	seen := map[string]bool{}
	add := func(c Candidate) {
		if c.Text != prefix && strings.HasPrefix(c.Text, prefix) && !seen[c.Text] && !strings.Contains(c.Text, "ʹ") {
			seen[c.Text] = true
			out = append(out, c)
		}
	}
	for name, e := range s.names {
		if strings.HasPrefix(name, prefix) {
			add(s.candidate(name, e.obj, "func"))
		}
	}
	for _, m := range []map[string]string{s.imports, s.cfg.Packages} {
		for name, path := range m {
			add(Candidate{name, "package", fmt.Sprintf("package %q", path)})
		}
	}
	toks, _ := scan(src)
	for i, t := range toks {
		if t.tok == token.IDENT && (i == 0 || toks[i-1].tok != token.PERIOD) {
			add(Candidate{t.lit, "var", ""})
		}
	}
	for _, name := range types.Universe.Names() {
		o := types.Universe.Lookup(name)
		kind := "func"
		if _, ok := o.(*types.TypeName); ok {
			kind = "type"
		}
		if _, ok := o.(*types.Const); ok {
			kind = "const"
		}
		add(Candidate{name, kind, ""})
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		if prefix != "" {
			add(Candidate{t.String(), "keyword", ""})
		}
	}
	return out
}

func (s *Scope) candidate(name string, o types.Object, kind string) Candidate {
	q := func(p *types.Package) string {
		if p.Path() == mainPath || o.Pkg() != nil && p.Path() == o.Pkg().Path() {
			return ""
		}
		return p.Name()
	}
	detail := plain(types.TypeString(o.Type(), q))
	switch o.(type) {
	case *types.Var:
		if kind != "field" {
			kind = "var"
		}
	case *types.Const:
		kind = "const"
	case *types.TypeName:
		kind = "type"
		detail = plain(types.TypeString(o.Type().Underlying(), q))
	}
	return Candidate{name, kind, strings.TrimPrefix(detail, "func")}
}
