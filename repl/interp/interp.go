package interp

import (
	"context"
	_ "embed" // the export data
	"go/token"
	"io"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpush/tpush/repl/cell"
)

//go:embed export_std.bin.gz
var exportStd []byte

// Options configure an Interp. The zero value runs cells with no output.
type Options struct {
	Stdout, Stderr io.Writer
	Stdin          io.Reader
	Args           []string // os.Args of the cells
	MaxDepth       int      // frames before a DepthError; 0: 100,000
	Universe       *Universe

	// OnStatementEnd is called when a statement that defined or assigned a
	// variable that can hold a tensor has ended, with the depth of its frame.
	OnStatementEnd func(depth int)
	// OnDrop is called before it when the statement may have taken the last way
	// to a tensor away without an op, as x = nil does.
	OnDrop func()
	// OnLeave is called when a function with such variables returns.
	OnLeave func(depth int)
	// OnVariable is told where a variable of the session is, when its declaration runs.
	OnVariable func(name string, p any)
	// OnWritten is called when a function of package fmt has written its operands.
	OnWritten func()
	// OnGoroutinePanic is told of a panic in a goroutine that a cell started.
	OnGoroutinePanic func(*GoroutineError)
	// Bare leaves out what cells carry besides the program: places, hooks, polls
	// and what tells the runtime of tensors. Tests run programs in this form, too.
	Bare bool
	// Armed takes the hooks of a debugger at every statement, with nobody there:
	// what cells do must be the same. Tests run programs in this form, too.
	Armed bool
}

// defaultMaxDepth is the number of nested calls that a cell may make.
const defaultMaxDepth = 100_000

// stackBytes is what a goroutine's own stack may grow to: an interpreted frame
// takes about 1.2 KB of it.
const stackBytes = 1 << 30

// A Package is one package that cells can import.
type Package struct {
	Path    string
	Symbols func() map[string]reflect.Value
}

// A Universe is what cells have besides the standard library: the packages of
// the tensor runtime, and which of them is in scope without an import.
type Universe struct {
	Packages   []Package
	ExportData []byte            // of the packages, as generate.go writes it
	InScope    map[string]string // name to path
	Tensor     cell.TensorType
	Meant      func(name string, alone bool) string // as in cell.Config
}

// standardScope are the standard packages in scope without an import.
var standardScope = [...]string{"fmt", "math", "strings", "sort", "slices", "maps", "strconv", "errors", "time", "math/rand", "os", "bufio", "encoding/json"}

// An Interp runs the cells of one session. Run and Reset are for one goroutine
// at a time; what asks for types and variables may be called while a cell runs;
// Where, At and Roots are for the goroutines that cells run on.
type Interp struct {
	opt      Options
	importer *importer

	types    sync.Mutex               // scope, and the importer: not held while a cell runs
	mu       sync.Mutex               // vars
	vars     map[string]reflect.Value // pointers
	varTypes map[string]*typ
	order    []sessionVar // vars, oldest first
	scope    *cell.Scope
	machine  *machine
	symMu    sync.Mutex // loaded
	loaded   map[string]map[string]reflect.Value
	symbols  map[string]func() map[string]reflect.Value
	entry    func()
	run      *run
	began    time.Time
	undo     func() // takes back what the last cell declared
	unlink   func() // takes back what the unit that is run did to methods
	stacks   stacks
	world    world
	interned interner
	wakes    atomic.Int64 // waits of goroutines that ended
	pending  atomic.Int64 // goroutines that will begin
	registry *registry
	debugging
}

// New makes an interpreter with nothing declared.
func New(o Options) (*Interp, error) {
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = defaultMaxDepth
	}
	im, err := newStandardImporter()
	if err != nil {
		return nil, err
	}
	in := &Interp{opt: o, importer: im, symbols: generatedSymbols()}
	if u := o.Universe; u != nil {
		if err := im.add(u.ExportData); err != nil {
			return nil, err
		}
		for _, p := range u.Packages {
			in.symbols[p.Path] = p.Symbols
		}
	}
	debug.SetMaxStack(stackBytes)
	return in, in.Reset()
}

