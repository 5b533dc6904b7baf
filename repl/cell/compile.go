package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A compiler makes one unit.
type compiler struct {
	s      *Scope
	src    *Source
	lines  []int
	asm    assembly
	file   *ast.File
	body   *ast.FuncDecl // the function of the cell's statements
	tops   []*topStmt
	diags  []Diagnostic
	warns  []Diagnostic
	quiet  bool
	isMain bool // a complete program was pasted

	imports     map[string]string // of the cell
	importSpecs []*ast.ImportSpec
	hoisted     map[string]string // functions, types, constants of the cell: name to internal
	env         map[string]string // names that the cell's statements declared so far
	declared    map[string]string // internal name to the user's, of everything declared here
	needed      map[string]bool   // names of the session that the cell uses
	packages    map[string]bool   // package names that the cell uses
	skip        map[string]bool   // dependants that do not type-check any more
	users       []*entry          // dependants compiled again
	reuse       map[string]*entry // types declared again with identical text

	pkg        *types.Package
	info       *types.Info
	foreign    []*foreignMethod
	last       ast.Expr // last expression, to be shown
	tmp        int
	rewritten  []wroteAs              // what the sugar made
	refused    map[*ast.Ident]bool    // what stands for conditions that are none
	compiled   map[*ast.CallExpr]bool // calls of tpu.Compile that have their type
	stored     map[string]string      // variables that keep an earlier one's storage
	order      []*types.Var           // variables in the order of their declarations
	sources    []declSource
	keeps      map[*types.Var]*types.Var // and the variable itself
	typeNames  map[string]types.Type     // names that the sugar gave types
	embedded   map[string]string         // names under which types are embedded that have another internally
	resultVars map[string]*entry         // _n and ans
	ahead      map[*ast.Ident]*ast.Ident // variables of a pasted program
	eval       *evaluation               // compiles an evaluation at a stop
	changed    []*types.Named            // types of earlier cells that the cell gave methods
	reverts    []func()                  // take these methods back
	touched    []*types.Named            // such types, as an attempt before found them
}

// A topStmt is one statement at the top of a cell.
type topStmt struct {
	stmt ast.Stmt
	decl *ast.GenDecl // := and var: the declaration that is type-checked
}

// Compile makes a unit of a cell. The error is a *CompileError, or an
// *InternalError when the fault is ours.
func (s *Scope) Compile(src Source) (u *Unit, err error) {
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(*InternalError); ok {
				u, err = nil, e
				return
			}
			u, err = nil, &InternalError{"compile", fmt.Errorf("%v", r)}
		}
	}()
	skip := map[string]bool{}
	var kept []Diagnostic
	var touched []*types.Named
	s.counted = nil
	for {
		for _, name := range s.counted { // of an attempt before
			s.versions[name]--
		}
		s.counted = nil
		c := &compiler{s: s, src: &src, lines: lineStarts(src.Text), skip: skip, touched: touched}
		u, again, err := c.compile()
		if err != nil || len(again) > 0 || c.oncemore() {
			c.revert()
		}
		switch {
		case err != nil:
			return nil, err
		case len(again) > 0:
			for name, why := range again {
				skip[name] = true
				kept = append(kept, Diagnostic{Cell: src.Cell, File: src.File, Line: 1, Column: 1, Kind: "kept", Msg: name + " keeps the old definition: " + why})
			}
		case c.oncemore():
			touched = c.changed
		default:
			sort.Slice(kept, func(i, j int) bool { return kept[i].Msg < kept[j].Msg })
			u.Warnings = append(u.Warnings, kept...)
			return u, nil
		}
	}
}

// compile makes the unit, or names the dependants that have to be left out.
func (c *compiler) compile() (u *Unit, again map[string]string, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.revert()
			panic(r)
		}
	}()
	chunks := c.chunks()
	if err := c.parse(chunks); err != nil {
		return nil, nil, err
	}
	c.resolve()
	if len(c.diags) > 0 {
		return nil, nil, c.failed()
	}
	again = c.checkAll()
	if len(again) > 0 {
		return nil, again, nil
	}
	if len(c.diags) > 0 {
		return nil, nil, c.failed()
	}
	if c.s.checked != nil && !c.oncemore() {
		c.s.checked(c)
	}
	u = c.unit()
	if len(c.diags) > 0 {
		return nil, nil, c.failed()
	}
	return u, nil, nil
}

// oncemore tells whether the cell changed methods of earlier types without their
// users: it is then compiled once more, together with these.
func (c *compiler) oncemore() bool {
	return c.eval == nil && c.touched == nil && len(c.changed) > 0
}

