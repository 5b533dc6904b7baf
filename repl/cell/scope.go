package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"sort"
	"sync"
	"sync/atomic"
)

// Config says what surrounds the cells.
type Config struct {
	Fset     *token.FileSet
	Importer types.Importer
	Packages map[string]string // names in scope without an import, to their paths
	Imports  map[string]string // names of the packages that an import brings, to their paths
	Tensor   TensorType

	// Meant gives what stands here for a name that is unknown in a package or a
	// method of a tensor, or unknown alone; "" when nothing does. It may be nil.
	Meant func(name string, alone bool) string
}

// TensorType names the type that the sugar is for. The zero value turns the
// sugar off.
type TensorType struct {
	Path string // github.com/tpush/tpush/runtime/tpu
	Name string // Tensor
}

// A Scope is what a session has declared. It is not safe for concurrent use.
type Scope struct {
	cfg      Config
	names    map[string]*entry // the user's name to what it means now
	versions map[string]int
	counted  []string // whose versions the cell that is compiled counted up
	imports  map[string]string
	methods  map[string]*entry // P.Inc

	checked  func(*compiler) // told of a cell that type-checks
	siteMu   sync.RWMutex
	sites    atomic.Pointer[[]*Site] // replaced under siteMu
	hooks    map[int][]*Site         // those of statements, by cell
	holding  map[types.Type]bool     // what holdsTensor found
	internal map[types.Object]string // internal names of declared objects
}

// An entry is one declared name.
type entry struct {
	name     string
	internal string // name in the compiled code
	obj      types.Object
	cell     int
	piece    *piece          // source of a function, method, type or constant
	uses     map[string]bool // names of the session that it refers to
	literal  string          // type: its text, for the comparison
	info     *types.Info     // of the unit that a function or method was compiled in
}

// NewScope starts a session in which nothing is declared.
func NewScope(cfg Config) *Scope {
	s := &Scope{cfg: cfg, names: map[string]*entry{}, versions: map[string]int{}, imports: map[string]string{},
		methods: map[string]*entry{}, holding: map[types.Type]bool{}, internal: map[types.Object]string{}}
	s.sites.Store(&[]*Site{{}})
	return s
}

// Site gives the place of a program counter, the zero Site if there is none. It
// may be called while another goroutine compiles a cell.
func (s *Scope) Site(id int) Site {
	return *s.At(id)
}

// At is Site without the copy. Nobody writes to it.
func (s *Scope) At(id int) *Site {
	sites := *s.sites.Load()
	if id &= BeginBit - 1; id > 0 && id < len(sites) {
		return sites[id]
	}
	return sites[0]
}

func (s *Scope) addSite(site Site) int {
	s.siteMu.Lock()
	defer s.siteMu.Unlock()
	sites := *s.sites.Load()
	site.ID = len(sites)
	sites = append(sites, &site)
	s.sites.Store(&sites)
	if site.Kind == Statement {
		if s.hooks == nil {
			s.hooks = map[int][]*Site{}
		}
		s.hooks[site.Cell] = append(s.hooks[site.Cell], &site)
	}
	return site.ID
}

// Names are what the names of a scope mean at some time.
type Names struct {
	names, methods map[string]*entry
	imports        map[string]string
}

// Names gives what names mean now.
func (s *Scope) Names() Names {
	return Names{maps.Clone(s.names), maps.Clone(s.methods), maps.Clone(s.imports)}
}

// SetNames gives names an earlier meaning.
func (s *Scope) SetNames(n Names) {
	s.names, s.methods, s.imports = maps.Clone(n.names), maps.Clone(n.methods), maps.Clone(n.imports)
}

// Statements visits the sites of the statements of all cells.
func (s *Scope) Statements(visit func(*Site)) {
	s.siteMu.RLock()
	defer s.siteMu.RUnlock()
	for _, list := range s.hooks {
		for _, x := range list {
			visit(x)
		}
	}
}

// StopLine gives the line of the statement that a breakpoint on a line of a cell
// stops at: one that begins there, inside or behind the statement that goes on
// there; else that statement; else the next one. It is 0 when there is none.
func (s *Scope) StopLine(cell, line int) int {
	s.siteMu.RLock()
	defer s.siteMu.RUnlock()
	next, around, last := 0, 0, 0
	for _, x := range s.hooks[cell] {
		if x.Line >= line && (next == 0 || x.Line < next) {
			next = x.Line
		}
		if x.Line < line && line <= x.Last && x.Line > around {
			around, last = x.Line, x.Last
		}
	}
	if around > 0 && (next == 0 || next > last) {
		return around
	}
	return next
}