// Reset forgets every declaration.
func (in *Interp) Reset() error {
	in.loaded = map[string]map[string]reflect.Value{}
	in.mu.Lock()
	in.vars, in.varTypes, in.order = map[string]reflect.Value{}, map[string]*typ{}, nil
	in.mu.Unlock()
	in.interned.mu.Lock()
	in.interned.nodes = map[pcKey]*pcNode{}
	in.interned.mu.Unlock()
	cfg := cell.Config{Fset: token.NewFileSet(), Importer: in.importer, Packages: map[string]string{}, Imports: map[string]string{}}
	for _, path := range in.Packages() { // in order: math/rand before its second version
		if name := baseOf(path); cfg.Imports[name] == "" {
			cfg.Imports[name] = path
		}
	}
	for _, path := range standardScope {
		cfg.Packages[baseOf(path)] = path
	}
	if u := in.opt.Universe; u != nil {
		for name, path := range u.InScope {
			cfg.Packages[name] = path
		}
		cfg.Tensor, cfg.Meant = u.Tensor, u.Meant
	}
	in.registry = &registry{in}
	in.scope = cell.NewScope(cfg)
	in.machine = newMachine(in)
	in.rearm()
	return nil
}

func baseOf(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// Source is the text of one cell.
type Source = cell.Source

// A Shown is one value of a cell's last expression.
type Shown struct {
	Value any
	Type  string // as the user writes it
	Name  string // variable that holds it, "" if none
	exact any    // the value as interfaces of cells hold it
}

// A Result is what a cell gave.
type Result struct {
	Values   []Shown
	Warnings []cell.Diagnostic
}

// Run compiles and runs a cell. The error is a *cell.CompileError, *PanicError,
// *InterruptError, *TimeoutError, *DepthError, *DeadlockError, *ExitError or,
// when the fault is ours, a *cell.InternalError. After each of them the session
// goes on.
func (in *Interp) Run(ctx context.Context, src Source) (Result, error) {
	in.began = time.Now()
	u, err := in.prepare(src)
	if u == nil {
		return Result{}, err
	}
	res := Result{Warnings: u.Warnings}
	if err != nil || in.entry == nil {
		return res, err
	}
	r := newRun(src.Cell)
	in.run, in.unit = r, u
	in.rearm()
	err = in.start(ctx, r, in.entry)
	in.types.Lock()
	in.unit = nil
	in.commit(u, func(name string) bool { return r.reached[name] })
	in.types.Unlock()
	for i, v := range r.shown {
		s := in.shown(v)
		if i < len(u.Shown) {
			s.Type, s.Name = u.Shown[i].Type, u.Shown[i].Name
		}
		res.Values = append(res.Values, s)
	}
	return res, err
}

// shown makes a value that viewers can look at.
func (in *Interp) shown(v any) Shown { return Shown{Value: in.Plain(v), exact: v} }

// prepare compiles a cell: in.entry is then what runs it. The unit is nil when
// the text is no cell.
func (in *Interp) prepare(src Source) (*cell.Unit, error) {
	in.types.Lock()
	defer in.types.Unlock()
	u, err := in.scope.Compile(src)
	if err != nil {
		return nil, err
	}
	if in.entry, in.unlink, err = in.machine.link(u, true); err != nil {
		return u, &cell.InternalError{Stage: "interpret", Err: err}
	}
	if in.entry == nil {
		in.commit(u, func(string) bool { return false })
	}
	return u, nil
}

// commit makes what a unit declared part of the session.
func (in *Interp) commit(u *cell.Unit, reached func(string) bool) {
	names, methods := u.Commit(reached), in.unlink
	in.undo = func() {
		names()
		methods()
	}
}
