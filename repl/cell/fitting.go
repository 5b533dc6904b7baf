package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// fitting tells what would fit where go/types says that a value of one type is
// none of another: a function like the called one that takes it, what makes the
// wanted type of it, a method of it that gives the wanted type. It is "" when
// there is nothing of the kind.
func (c *compiler) fitting(e types.Error) string {
	if !strings.HasPrefix(e.Msg, "cannot use ") && !strings.HasPrefix(e.Msg, "cannot convert ") {
		return ""
	}
	arg, want, call, at := c.misfit(e.Pos)
	if arg == nil || !valid(want) || !valid(c.info.TypeOf(arg)) {
		return ""
	}
	have := c.info.TypeOf(arg)
	have = types.Default(have)
	if types.AssignableTo(have, want) {
		return ""
	}
	var list []string
	if call != nil {
		if w := c.sibling(call, at, have); w != "" {
			list = append(list, w)
		}
	}
	text := "…"
	if s := c.quoted(types.Error{Pos: e.Pos, Msg: types.ExprString(arg)}); len(s) <= maxQuoted && !strings.Contains(s, "\n") {
		text = s
	}
	list = append(list, c.makers(have, want, text)...)
	return plain(strings.Join(list, ", "))
}

// misfit finds the expression at a place where it does not have the type that is
// wanted there: an argument, which is then the at-th of call, what is converted, or
// the value of a declared variable.
func (c *compiler) misfit(p token.Pos) (x ast.Expr, want types.Type, call *ast.CallExpr, at int) {
	ast.Inspect(c.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for i, a := range n.Args {
				if a.Pos() != p {
					continue
				}
				if c.info.Types[n.Fun].IsType() {
					x, want, call = a, c.info.TypeOf(n.Fun), nil
				} else if sig, ok := c.info.TypeOf(n.Fun).(*types.Signature); ok && parameter(sig, i) != nil {
					x, want, call, at = a, parameter(sig, i), n, i
				}
			}
		case *ast.ValueSpec:
			for _, v := range n.Values {
				if n.Type != nil && v.Pos() == p {
					x, want, call = v, c.info.TypeOf(n.Type), nil
				}
			}
		}
		return true
	})
	return x, want, call, at
}

// maxQuoted is the length up to which an expression is written into a hint.
const maxQuoted = 24

// parameter gives the type of a parameter, the elements' of a variadic one.
func parameter(sig *types.Signature, i int) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		if s, ok := sig.Params().At(n - 1).Type().(*types.Slice); ok {
			return s.Elem()
		}
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}

// sibling finds the function of the called one's package whose name ends or
// begins as its does and that takes a value of type have there, and the other
// arguments as they are.
func (c *compiler) sibling(call *ast.CallExpr, at int, have types.Type) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := f.X.(*ast.Ident)
	if !ok {
		return ""
	}
	p := c.packageOf(id)
	if p == nil {
		return ""
	}
	best := ""
	for _, name := range p.Scope().Names() {
		fn, ok := p.Scope().Lookup(name).(*types.Func)
		if !ok || !fn.Exported() || name == f.Sel.Name || !strings.HasSuffix(name, f.Sel.Name) && !strings.HasPrefix(name, f.Sel.Name) {
			continue
		}
		sig := fn.Signature()
		if t := parameter(sig, at); t == nil || sig.TypeParams().Len() > 0 || !types.AssignableTo(have, t) || types.IsInterface(t) || !c.takesAll(sig, call.Args) {
			continue
		}
		if best == "" || len(name) < len(best) {
			best = name
		}
	}
	if best == "" {
		return ""
	}
	return id.Name + "." + best + " takes " + c.s.TypeString(have)
}

// takesAll tells whether a function can be called with these arguments.
func (c *compiler) takesAll(sig *types.Signature, args []ast.Expr) bool {
	for i, a := range args {
		t, have := parameter(sig, i), c.info.TypeOf(a)
		if t == nil || have != nil && !types.AssignableTo(have, t) {
			return false
		}
	}
	return takes(sig, len(args))
}

// takes tells whether a function can be called with n arguments.
func takes(sig *types.Signature, n int) bool {
	params := sig.Params().Len()
	if sig.Variadic() {
		return n >= params-1
	}
	return n == params
}

// makers lists what makes a value of type want of one of type have: the literal
// of a struct, a function of one of the types' packages, a method.
func (c *compiler) makers(have, want types.Type, text string) (list []string) {
	of := func(t types.Type) *types.Package {
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() != mainPath {
			return n.Obj().Pkg()
		}
		return nil
	}
	if s, ok := want.Underlying().(*types.Struct); ok && of(want) != nil {
		for f := range s.Fields() {
			if f.Exported() && types.Identical(f.Type(), have) {
				list = append(list, c.s.TypeString(want)+"{"+f.Name()+": "+text+"}")
				break
			}
		}
	}
	if p := of(want); p != nil {
		for _, name := range p.Scope().Names() {
			fn, ok := p.Scope().Lookup(name).(*types.Func)
			if !ok || !fn.Exported() || fn.Signature().TypeParams().Len() > 0 || !takes(fn.Signature(), 1) || !strings.Contains(name, typeWord(want)) {
				continue
			}
			sig := fn.Signature()
			if sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type(), want) && types.Identical(parameter(sig, 0), have) {
				list = append(list, p.Name()+"."+name+"("+text+")")
			}
		}
	}
	if of(have) != nil && !types.IsInterface(want) {
		if strings.Contains(text, " ") {
			text = "(" + text + ")"
		}
		for s := range types.NewMethodSet(have).Methods() {
			fn, ok := s.Obj().(*types.Func)
			if !ok || !fn.Exported() || !takes(fn.Signature(), 0) || fn.Signature().Results().Len() != 1 || !reads(fn.Name(), want) {
				continue
			}
			if types.Identical(fn.Signature().Results().At(0).Type(), want) {
				list = append(list, text+"."+fn.Name()+"()")
			}
		}
	}
	return list
}

// typeWord is the word that names of functions and methods use for a type:
// Complex, Int, Float64s for a slice.
func typeWord(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return t.Obj().Name()
	case *types.Pointer:
		return typeWord(t.Elem())
	case *types.Slice:
		return typeWord(t.Elem()) + "s"
	case *types.Basic:
		return strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	}
	return t.String()
}

// reads tells whether a method of this name gives a value as another type.
func reads(method string, t types.Type) bool { return method == typeWord(t) || method == "Item" }
