package cell

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"sort"
	"strconv"
	"strings"
)

// A GoProgram collects cells and writes them as one plain Go program: package
// main over the packages that the cells use, the sugar written as the calls that
// it stands for. Declarations of the cells become those of the package, their
// statements the body of main, in order. A name that is declared again with
// another type or signature gets a number.
type GoProgram struct {
	s     *Scope
	known *goFacts // of the first pass, nil in it
	facts *goFacts

	names   map[types.Object]string // in the program
	byInner map[string]string       // internal names of types to those in the program
	vars    map[string]*goVar       // newest variable of each name
	ofVar   map[types.Object]*goVar
	taken   map[string]bool
	imports map[string]string // path to name
	hooks   map[string]string // type and method to the variable that holds it

	decls, globals, body strings.Builder
	c                    *compiler // of the present cell
	wrapped              bool      // the present cell is a function of its own

	changes map[string]int // of methods, up to the present cell
	first   bool           // of the versions of a method the first keeps its name, not the last
}

// goFacts are what the first pass finds out.
type goFacts struct {
	idents  map[string]bool // all names in the cells
	inFuncs map[string]bool // variables that functions use
	read    map[string]bool // variables whose value is used
	redone  map[string]bool // methods that a later cell declares again
	changed map[string]int  // how often one is declared again with another signature
}

// A goVar is a variable of the program.
type goVar struct {
	key, name string
	typ       types.Type
	local     bool // of main
	declared  bool
}

// A GoCell is one cell for a GoProgram.
type GoCell struct {
	Source
	Title    string
	MayPanic bool   // the program goes on when the cell panics, or does not compile
	Comment  string // written before the cell; Text may be empty then
}

// WriteGo writes the cells as a Go program, head as its first comment. The error
// is a *CompileError of the first cell that does not compile.
func (s *Scope) WriteGo(head string, cells []GoCell) ([]byte, error) {
	var known *goFacts
	for first := false; ; {
		g := &GoProgram{s: NewScope(s.cfg), known: known,
			facts:   &goFacts{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}},
			changes: map[string]int{}, first: first,
			names: map[types.Object]string{}, byInner: map[string]string{}, vars: map[string]*goVar{}, ofVar: map[types.Object]*goVar{},
			taken: map[string]bool{"main": true, "init": true, "_": true}, imports: map[string]string{}, hooks: map[string]string{}}
		for _, c := range cells {
			if err := g.cell(c); err != nil {
				return nil, err
			}
		}
		if known == nil {
			known = g.facts
			continue
		}
		out, err := g.program(head)
		if err != nil || len(known.changed) == 0 {
			return out, err
		}
		bad := g.check(out)
		if bad == nil {
			return out, nil
		}
		if first {
			return nil, bad
		}
		first = true
	}
}

// check type-checks a program in which methods have names of their own: an
// interface may want the one that lost it. The error is a *CompileError.
func (g *GoProgram) check(program []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", program, 0)
	if err == nil {
		conf := types.Config{Importer: g.s.cfg.Importer}
		_, err = conf.Check(mainPath, fset, []*ast.File{f}, nil)
	}
	if err == nil {
		return nil
	}
	return &CompileError{[]Diagnostic{{Line: 1, Column: 1, Kind: "type", Msg: "a method is declared again with another signature, and an interface wants both: " + err.Error()}}}
}

// version is the key of a method as the present cell knows it: each signature
// that it had is another method of the program.
func (g *GoProgram) version(key string) string {
	if n := g.changes[key]; n > 0 {
		return key + "ʹ" + strconv.Itoa(n)
	}
	return key
}

// nameMethod gives a version of a method its name in the program.
func (g *GoProgram) nameMethod(key string, o types.Object) {
	if o == nil || g.known == nil || g.known.changed[key] == 0 || g.names[o] != "" {
		return
	}
	keeps := g.known.changed[key]
	if g.first {
		keeps = 0
	}
	g.names[o] = o.Name()
	if g.changes[key] != keeps {
		g.names[o] = g.unique(o.Name() + "Version" + strconv.Itoa(g.changes[key]+1))
	}
}

