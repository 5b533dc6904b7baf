//lint:file-ignore SA1019 the parser's objects tell locals from free names, which is all they are asked for

package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// resolve gives every name that the cell declares at its top an internal name,
// and every free identifier the one it means where it stands: a statement sees
// what was declared before it, a function sees the cell's last word.
func (c *compiler) resolve() {
	c.imports, c.hoisted, c.env = map[string]string{}, map[string]string{}, map[string]string{}
	c.declared, c.needed, c.packages = map[string]string{}, map[string]bool{}, map[string]bool{}
	c.reuse = map[string]*entry{}
	c.importSpecs = nil
	c.takeImports()
	c.collectSources()
	later := c.laterNames()
	c.hoistNames()

	top := map[*ast.Object]bool{}
	for _, o := range c.file.Scope.Objects {
		top[o] = true
	}
	c.tops = nil
	for _, st := range c.body.Body.List {
		c.tops = append(c.tops, &topStmt{stmt: st})
		for _, id := range topNames(unlabelled(st)) {
			if id.Obj != nil {
				top[id.Obj] = true
			}
		}
	}
	c.embedded = map[string]string{}
	r := &renamer{top: top, typ: c.typeOf, embedded: c.embedded}
	r.as = func(name string) string {
		if in, ok := c.lookup(name); ok {
			return in
		}
		if later[name] && types.Universe.Lookup(name) == nil {
			return name + "ʹ0" // declared only further down: undefined here
		}
		return name
	}
	if c.isMain { // the variables of a program are known everywhere in it
		c.ahead = map[*ast.Ident]*ast.Ident{}
		for _, st := range c.body.Body.List {
			for _, id := range topNames(unlabelled(st)) {
				c.ahead[id] = c.declareVar(id)
			}
		}
	}
	for _, t := range c.tops {
		c.resolveTop(t, r)
	}
	for _, d := range c.file.Decls {
		if d == ast.Decl(c.body) {
			continue
		}
		r.rename(d)
	}
	c.unusedImports()
}

// unusedImports warns of imports that the cell itself does not use. The kind
// tells those of cells that only import, which others will use.
func (c *compiler) unusedImports() {
	kind := "import"
	if len(c.tops) == 0 && len(c.file.Decls) == 1 {
		kind = OnlyImports
	}
	for _, sp := range c.importSpecs {
		path, _ := strconv.Unquote(sp.Path.Value)
		name, as := "", ""
		if p, err := c.s.cfg.Importer.Import(path); err == nil {
			name = p.Name()
		}
		if sp.Name != nil && sp.Name.Name != name {
			name, as = sp.Name.Name, " as "+sp.Name.Name
		}
		if name != "" && name != "_" && !c.packages[name] {
			c.warnAt(sp.Pos(), kind, "%q imported%s and not used", path, as)
		}
	}
}

// lookup gives the internal name of a free name, and notes what it needs.
func (c *compiler) lookup(name string) (string, bool) {
	if in, ok := c.env[name]; ok {
		return in, true
	}
	if in, ok := c.hoisted[name]; ok {
		return in, true
	}
	if in, ok := c.eval.local(name); ok {
		return in, true
	}
	if _, ok := c.imports[name]; ok {
		c.packages[name] = true
		return name, true
	}
	if e, ok := c.s.names[name]; ok {
		c.needed[name] = true
		return e.internal, true
	}
	if c.s.importPath(name) != "" {
		c.packages[name] = true
		return name, true
	}
	return name, false
}

// typeOf gives the type that a name of the session denotes.
func (c *compiler) typeOf(name string) types.Type {
	for _, n := range []string{name, strings.SplitN(name, "ʹ", 2)[0]} {
		if e, ok := c.s.names[n]; ok {
			if t, ok := e.obj.(*types.TypeName); ok {
				return t.Type()
			}
		}
	}
	return nil
}

// takeImports moves the import declarations out of the file.
func (c *compiler) takeImports() {
	var decls []ast.Decl
	for _, d := range c.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			decls = append(decls, d)
			continue
		}
		for _, spec := range g.Specs {
			sp := spec.(*ast.ImportSpec)
			path, err := strconv.Unquote(sp.Path.Value)
			if err != nil {
				continue
			}
			p, err := c.s.cfg.Importer.Import(path)
			if err != nil {
				c.errorAt(sp.Path.Pos(), "type", "%v", err)
				continue
			}
			name := p.Name()
			if sp.Name != nil {
				name = sp.Name.Name
			}
			switch name {
			case "_":
				continue
			case ".":
				c.errorAt(sp.Pos(), "type", "dot import of %q: name the package in a cell", path)
				continue
			}
			c.imports[name] = path
			c.importSpecs = append(c.importSpecs, sp)
		}
	}
	c.file.Decls = decls
	c.file.Imports = nil
}

// topNames lists the identifiers that a statement declares at its own level.
func topNames(st ast.Stmt) (out []*ast.Ident) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		if st.Tok != token.DEFINE {
			return nil
		}
		for _, l := range st.Lhs {
			if id, ok := l.(*ast.Ident); ok && id.Name != "_" {
				out = append(out, id)
			}
		}
	case *ast.DeclStmt:
		if g, ok := st.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					if id.Name != "_" {
						out = append(out, id)
					}
				}
			}
		}
	}
	return out
}

