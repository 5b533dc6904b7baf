package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// maxPasses bounds the rounds of check and sugar. One round rewrites all but
// what depends on a type that only the rewritten code has.
const maxPasses = 12

// checkAll type-checks the cell and rewrites its sugar until nothing changes.
// It names the dependants that do not type-check any more.
func (c *compiler) checkAll() (again map[string]string) {
	decls := c.file.Decls[:len(c.file.Decls):len(c.file.Decls)]
	decls = decls[:len(decls)-1]
	for _, t := range c.tops {
		if t.decl != nil {
			decls = append(decls, t.decl)
		}
	}
	c.file.Decls = append(decls, c.body)
	c.setBody()
	c.foreignMethods()
	var errs []types.Error
	for pass := 0; ; pass++ {
		errs = c.check()
		if pass == 0 && c.addMethods() {
			errs = c.check()
		}
		if pass == maxPasses || !c.sugar() {
			break
		}
		c.setBody()
	}
	again = map[string]string{}
	for _, e := range errs {
		if u := c.dependantAt(e.Pos); u != nil {
			if again[u.name] == "" {
				src, line, col := c.locate(e.Pos)
				msg, _, _ := strings.Cut(plain(c.quoted(e)), "\n")
				again[u.name] = fmt.Sprintf("In[%d]:%d:%d: %s", src.Cell, line, col, msg)
			}
			continue
		}
		c.report(e)
	}
	if len(errs) == 0 {
		c.overflows()
	}
	if len(c.diags) > 0 {
		return nil
	}
	return again
}

// overflows complains of a last expression that is an untyped constant and does
// not fit the type that it is shown in: go/types takes it for a statement.
func (c *compiler) overflows() {
	if c.last == nil {
		return
	}
	tv := c.info.Types[c.last]
	b, ok := tv.Type.(*types.Basic)
	if !ok || tv.Value == nil || b.Info()&types.IsUntyped == 0 {
		return
	}
	fits := true
	switch t := types.Default(b).(*types.Basic); t.Kind() {
	case types.Int:
		_, fits = constant.Int64Val(constant.ToInt(tv.Value))
	case types.Int32:
		n, exact := constant.Int64Val(constant.ToInt(tv.Value))
		fits = exact && int64(int32(n)) == n
	case types.Float64, types.Complex128:
		re, _ := constant.Float64Val(constant.Real(tv.Value))
		im, _ := constant.Float64Val(constant.Imag(tv.Value))
		fits = !math.IsInf(re, 0) && !math.IsInf(im, 0)
	}
	if !fits {
		c.errorAt(c.last.Pos(), "type", "cannot show %s (%s constant %s) as %s value (overflows)", plain(types.ExprString(c.last)), b, tv.Value, types.Default(b))
	}
}

// setBody gives the cell's function the statements that are checked inside it,
// and finds the last expression.
func (c *compiler) setBody() {
	list := make([]ast.Stmt, 0, len(c.tops))
	c.last = nil
	for i, t := range c.tops {
		if t.decl != nil {
			if l, ok := t.stmt.(*ast.LabeledStmt); ok {
				list = append(list, &ast.LabeledStmt{Label: l.Label, Colon: l.Colon, Stmt: &ast.EmptyStmt{Semicolon: l.Colon}})
			}
			continue
		}
		list = append(list, t.stmt)
		if es, ok := t.stmt.(*ast.ExprStmt); ok && i == len(c.tops)-1 {
			c.last = es.X
		}
	}
	c.body.Body.List = list
}

// check runs go/types once over the file, with the session's names that the
// cell uses in scope.
func (c *compiler) check() []types.Error {
	s := c.s
	pkg := types.NewPackage(mainPath, mainPath)
	sc := pkg.Scope()
	for name := range c.needed {
		if e := s.names[name]; e != nil && c.declared[e.internal] == "" {
			sc.Insert(e.obj)
		}
	}
	for name := range c.packages {
		if p, err := s.cfg.Importer.Import(c.packagePath(name)); err == nil {
			sc.Insert(types.NewPkgName(token.NoPos, pkg, name, p))
		}
	}
	c.insertItems(pkg)
	c.eval.insert(pkg)
	for name, t := range c.typeNames {
		sc.Insert(types.NewTypeName(token.NoPos, pkg, name, t))
	}
	for name, in := range c.embedded {
		if e := c.entryOf(in); e != nil && c.declared[in] == "" {
			sc.Insert(types.NewTypeName(token.NoPos, pkg, name, e.obj.Type()))
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}}
	var errs []types.Error
	c.warns = keepKind(c.warns, "unused")
	conf := types.Config{Importer: s.cfg.Importer, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !c.ignored(e) {
			errs = append(errs, e)
		}
	}}
	_ = types.NewChecker(&conf, s.cfg.Fset, pkg, info).Files([]*ast.File{c.file, c.aliases()}) // the errors went to conf.Error
	c.pkg, c.info = pkg, info
	return errs
}