// cell adds a cell.
func (g *GoProgram) cell(src GoCell) error {
	if src.Comment != "" {
		fmt.Fprintf(&g.body, "\n// %s\n", src.Comment)
	}
	if src.Text == "" {
		return nil
	}
	g.s.checked = func(c *compiler) {
		for _, f := range c.foreign {
			key := f.entry.internal + "." + f.name.Name
			if f.former != nil && len(f.former.Path) == 1 { // a Go program has one method of a name
				g.changes[key]++
				g.facts.changed[key]++
			}
			if f.obj != nil {
				g.nameMethod(key, f.obj)
			}
		}
		g.write(c, src)
	}
	u, err := g.s.Compile(src.Source)
	g.s.checked = nil
	if err != nil {
		var ce *CompileError
		if src.MayPanic && errors.As(err, &ce) {
			fmt.Fprintf(&g.body, "\n// In[%d] does not compile, as expected: %s\n", src.Cell, ce.Diagnostics[0].Msg)
			return nil
		}
		return err
	}
	u.Commit(func(string) bool { return true })
	if e := g.s.names["_"+strconv.Itoa(src.Cell)]; e != nil {
		if v := g.vars[e.name]; v != nil {
			g.ofVar[e.obj], g.names[e.obj] = v, v.name
		}
	}
	return nil
}

// program puts the parts together.
func (g *GoProgram) program(head string) ([]byte, error) {
	var b bytes.Buffer
	for line := range strings.Lines(head) {
		b.WriteString("// " + strings.TrimRight(line, "\n") + "\n")
	}
	b.WriteString("package main\n\n")
	paths := make([]string, 0, len(g.imports))
	for p := range g.imports {
		paths = append(paths, p)
	}
	sort.Slice(paths, func(i, j int) bool {
		if a, b := strings.Contains(paths[i], "."), strings.Contains(paths[j], "."); a != b {
			return b
		}
		return paths[i] < paths[j]
	})
	if len(paths) > 0 {
		b.WriteString("import (\n")
		std := true
		for _, p := range paths {
			if std && strings.Contains(p, ".") {
				std = false
				b.WriteString("\n")
			}
			name := ""
			if pkg, err := g.s.cfg.Importer.Import(p); err != nil || pkg.Name() != g.imports[p] {
				name = g.imports[p] + " "
			}
			fmt.Fprintf(&b, "\t%s%q\n", name, p)
		}
		b.WriteString(")\n\n")
	}
	if g.globals.Len() > 0 {
		b.WriteString("// Variables that functions use, and those that nobody reads.\nvar (\n" + g.globals.String() + ")\n\n")
	}
	b.WriteString(g.decls.String())
	b.WriteString("func main() {\n" + g.body.String() + "}\n")
	out, err := format.Source(b.Bytes())
	if err != nil {
		return nil, &InternalError{"export", fmt.Errorf("%w\n%s", err, b.Bytes())}
	}
	return out, nil
}

// write adds what a checked cell says.
func (g *GoProgram) write(c *compiler, src GoCell) {
	g.c = c
	g.note(src.MayPanic)
	undo := g.declare()
	defer undo()
	mark := g.body.Len()
	title := strings.TrimSpace(fmt.Sprintf("// In[%d] %s", src.Cell, src.Title)) + "\n"
	if src.Comment != "" {
		title = ""
	}
	var stmts strings.Builder
	for _, d := range c.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d != c.body {
				g.function(d, &stmts)
			}
		case *ast.GenDecl:
			if d.Tok == token.TYPE || d.Tok == token.CONST {
				g.decls.WriteString(g.text(d) + "\n\n")
			}
		}
	}
	g.statements(&stmts)
	if c.isMain {
		for _, name := range []string{"init", "main"} {
			if o := c.pkg.Scope().Lookup(c.hoisted[name]); o != nil && c.hoisted[name] != "" {
				stmts.WriteString(g.names[o] + "()\n")
			}
		}
	}
	text := stmts.String()
	if strings.TrimSpace(text) == "" {
		return
	}
	if mark > 0 && title != "" {
		g.body.WriteString("\n")
	}
	g.body.WriteString(title)
	switch {
	case src.MayPanic:
		fmt.Fprintf(&g.body, "func() {\ndefer func() { _ = recover() }() // the cell is expected to fail\n%s}()\n", text)
	case g.wrapped:
		fmt.Fprintf(&g.body, "func() {\n%s}()\n", text)
	default:
		g.body.WriteString(text)
	}
}

