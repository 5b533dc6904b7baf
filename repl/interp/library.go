package interp

import (
	"embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// sources hold the generic functions of the standard library, which have no Go
// value that could be called: slices, maps and cmp as Go has them.
//
//go:embed library/*.go.txt
var sources embed.FS

// librarySources leads from a package's path to the file of its functions.
var librarySources = map[string]string{
	"slices": "slices", "maps": "maps", "cmp": "cmp", "sync": "sync", "errors": "errors", "iter": "iter", "math/rand/v2": "rand", "reflect": "reflect",
}

var oneConst = constant.MakeInt64(1)

func itoa(n int) string { return strconv.Itoa(n) }

// libraryScope type-checks the functions of a package and makes them known.
func (m *machine) libraryScope(path string) *types.Scope {
	name := librarySources[path]
	if name == "" {
		return nil
	}
	if s, ok := m.libs[path]; ok {
		return s
	}
	text, err := sources.ReadFile("library/" + name + ".go.txt")
	if err != nil {
		panic(&fault{0, err.Error()})
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		panic(&fault{0, err.Error()})
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}}
	var first error
	conf := types.Config{Importer: m.in.importer, Error: func(err error) {
		if first == nil && !strings.Contains(err.Error(), "missing function body") {
			first = err
		}
	}}
	pkg, _ := conf.Check(path, fset, []*ast.File{f}, info) // errors go to conf.Error
	if first != nil {
		panic(&fault{0, first.Error()})
	}
	m.use(info)
	m.libs[path] = pkg.Scope()
	var todo []*function
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		o := info.Defs[fd.Name].(*types.Func)
		sig := o.Signature()
		fn := &function{decl: fd, info: info, name: name + "." + fd.Name.Name, unit: m.noSites}
		fn.generic = sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0
		m.funcs[o] = fn
		if !fn.generic {
			fn.code = &code{}
			todo = append(todo, fn)
		}
	}
	for _, fn := range todo {
		m.compileFunc(fn, nil, fn.code)
	}
	return m.libs[path]
}

// library gives the code of a generic function of the standard library, nil if
// there is none.
func (m *machine) library(o *types.Func, targs []types.Type) *code {
	if o.Pkg() == nil || o.Signature().TypeParams().Len() == 0 {
		return nil
	}
	scope := m.libraryScope(o.Pkg().Path())
	if scope == nil {
		return nil
	}
	lib, ok := scope.Lookup(o.Name()).(*types.Func)
	if !ok {
		return nil
	}
	return m.codeOf(lib, targs)
}

// bodiless gives the functions of the library that are Go's own code here.
func (m *machine) bodiless(name string, c *code) func(*fr) []unsafe.Pointer {
	elem := func() uintptr { return m.types.of(c.params[0].u.(*types.Slice).Elem()).rt.Size() }
	switch name {
	case "slices.overlaps":
		size := elem()
		return func(f *fr) []unsafe.Pointer {
			a, b := (*slc)(f.p[0]), (*slc)(f.p[1])
			yes := a.len > 0 && b.len > 0 && size > 0 &&
				uintptr(a.p) < uintptr(b.p)+uintptr(b.len)*size && uintptr(b.p) < uintptr(a.p)+uintptr(a.len)*size
			return []unsafe.Pointer{unsafe.Pointer(&yes)}
		}
	case "slices.startIdx":
		size := elem()
		return func(f *fr) []unsafe.Pointer {
			a, b := (*slc)(f.p[0]), (*slc)(f.p[1])
			i := 0
			if size > 0 {
				i = int((uintptr(b.p) - uintptr(a.p)) / size)
			}
			return []unsafe.Pointer{unsafe.Pointer(&i)}
		}
	case "iter.pull":
		return func(f *fr) []unsafe.Pointer { return m.pull(f, *(**closure)(f.p[0])) }
	}
	panic(&fault{0, name + " has no body"})
}

// pull runs a sequence of interfaces on a coroutine.
func (m *machine) pull(f *fr, run *closure) []unsafe.Pointer {
	r := f.st.run
	var parent *pcNode
	if f.st.depth > 0 || f.st.parent != nil {
		parent = f.st.intern()
	}
	var snap *panicSnapshot // of a panic of the sequence
	next, stop := iter.Pull(func(yield func(any) bool) {
		st := m.in.stacks.attach(m.in, r, parent)
		defer m.in.stacks.detach(st)
		defer func() {
			if r := recover(); r != nil { // it goes on where the next value was asked for
				snap = st.snapshot(r)
				panic(r)
			}
		}()
		cl := &closure{turn: func(_ *fr, args []unsafe.Pointer) bool { return yield(*(*any)(args[0])) }}
		m.callClosure(&fr{st: st, f: rootFrame(st), code: &code{}}, run, []unsafe.Pointer{ptrTo(unsafe.Pointer(cl))})
	})
	n := &closure{method: func(g *fr, _ []unsafe.Pointer) []unsafe.Pointer {
		defer func() {
			if r := recover(); r != nil {
				g.st.snap = snap
				panic(r)
			}
		}()
		v, ok := next()
		return []unsafe.Pointer{unsafe.Pointer(&v), unsafe.Pointer(&ok)}
	}}
	s := &closure{method: func(*fr, []unsafe.Pointer) []unsafe.Pointer { stop(); return nil }}
	return []unsafe.Pointer{ptrTo(unsafe.Pointer(n)), ptrTo(unsafe.Pointer(s))}
}