// aliases is a file that declares the names under which types of the cell are
// embedded; those of earlier cells are put in scope.
func (c *compiler) aliases() *ast.File {
	p := c.file.Pos()
	f := &ast.File{Package: p, Name: ident(mainPath, p)}
	for name, in := range c.embedded {
		if c.declared[in] == "" {
			continue
		}
		f.Decls = append(f.Decls, &ast.GenDecl{Tok: token.TYPE, TokPos: p, Specs: []ast.Spec{&ast.TypeSpec{Name: ident(name, p), Assign: p, Type: ident(in, p)}}})
	}
	return f
}

func keepKind(in []Diagnostic, without string) (out []Diagnostic) {
	for _, d := range in {
		if d.Kind != without {
			out = append(out, d)
		}
	}
	return out
}

func (c *compiler) packagePath(name string) string {
	if p, ok := c.imports[name]; ok {
		return p
	}
	return c.s.importPath(name)
}

// ignored tells which complaints of go/types are none in a cell.
func (c *compiler) ignored(e types.Error) bool {
	switch {
	case strings.HasPrefix(e.Msg, "\t"): // continues the last message
		return true
	case e.Soft && (strings.HasPrefix(e.Msg, "declared and not used") || strings.HasSuffix(e.Msg, "declared and not used")): // the second of a type switch
		c.warnAt(e.Pos, "unused", "%s", e.Msg)
		return true
	case e.Soft && strings.Contains(e.Msg, "imported and not used"):
		return true
	case strings.HasPrefix(e.Msg, "initialization cycle"): // the statements run in text order
		return true
	case strings.HasPrefix(e.Msg, "implicit assignment to unexported field") && strings.Contains(e.Msg, "type "+mainPath+"."):
		return true // packages of cells are compared by pointer
	case c.last != nil && strings.HasSuffix(e.Msg, "is not used") && e.Pos >= c.last.Pos() && e.Pos <= c.last.End():
		return true // it is shown
	case strings.HasPrefix(e.Msg, "func init must have no") || strings.HasPrefix(e.Msg, "func main must have no"):
		return true
	}
	return false
}

// report turns an error of go/types into a diagnostic.
func (c *compiler) report(e types.Error) {
	if c.dead(e) {
		return
	}
	msg := c.quoted(e)
	if strings.Contains(msg, "invalid operation: operator") {
		msg = strings.Replace(msg, "operator &^ not defined", "operator @ not defined", 1)
	}
	if path := c.s.cfg.Imports[strings.TrimPrefix(msg, "undefined: ")]; path != "" {
		msg += fmt.Sprintf(" (import %q is missing)", path)
	} else if m := c.meant(msg); m != "" {
		msg += " (here: " + m + ")"
	} else if n := c.nearest(e); n != "" && !strings.Contains(msg, "(but have ") {
		msg += "; the nearest is " + n
	} else if w := c.fitting(e); w != "" {
		msg += " (here: " + w + ")"
	}
	c.errorAt(e.Pos, "type", "%s", c.userPlaces(msg))
}

// assembledPlace is a position that go/types writes into a message, "already
// declared at cell[2]:3:12" say: it counts in the assembled file.
var assembledPlace = regexp.MustCompile(`cell\[\d+\]:(\d+):(\d+)`)

// userPlaces writes the positions in a message as places of the user's text:
// FILE:LINE:COLUMN, [CELL]:LINE:COLUMN in another cell, else LINE:COLUMN.
func (c *compiler) userPlaces(msg string) string {
	f := c.asm.file
	if f == nil {
		return msg
	}
	return assembledPlace.ReplaceAllStringFunc(msg, func(at string) string {
		m := assembledPlace.FindStringSubmatch(at)
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		if !strings.HasPrefix(at, f.Name()+":") || line < 1 || line > f.LineCount() {
			return at
		}
		src, line, column := c.locate(f.LineStart(line) + token.Pos(column-1))
		switch {
		case src.File != "":
			return fmt.Sprintf("%s:%d:%d", src.File, src.FirstLine+line-1, column)
		case src != c.src:
			return fmt.Sprintf("[%d]:%d:%d", src.Cell, line, column)
		}
		return fmt.Sprintf("%d:%d", line, column)
	})
}

// meant gives what stands here for the unknown name of a message of go/types.
func (c *compiler) meant(msg string) string {
	meant := c.s.cfg.Meant
	if meant == nil {
		return ""
	}
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok && !strings.Contains(name, " ") {
		pkg, member, ok := strings.Cut(name, ".")
		if !ok {
			return meant(name, true)
		}
		if strings.HasPrefix(c.packagePath(pkg), path.Dir(c.s.cfg.Tensor.Path)+"/") {
			return meant(member, false)
		}
		return ""
	}
	if _, rest, ok := strings.Cut(msg, " undefined (type "); ok {
		typ, name, ok := strings.Cut(strings.TrimSuffix(rest, ")"), " has no field or method ")
		if ok && !strings.Contains(name, ",") && strings.HasPrefix(strings.TrimPrefix(typ, "*"), path.Base(c.s.cfg.Tensor.Path)+"."+c.s.cfg.Tensor.Name) || ok && strings.HasPrefix(typ, "*nn.") {
			return meant(name, false)
		}
	}
	return ""
}