// note collects the facts about the cell.
func (g *GoProgram) note(wrapped bool) {
	c := g.c
	g.wrapped = wrapped
	ast.Inspect(c.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			g.facts.idents[plain(id.Name)] = true
		}
		return true
	})
	for _, t := range c.tops {
		ast.Inspect(t.stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt, *ast.DeferStmt, *ast.LabeledStmt:
				g.wrapped = true
			case *ast.BranchStmt:
				g.wrapped = g.wrapped || n.Tok == token.GOTO
			}
			return true
		})
	}
	for _, m := range c.foreign {
		if m.redo {
			g.facts.redone[g.version(m.entry.internal+"."+m.name.Name)] = true
		}
	}
}

// unique makes a name of the program from a user's name.
func (g *GoProgram) unique(name string) string {
	for n := 1; ; n++ {
		try := name
		if n > 1 || token.IsKeyword(name) || types.Universe.Lookup(name) != nil {
			try = name + strconv.Itoa(max(n, 2))
		}
		if g.taken[try] || try != name && g.known != nil && g.known.idents[try] {
			continue
		}
		g.taken[try] = true
		return try
	}
}

// declare gives the cell's declarations their names, and writes all names of the
// program into its syntax. The function that it gives back restores them.
func (g *GoProgram) declare() (undo func()) {
	c := g.c
	inner := make([]string, 0, len(c.declared))
	for in := range c.declared {
		inner = append(inner, in)
	}
	sort.Slice(inner, func(i, j int) bool { return g.posOf(inner[i]) < g.posOf(inner[j]) })
	for _, in := range inner {
		o := c.pkg.Scope().Lookup(in)
		if o == nil {
			continue
		}
		user := c.declared[in]
		switch o := o.(type) {
		case *types.Var:
			g.variable(o, in, user)
		default:
			if g.names[o] == "" {
				g.names[o] = g.unique(user)
			}
			if _, ok := o.(*types.TypeName); ok {
				g.byInner[in] = g.names[o]
			}
		}
	}
	if e := g.outName(); e != "" && c.last != nil {
		if t := c.info.Types[c.last].Type; t != nil {
			v := &goVar{key: e, name: g.unique(strings.Replace(e, "_", "out", 1)), typ: types.Default(t)}
			g.vars[e] = v
		}
	}
	for _, d := range c.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil {
			if id := baseName(d.Recv); id != nil {
				g.nameMethod(id.Name+"."+d.Name.Name, c.info.Defs[d.Name])
			}
		}
	}
	unread := g.unused()
	type change struct {
		id   *ast.Ident
		name string
	}
	var changes []change
	set := func(id *ast.Ident, name string) {
		if id.Name != name {
			changes = append(changes, change{id, id.Name})
			id.Name = name
		}
	}
	ast.Inspect(c.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Name == tensorPackage {
				set(id, g.importName(c.s.cfg.Tensor.Path))
			}
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := c.info.ObjectOf(id)
		if name := g.embeddedName(o); name != "" {
			set(id, name)
			return true
		}
		if p, ok := o.(*types.PkgName); ok {
			set(id, g.importName(p.Imported().Path()))
		} else if name := g.names[o]; o != nil && name != "" {
			set(id, name)
		} else if strings.Contains(id.Name, "ʹ") {
			set(id, "t"+strings.ReplaceAll(id.Name, "ʹ", "_"))
		}
		return true
	})
	g.uses()
	for _, id := range unread {
		set(id, "_")
	}
	return func() {
		for i := len(changes) - 1; i >= 0; i-- {
			changes[i].id.Name = changes[i].name
		}
	}
}