func (c *compiler) failed() error {
	sort.SliceStable(c.diags, func(i, j int) bool {
		a, b := c.diags[i], c.diags[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	var out []Diagnostic
	for i, d := range c.diags {
		if i == 0 || d != c.diags[i-1] {
			out = append(out, d)
		}
	}
	return &CompileError{out}
}

func (c *compiler) errorAt(p token.Pos, kind, format string, args ...any) {
	c.diags = append(c.diags, c.diagnostic(p, kind, fmt.Sprintf(format, args...)))
}

func (c *compiler) warnAt(p token.Pos, kind, format string, args ...any) {
	c.warns = append(c.warns, c.diagnostic(p, kind, fmt.Sprintf(format, args...)))
}

func (c *compiler) diagnostic(p token.Pos, kind, msg string) Diagnostic {
	src, line, col := c.locate(p)
	return Diagnostic{Cell: src.Cell, File: src.File, Line: line, Column: col, Kind: kind, Msg: plain(msg)}
}

// locate gives the user's place of a position in the assembled file.
func (c *compiler) locate(p token.Pos) (*Source, int, int) {
	off := 0
	if f := c.asm.file; f != nil && int(p) >= f.Base() && int(p) <= f.Base()+f.Size() {
		off = f.Offset(p)
	}
	src, line, col := c.asm.locate(off)
	if src == nil {
		src = c.src
	}
	return src, line, col
}

// chunks splits the cell and drops what only a file needs.
func (c *compiler) chunks() []*chunkPiece {
	text, m, matmul := rewriteTokens(c.src.Text)
	var out []*chunkPiece
	for _, k := range split(text) {
		c.quiet = k.quiet
		p := &chunkPiece{k, &piece{src: c.src, text: k.text, offset: k.offset, m: m, matmul: matmul, lines: c.lines}}
		if k.kind == token.PACKAGE {
			c.isMain = strings.Fields(k.text + " x")[1] == "main"
			line, col := p.piece.position(0)
			c.warns = append(c.warns, Diagnostic{Cell: c.src.Cell, File: c.src.File, Line: line, Column: col, Kind: "note", Msg: "the package clause is ignored in a cell"})
			continue
		}
		out = append(out, p)
	}
	return out
}

type chunkPiece struct {
	chunk chunk
	piece *piece
}

// parse assembles the file and parses it.
func (c *compiler) parse(chunks []*chunkPiece) error {
	if off, msg := unbalanced(c.src.Text); msg != "" {
		line, col := lineColumn(c.src.Text, off)
		c.diags = append(c.diags, Diagnostic{Cell: c.src.Cell, File: c.src.File, Line: line, Column: col, Kind: "syntax", Msg: msg})
		return c.failed()
	}
	c.users = c.dependants(chunks)
	a := &c.asm
	a.text.WriteString("package main\n")
	add := func(want func(token.Token) bool) {
		for _, k := range chunks {
			if want(k.chunk.kind) {
				a.add(k.piece)
			}
		}
	}
	add(func(t token.Token) bool { return t == token.IMPORT })
	add(func(t token.Token) bool { return t == token.FUNC || t == token.TYPE || t == token.CONST })
	for _, e := range c.users {
		a.add(e.piece)
	}
	a.text.WriteString("func " + c.entry() + "() {\n")
	add(func(t token.Token) bool { return t == token.ILLEGAL || t == token.VAR })
	a.text.WriteString("}\n")

	// A cell may run again under its number: the interpreter wants each file once.
	name := fmt.Sprintf("cell[%d]", c.s.versions["ʹcell"]+1)
	base := c.s.cfg.Fset.Base()
	file, err := parser.ParseFile(c.s.cfg.Fset, name, a.text.String(), parser.AllErrors)
	if file != nil {
		a.file = c.s.cfg.Fset.File(token.Pos(base))
	}
	if err != nil {
		return c.syntax(err)
	}
	c.file = file
	for _, d := range file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && fd.Name.Name == c.entry() {
			c.body = fd
		}
	}
	if c.body == nil || file.Decls[len(file.Decls)-1] != ast.Decl(c.body) {
		return c.syntax(scanner.ErrorList{{Pos: token.Position{Offset: a.text.Len()}, Msg: "unexpected }"}})
	}
	return nil
}

func (c *compiler) entry() string { return "ʹcell" + strconv.Itoa(c.s.versions["ʹcell"]+1) }

// foundOurs is what the parser says that it found where a cell ends.
var foundOurs = regexp.MustCompile(`found '[^']+'$`)

// syntax turns the parser's errors into diagnostics.
func (c *compiler) syntax(err error) error {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return &InternalError{"parse", err}
	}
	list.RemoveMultiples()
	// The parser finds a bracket that never closes only at the end of the cell,
	// in code of ours: the bracket itself is the place.
	if src, line, _ := c.asm.locate(list[0].Pos.Offset); src == nil || src == c.src && line > strings.Count(strings.TrimRight(c.src.Text, " \t\n"), "\n")+1 {
		if off, msg := unclosed(c.src.Text); msg != "" {
			line, col := lineColumn(c.src.Text, off)
			c.diags = append(c.diags, Diagnostic{Cell: c.src.Cell, File: c.src.File, Line: line, Column: col, Kind: "syntax", Msg: msg})
			return c.failed()
		}
	}
	seen := map[int]bool{}
	for _, e := range list {
		src, line, col := c.asm.locate(e.Pos.Offset)
		msg := strings.ReplaceAll(e.Msg, "&^", "@")
		if at := c.asm.find(e.Pos.Offset); at != nil && e.Pos.Offset > at.end { // a word of ours, behind the cell's own
			line, col = at.piece.last()
			msg = foundOurs.ReplaceAllString(msg, "found the end of the cell")
		}
		if src == nil || seen[line] {
			continue
		}
		seen[line] = true
		if len(c.diags) > 0 && strings.HasSuffix(c.diags[len(c.diags)-1].Msg, "not terminated") {
			break // the rest of the cell was taken for a part of it
		}
		if strings.Contains(msg, "'EOF'") {
			msg = strings.ReplaceAll(msg, "'EOF'", "the end of the cell")
		}
		c.diags = append(c.diags, Diagnostic{Cell: src.Cell, File: src.File, Line: line, Column: col, Kind: "syntax", Msg: plain(msg)})
	}
	if len(c.diags) == 0 {
		c.diags = append(c.diags, Diagnostic{Cell: c.src.Cell, File: c.src.File, Line: 1, Column: 1, Kind: "syntax", Msg: plain(list[0].Msg)})
	}
	return c.failed()
}