// VarName gives the internal name of a variable of the session, "" if there is none.
func (s *Scope) VarName(name string) string {
	e := s.names[name]
	if e == nil {
		return ""
	}
	if _, ok := e.obj.(*types.Var); !ok {
		return ""
	}
	return e.internal
}

// fresh gives an internal name that no cell has used for name.
func (s *Scope) fresh(name string) string {
	count := func() int {
		s.versions[name]++
		s.counted = append(s.counted, name)
		return s.versions[name]
	}
	v := count()
	_, pkg := s.cfg.Packages[name]
	if v == 1 && (pkg || name == "main" || name == "init" || types.Universe.Lookup(name) != nil || s.imports[name] != "") {
		v = count()
	}
	if v == 1 {
		return name
	}
	return fmt.Sprintf("%sʹ%d", name, v)
}

// importPath gives the path of a package name in scope, "" if there is none.
func (s *Scope) importPath(name string) string {
	if p, ok := s.imports[name]; ok {
		return p
	}
	return s.cfg.Packages[name]
}

// A Variable is a session variable.
type Variable struct {
	Name     string
	Internal string
	Type     string
	Cell     int
}

// Variables lists the session's variables by name.
func (s *Scope) Variables() []Variable {
	var out []Variable
	for name, e := range s.names {
		if v, ok := e.obj.(*types.Var); ok {
			out = append(out, Variable{name, e.internal, s.TypeString(v.Type()), e.cell})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// EachVariable visits the variables in no order, and where the machine keeps each.
func (s *Scope) EachVariable(visit func(name, internal string)) {
	for name, e := range s.names {
		if _, ok := e.obj.(*types.Var); ok {
			visit(name, e.internal)
		}
	}
}

// TypeString gives a type as a user writes it.
func (s *Scope) TypeString(t types.Type) string {
	return plain(types.TypeString(t, func(p *types.Package) string {
		if p.Path() == mainPath {
			return ""
		}
		return p.Name()
	}))
}

const mainPath = "main"

// HoldsTensor tells whether a value of type t can reach a tensor. It may be
// called while a cell is compiled.
func (s *Scope) HoldsTensor(t types.Type) bool { return s.holdsTensor(t) }

// holdsTensor tells whether a value of type t can reach a tensor: what the
// liveness walk must see.
func (s *Scope) holdsTensor(t types.Type) bool {
	if s.cfg.Tensor.Path == "" {
		return false
	}
	if t == nil {
		return false
	}
	if h, ok := s.holding[t]; ok {
		return h
	}
	h := s.holds(t, map[types.Type]bool{})
	s.holding[t] = h
	return h
}

func (s *Scope) holds(t types.Type, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if s.isTensorName(t) {
			return true
		}
		if p := t.Obj().Pkg(); p != nil && p.Path() != mainPath && !s.mayHold(p) {
			return false
		}
		return s.holds(t.Underlying(), seen)
	case *types.Pointer:
		return s.holds(t.Elem(), seen)
	case *types.Slice:
		return s.holds(t.Elem(), seen)
	case *types.Array:
		return s.holds(t.Elem(), seen)
	case *types.Map:
		return s.holds(t.Key(), seen) || s.holds(t.Elem(), seen)
	case *types.Chan:
		return s.holds(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if s.holds(f.Type(), seen) {
				return true
			}
		}
	case *types.Interface:
		return !types.Identical(t, types.Universe.Lookup("error").Type().Underlying())
	}
	return false
}

// mayHold tells whether types of a package can reach tensors: those of the
// tensor's own module can.
func (s *Scope) mayHold(p *types.Package) bool {
	return module(p.Path()) == module(s.cfg.Tensor.Path)
}

// module gives the first three elements of an import path.
func module(path string) string {
	n := 0
	for i := range path {
		if path[i] == '/' {
			if n++; n == 3 {
				return path[:i]
			}
		}
	}
	return path
}

func (s *Scope) isTensorName(n *types.Named) bool {
	o := n.Obj()
	return o.Name() == s.cfg.Tensor.Name && o.Pkg() != nil && o.Pkg().Path() == s.cfg.Tensor.Path
}

// isTensor tells whether t is a pointer to the tensor type.
func (s *Scope) isTensor(t types.Type) bool {
	if t == nil {
		return false
	}
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && s.isTensorName(n)
}

// unlabelled gives the statement under labels.
func unlabelled(st ast.Stmt) ast.Stmt {
	for {
		l, ok := st.(*ast.LabeledStmt)
		if !ok {
			return st
		}
		st = l.Stmt
	}
}