// embeddedName gives the program's name of an embedded field, and of the type
// there, which are one.
func (g *GoProgram) embeddedName(o types.Object) string {
	t := types.Type(nil)
	switch o := o.(type) {
	case *types.Var:
		if !o.Embedded() {
			return ""
		}
		t = o.Type()
	case *types.TypeName:
		if !o.IsAlias() {
			return ""
		}
		t = o.Type()
	default:
		return ""
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Name() != o.Name() && plain(n.Obj().Name()) == o.Name() {
		return g.names[n.Obj()]
	}
	return ""
}

func (g *GoProgram) posOf(in string) token.Pos {
	if o := g.c.pkg.Scope().Lookup(in); o != nil {
		return o.Pos()
	}
	return token.NoPos
}

// variable finds the variable that a declaration means: the one of before when
// the type is the same.
func (g *GoProgram) variable(o *types.Var, in, user string) {
	v := g.vars[user]
	if v == nil || !types.Identical(v.typ, o.Type()) {
		v = &goVar{key: fmt.Sprintf("%d/%s", g.c.src.Cell, in), name: g.unique(user), typ: o.Type()}
		if k := g.known; k != nil {
			v.local = k.read[v.key] && !k.inFuncs[v.key] && !g.wrapped
		}
		g.vars[user] = v
	}
	g.ofVar[o], g.names[o] = v, v.name
}

// importName gives the name under which the program imports a package.
func (g *GoProgram) importName(path string) string {
	if name := g.imports[path]; name != "" {
		return name
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	if p, err := g.s.cfg.Importer.Import(path); err == nil {
		name = p.Name()
	}
	for g.taken[name] || g.topName(name) {
		name = "go" + name
	}
	g.taken[name] = true
	g.imports[path] = name
	return name
}

// topName tells whether a cell declares the name.
func (g *GoProgram) topName(name string) bool { return g.known != nil && g.known.idents[topMark+name] }

// outName gives the name of the cell's value, if another cell uses it.
func (g *GoProgram) outName() string {
	name := "_" + strconv.Itoa(g.c.src.Cell)
	if g.known != nil && (g.known.read[name] || g.known.inFuncs[name]) {
		return name
	}
	return ""
}

// uses notes how the cell uses variables of the session.
func (g *GoProgram) uses() {
	for _, name := range g.c.declared {
		g.facts.idents[topMark+name] = true
	}
	for _, d := range g.c.file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd != g.c.body {
			g.mentions(fd, nil, g.facts.inFuncs)
		}
	}
	for _, t := range g.c.tops {
		var n ast.Node = t.stmt
		if t.decl != nil {
			n = t.decl
		}
		written := map[*ast.Ident]bool{}
		ast.Inspect(n, func(n ast.Node) bool {
			if as, ok := n.(*ast.AssignStmt); ok && as.Tok == token.ASSIGN {
				for _, l := range as.Lhs {
					if id, ok := l.(*ast.Ident); ok {
						written[id] = true
					}
				}
			}
			return true
		})
		g.mentions(n, written, g.facts.read)
	}
}

// topMark stands before the names that cells declare at their top, among all names.
const topMark = "="

// mentions notes the variables of the session in n, those written apart.
func (g *GoProgram) mentions(n ast.Node, written map[*ast.Ident]bool, into map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || written[id] {
			return true
		}
		o := g.c.info.Uses[id]
		if v := g.ofVar[o]; v != nil {
			into[v.key] = true
		} else if o != nil {
			for name, e := range g.s.names {
				if e.obj == o && strings.HasPrefix(name, "_") {
					into[name] = true
				}
			}
		}
		return true
	})
}