// special plans calls of functions that need more than their arguments.
func (c *fc) special(n *ast.CallExpr, o *types.Func, targs []types.Type, mark func(*fr)) *callPlan {
	m := c.m
	switch o.FullName() {
	case "reflect.TypeFor":
		v := reflect.ValueOf(m.reflectType(m.types.of(targs[0])))
		rt := c.resultTypes(c.typeOf(n.Fun).Underlying().(*types.Signature))
		return &callPlan{rt, func(f *fr) []unsafe.Pointer {
			p := rt[0].alloc()
			m.fromGo(rt[0], v, p)
			return []unsafe.Pointer{p}
		}}
	}
	if o.FullName() == "unique.Make" {
		t := m.types.of(targs[0])
		val := c.mem(c.as(n.Args[0], t))
		return &callPlan{c.resultTypes(c.funcType(n.Fun)), func(f *fr) []unsafe.Pointer {
			p := val(f)
			q, _ := m.unique.LoadOrStore(m.iface(t, p), p)
			return []unsafe.Pointer{ptrTo(q.(unsafe.Pointer))}
		}}
	}
	return nil
}

// A shim runs a method of the standard library in a way of its own.
type shim func(f *fr, recv unsafe.Pointer, args []unsafe.Pointer) []unsafe.Pointer

// waits are the methods of package sync that can wait for ever: an interrupt
// ends the runtime's own forms of them.
var waits = map[string]func(f *Frame, recv unsafe.Pointer){
	"(*sync.WaitGroup).Wait": func(f *Frame, r unsafe.Pointer) { waitGroup(f, (*sync.WaitGroup)(r)) },
	"(*sync.Mutex).Lock":     func(f *Frame, r unsafe.Pointer) { mutexLock(f, (*sync.Mutex)(r)) },
	"(*sync.RWMutex).Lock":   func(f *Frame, r unsafe.Pointer) { rwLock(f, (*sync.RWMutex)(r)) },
	"(*sync.RWMutex).RLock":  func(f *Frame, r unsafe.Pointer) { rwRLock(f, (*sync.RWMutex)(r)) },
	"(*sync.Cond).Wait":      func(f *Frame, r unsafe.Pointer) { condWait(f, (*sync.Cond)(r)) },
}

// shim gives what runs a method of the standard library that needs more than
// a call: one that can wait, or one of a generic type. It is nil for others.
func (m *machine) shim(fn *types.Func, recv types.Type) shim {
	name := fn.FullName()
	if wait := waits[name]; wait != nil {
		return func(f *fr, r unsafe.Pointer, _ []unsafe.Pointer) []unsafe.Pointer {
			p := *(*unsafe.Pointer)(r)
			if p == nil {
				nilDeref()
			}
			wait(f.f, p)
			return nil
		}
	}
	if name == "(*sync.Once).Do" {
		return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
			do := *(**closure)(a[0])
			onceDo(f.f, (*sync.Once)(*(*unsafe.Pointer)(r)), func() { m.callClosure(f, do, nil) })
			return nil
		}
	}
	if strings.HasPrefix(name, "(*text/template.Template).") || strings.HasPrefix(name, "(*html/template.Template).") {
		return m.templateShim(name)
	}
	if name == "(*encoding/json.Decoder).Decode" {
		return m.decodeShim()
	}
	if strings.HasPrefix(name, "(unique.Handle[") {
		return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
			return []unsafe.Pointer{*(*unsafe.Pointer)(r)}
		}
	}
	if !strings.HasPrefix(name, "(*sync/atomic.Pointer[") {
		return nil
	}
	word := func(r unsafe.Pointer) *atomicPointer { return (*atomicPointer)(*(*unsafe.Pointer)(r)) }
	arg := func(a []unsafe.Pointer, i int) unsafe.Pointer { return *(*unsafe.Pointer)(a[i]) }
	switch fn.Name() {
	case "Load":
		return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
			return []unsafe.Pointer{ptrTo(word(r).load())}
		}
	case "Store":
		return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
			word(r).store(arg(a, 0))
			return nil
		}
	case "Swap":
		return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
			return []unsafe.Pointer{ptrTo(word(r).swap(arg(a, 0)))}
		}
	case "CompareAndSwap":
		return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
			ok := word(r).compareAndSwap(arg(a, 0), arg(a, 1))
			return []unsafe.Pointer{unsafe.Pointer(&ok)}
		}
	}
	panic(&fault{0, fmt.Sprintf("method %s", fn.FullName())})
}