// laterNames lists the variables of the cell: before its declaration such a
// name means what it meant in the session, or to Go itself, or nothing.
func (c *compiler) laterNames() map[string]bool {
	out := map[string]bool{}
	for _, st := range c.body.Body.List {
		for _, id := range topNames(unlabelled(st)) {
			out[id.Name] = true
		}
	}
	return out
}

// hoistNames names the functions, types and constants of the cell.
func (c *compiler) hoistNames() {
	hoist := func(id *ast.Ident) {
		if id.Name == "_" {
			return
		}
		if _, twice := c.hoisted[id.Name]; twice && id.Name != "init" {
			return // go/types reports it: both keep one name
		}
		c.hoisted[id.Name] = c.declare(id.Name)
	}
	var decls []ast.Decl
	for _, d := range c.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d != c.body {
				if d.Name.Name == "init" && c.isMain { // a program may have several
					d.Name = &ast.Ident{Name: c.declare("init"), NamePos: d.Name.NamePos}
					break
				}
				hoist(d.Name)
			}
		case *ast.GenDecl:
			var specs []ast.Spec
			for _, spec := range d.Specs {
				switch sp := spec.(type) {
				case *ast.TypeSpec:
					if c.sameType(sp) {
						continue
					}
					hoist(sp.Name)
				case *ast.ValueSpec:
					for _, id := range sp.Names {
						hoist(id)
					}
				}
				specs = append(specs, spec)
			}
			d.Specs = specs
			if len(specs) == 0 {
				continue
			}
		}
		decls = append(decls, d)
	}
	c.file.Decls = decls
}

// sameType tells whether a type is declared again with identical text: it is
// then the same type, and the declaration is dropped.
func (c *compiler) sameType(sp *ast.TypeSpec) bool {
	e := c.s.names[sp.Name.Name]
	if e == nil {
		return false
	}
	if _, ok := e.obj.(*types.TypeName); !ok || e.literal == "" || e.literal != c.typeText(sp) {
		return false
	}
	c.reuse[sp.Name.Name] = e
	return true
}

// typeText gives a type's declaration with its layout made uniform.
func (c *compiler) typeText(sp *ast.TypeSpec) string {
	text := c.asm.text.String()[c.offset(sp.Pos()):c.offset(sp.End())]
	toks, _ := scan(text)
	var b strings.Builder
	for i, t := range toks {
		if t.tok == token.SEMICOLON {
			if i+1 < len(toks) && toks[i+1].tok != token.RBRACE && toks[i+1].tok != token.EOF {
				b.WriteByte(';')
			}
			continue
		}
		b.WriteString(t.tok.String())
		b.WriteByte(' ')
		if t.tok.IsLiteral() {
			b.WriteString(t.lit)
			b.WriteByte(' ')
		}
	}
	// What the text refers to counts too: the same words may mean other types.
	ast.Inspect(sp.Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Obj == nil && id.Name != sp.Name.Name {
			if e := c.s.names[id.Name]; e != nil {
				b.WriteString(e.internal)
				b.WriteByte(' ')
			}
		}
		return true
	})
	return b.String()
}

func (c *compiler) offset(p token.Pos) int { return c.asm.file.Offset(p) }

// declare makes an internal name for a name of this cell.
func (c *compiler) declare(name string) string {
	in := c.s.fresh(name)
	c.declared[in] = name
	return in
}

// resolveTop resolves one statement at the top of the cell, and turns := and
// var into package-level declarations for the type check.
func (c *compiler) resolveTop(t *topStmt, r *renamer) {
	switch st := unlabelled(t.stmt).(type) {
	case *ast.AssignStmt:
		if st.Tok != token.DEFINE {
			break
		}
		spec := &ast.ValueSpec{Values: st.Rhs}
		for _, e := range st.Rhs {
			r.rename(e)
		}
		for _, l := range st.Lhs {
			id, ok := l.(*ast.Ident)
			if !ok {
				c.errorAt(l.Pos(), "syntax", "non-name on left side of :=")
				return
			}
			spec.Names = append(spec.Names, c.declareVar(id))
		}
		t.decl = &ast.GenDecl{Tok: token.VAR, TokPos: st.Pos(), Specs: []ast.Spec{spec}}
		return
	case *ast.DeclStmt:
		g, ok := st.Decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			break
		}
		for _, s := range g.Specs {
			sp := s.(*ast.ValueSpec)
			if sp.Type != nil {
				r.rename(sp.Type)
			}
			for _, e := range sp.Values {
				r.rename(e)
			}
			for i, id := range sp.Names {
				sp.Names[i] = c.declareVar(id)
			}
		}
		t.decl = g
		return
	}
	r.rename(t.stmt)
}

func (c *compiler) declareVar(id *ast.Ident) *ast.Ident {
	if id.Name == "_" {
		return &ast.Ident{Name: "_", NamePos: id.NamePos}
	}
	if d := c.ahead[id]; d != nil {
		return d
	}
	if _, ok := c.hoisted[id.Name]; ok {
		c.errorAt(id.Pos(), "type", "%s redeclared in this cell: it is also a function, type or constant here", id.Name)
	}
	in := c.declare(id.Name)
	c.env[id.Name] = in
	return &ast.Ident{Name: in, NamePos: id.NamePos}
}
