package cell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// TypeOf gives the type of an expression as a user writes it, several results
// as (T, U), without running anything. The error is a *CompileError.
func (s *Scope) TypeOf(expr string) (string, error) {
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

// A Candidate is what may stand at a cursor.
type Candidate struct {
	Text   string
	Kind   string // var, func, type, const, package, method, field, keyword
	Detail string // its type or signature
}

// CompleteAt lists what may stand at byte pos of the text of a cell, and where the
// word begins that it replaces.
func (s *Scope) CompleteAt(text string, pos int) (list []Candidate, start int) {
	head := text[:pos]
	start = pos
	for start > 0 && isWordByte(head[start-1]) {
		start--
	}
	prefix := head[start:]
	c := &completer{s: s, prefix: prefix, pkg: s.everything()}
	if before, ok := strings.CutSuffix(head[:start], "."); ok {
		c.selectors(before)
	} else {
		c.names()
	}
	sort.Slice(c.list, func(i, j int) bool { return c.list[i].Text < c.list[j].Text })
	return c.list, start
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

// everything is a package in which all names of the session are in scope, by
// the names that users write.
func (s *Scope) everything() *types.Package {
	pkg := types.NewPackage(mainPath, mainPath)
	for name, e := range s.names {
		pkg.Scope().Insert(named(pkg, name, e.obj))
	}
	paths := map[string]string{}
	for n, p := range s.cfg.Packages {
		paths[n] = p
	}
	for n, p := range s.imports {
		paths[n] = p
	}
	for n, p := range paths {
		if ip, err := s.cfg.Importer.Import(p); err == nil {
			pkg.Scope().Insert(types.NewPkgName(token.NoPos, pkg, n, ip))
		}
	}
	return pkg
}

// named gives an object under the user's name.
func named(pkg *types.Package, name string, o types.Object) types.Object {
	if o.Name() == name {
		return o
	}
	switch o := o.(type) {
	case *types.Var:
		return types.NewVar(token.NoPos, pkg, name, o.Type())
	case *types.Func:
		return types.NewFunc(token.NoPos, pkg, name, o.Signature())
	case *types.Const:
		return types.NewConst(token.NoPos, pkg, name, o.Type(), o.Val())
	}
	return types.NewTypeName(token.NoPos, pkg, name, o.Type())
}

type completer struct {
	s      *Scope
	prefix string
	pkg    *types.Package
	list   []Candidate
}

func (c *completer) add(o types.Object, kind string) {
	if !strings.HasPrefix(o.Name(), c.prefix) {
		return
	}
	detail := ""
	if _, isPkg := o.(*types.PkgName); !isPkg && o.Type() != nil {
		detail = c.s.TypeString(o.Type())
	}
	c.list = append(c.list, Candidate{o.Name(), kind, detail})
}

func kindOf(o types.Object) string {
	switch o := o.(type) {
	case *types.Var:
		if o.IsField() {
			return "field"
		}
		return "var"
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "method"
		}
		return "func"
	case *types.Const:
		return "const"
	case *types.TypeName:
		return "type"
	case *types.PkgName:
		return "package"
	}
	return "builtin"
}

// names lists what may begin an expression.
func (c *completer) names() {
	for _, sc := range []*types.Scope{c.pkg.Scope(), types.Universe} {
		for _, n := range sc.Names() {
			o := sc.Lookup(n)
			c.add(o, kindOf(o))
		}
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		if k := t.String(); strings.HasPrefix(k, c.prefix) && c.prefix != "" {
			c.list = append(c.list, Candidate{Text: k, Kind: "keyword"})
		}
	}
}

// selectors lists what may follow the dot after before: the longest end of it
// that is an expression decides.
func (c *completer) selectors(before string) {
	src, _, _ := rewriteTokens(before)
	var x ast.Expr
	for j := strings.LastIndexAny(src, "\n;{}=") + 1; j < len(src); j++ {
		if j > 0 && isWordByte(src[j]) && isWordByte(src[j-1]) {
			continue
		}
		if e, err := parser.ParseExpr(strings.TrimSpace(src[j:])); err == nil {
			x = e
			break
		}
	}
	if x == nil {
		return
	}
	if id, ok := x.(*ast.Ident); ok {
		if pn, ok := c.pkg.Scope().Lookup(id.Name).(*types.PkgName); ok {
			sc := pn.Imported().Scope()
			for _, n := range sc.Names() {
				if o := sc.Lookup(n); o.Exported() {
					c.add(o, kindOf(o))
				}
			}
			return
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if err := types.CheckExpr(token.NewFileSet(), c.pkg, token.NoPos, x, info); err != nil {
		return
	}
	t := info.Types[x].Type
	if t == nil {
		return
	}
	recv := t
	if _, isPtr := t.Underlying().(*types.Pointer); !isPtr && !types.IsInterface(t) {
		recv = types.NewPointer(t)
	}
	ms := types.NewMethodSet(recv)
	for i := range ms.Len() {
		if o := ms.At(i).Obj(); o.Exported() || o.Pkg() != nil && o.Pkg().Path() == mainPath {
			c.add(o, "method")
		}
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if st, ok := t.Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			if f.Exported() || f.Pkg() != nil && f.Pkg().Path() == mainPath {
				c.add(f, "field")
			}
		}
	}
}
