package interp

import (
	"fmt"
	"go/types"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"text/template"
	"text/template/parse"
	"unsafe"
)

// Package text/template looks for methods with package reflect, which does not
// see those of cells' types. A template that gets such a value is executed as a
// copy in which .Name is a call of a function that sees them, and in which what
// is printed goes through the printer of cells.

// Names of the functions in the copies; no user types them.
const (
	fieldFunc = "ʹfield"
	printFunc = "ʹprint"
)

// executeTemplate is t.Execute, or ExecuteTemplate when a name is given.
func (m *machine) executeTemplate(t *template.Template, w io.Writer, name string, data any) error {
	run := func(t *template.Template) error {
		if name != "" {
			return t.ExecuteTemplate(w, name, data)
		}
		return t.Execute(w, data)
	}
	if data == nil || !m.holdsCells(reflect.TypeOf(data), 0) {
		return run(t)
	}
	c, err := t.Clone()
	if err != nil {
		return run(t)
	}
	c.Funcs(template.FuncMap{fieldFunc: m.templateField, printFunc: m.templatePrint})
	for _, x := range c.Templates() {
		if x.Tree != nil && x.Tree.Root != nil {
			x.Tree = x.Tree.Copy()
			rewriteTemplate(x.Tree.Root)
			if _, err := c.AddParseTree(x.Name(), x.Tree); err != nil {
				return err
			}
		}
	}
	if err := run(c); err != nil {
		return templateError{err}
	}
	return nil
}

// holdsCells tells whether a type is of a cell or can lead to one.
func (m *machine) holdsCells(t reflect.Type, depth int) bool {
	if t == nil || depth > 4 {
		return false
	}
	if m.in.registry.typOf(t) != nil {
		return true
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return m.holdsCells(t.Elem(), depth+1)
	case reflect.Struct:
		for f := range t.Fields() {
			if m.holdsCells(f.Type, depth+1) {
				return true
			}
		}
	}
	return false
}

// A templateError is one of a copy, in the words of the original.
type templateError struct{ err error }

var fieldCall = regexp.MustCompile(`<` + fieldFunc + ` [^>]*"([^">]*)">: error calling ` + fieldFunc + `: `)

// Error names the field as the template does.
func (e templateError) Error() string { return fieldCall.ReplaceAllString(e.err.Error(), "<.$1>: ") }

// Unwrap gives the template's own error.
func (e templateError) Unwrap() error { return e.err }

// templateField is x.name with arguments.
func (m *machine) templateField(x reflect.Value, name string, args ...reflect.Value) (any, error) {
	for x.IsValid() && x.Kind() == reflect.Interface {
		x = x.Elem()
	}
	if !x.IsValid() {
		return nil, fmt.Errorf("nil data; no entry for key %q", name)
	}
	if out, ok, err := m.templateMethod(x, name, args); ok {
		return out, err
	}
	typeName := m.in.registry.typeName(x.Type())
	v := x
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, fmt.Errorf("nil pointer evaluating %s.%s", typeName, name)
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		e := v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		if !e.IsValid() {
			return nil, nil
		}
		return e.Interface(), nil
	case v.Kind() == reflect.Struct:
		f, ok := m.structField(v, name)
		if !ok {
			break
		}
		if !f.CanInterface() {
			return nil, fmt.Errorf("%s is an unexported field of struct type %s", name, typeName)
		}
		if len(args) > 0 {
			return nil, fmt.Errorf("%s has arguments but cannot be invoked as function", name)
		}
		return f.Interface(), nil
	}
	return nil, fmt.Errorf("can't evaluate field %s in type %s", name, typeName)
}

// structField finds a field, also of an embedded struct.
func (m *machine) structField(v reflect.Value, name string) (reflect.Value, bool) {
	if f := v.FieldByName(name); f.IsValid() {
		return f, true
	}
	t := m.in.registry.typOf(v.Type())
	if t == nil {
		return reflect.Value{}, false
	}
	_, path, _ := types.LookupFieldOrMethod(t.t, true, m.pkg, name)
	for _, i := range path {
		for v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct || i >= v.NumField() {
			return reflect.Value{}, false
		}
		v = v.Field(i)
	}
	return v, len(path) > 0
}

// templateMethod calls a method of a value, of a cell's type or of Go's own.
func (m *machine) templateMethod(x reflect.Value, name string, args []reflect.Value) (any, bool, error) {
	if x.CanAddr() && x.Kind() != reflect.Pointer {
		x = x.Addr()
	}
	t := m.in.registry.typOf(x.Type())
	if t == nil {
		f := x.MethodByName(name)
		if !f.IsValid() {
			return nil, false, nil
		}
		return templateResults(f.Call(args))
	}
	sig := m.methodSig(t, name)
	if sig == nil || !m.hasMethod(t, name) {
		return nil, false, nil
	}
	params := sig.u.(*types.Signature).Params()
	if params.Len() != len(args) {
		return nil, true, fmt.Errorf("wrong number of args for %s: want %d got %d", name, params.Len(), len(args))
	}
	in := make([]any, len(args))
	for i, a := range args {
		pt := m.types.of(params.At(i).Type())
		if g := m.types.golang(pt); a.IsValid() && a.Type() != g && a.CanConvert(g) {
			a = a.Convert(g)
		}
		p := pt.alloc()
		m.fromGo(pt, a, p)
		in[i] = m.iface(pt, p)
	}
	out, _ := m.in.callAny(m.in.registry.boxed(x), name, in...)
	list := make([]reflect.Value, len(out))
	anyType := reflect.TypeFor[any]()
	for i, o := range out {
		list[i] = m.ifaceToGo(o, anyType, goInspect)
		if i == 1 && o != nil {
			return nil, true, m.in.asError(o)
		}
	}
	return templateResults(list)
}

// templateResults are those of a method: a value, and perhaps an error.
func templateResults(out []reflect.Value) (any, bool, error) {
	if len(out) == 0 {
		return nil, true, fmt.Errorf("the method has no result")
	}
	if len(out) == 2 && !out[1].IsNil() {
		err, _ := out[1].Interface().(error)
		return nil, true, err
	}
	if !out[0].IsValid() || out[0].Kind() == reflect.Interface && out[0].IsNil() {
		return nil, true, nil
	}
	return out[0].Interface(), true, nil
}

// templatePrint gives what is printed of a value.
func (m *machine) templatePrint(x reflect.Value) any {
	for x.IsValid() && x.Kind() == reflect.Interface {
		x = x.Elem()
	}
	if !x.IsValid() {
		return "<no value>"
	}
	pointer := x
	for x.Kind() == reflect.Pointer && !x.IsNil() {
		pointer, x = x, x.Elem()
	}
	if t, p := m.in.registry.typOf(x.Type()), m.in.registry.typOf(pointer.Type()); t != nil && p != nil && !m.hasMethod(t, "Error") && !m.hasMethod(t, "String") &&
		(m.hasMethod(p, "Error") || m.hasMethod(p, "String")) {
		x = pointer
	}
	return m.in.registry.operands([]any{m.in.registry.boxed(x)})[0]
}

// rewriteTemplate changes the nodes of a copy.
func rewriteTemplate(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, x := range n.Nodes {
				rewriteTemplate(x)
			}
		}
	case *parse.ActionNode:
		rewritePipe(n.Pipe)
		if len(n.Pipe.Decl) == 0 {
			id := parse.NewIdentifier(printFunc).SetPos(n.Pos)
			n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{id}})
		}
	case *parse.IfNode:
		rewriteBranch(&n.BranchNode)
	case *parse.RangeNode:
		rewriteBranch(&n.BranchNode)
	case *parse.WithNode:
		rewriteBranch(&n.BranchNode)
	case *parse.TemplateNode:
		rewritePipe(n.Pipe)
	}
}

func rewriteBranch(n *parse.BranchNode) {
	rewritePipe(n.Pipe)
	rewriteTemplate(n.List)
	rewriteTemplate(n.ElseList)
}

func rewritePipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		for i, a := range c.Args {
			if i > 0 {
				c.Args[i] = fieldNode(a)
			}
		}
		if chain, ok := fieldNode(c.Args[0]).(*parse.PipeNode); ok && chain != c.Args[0] {
			c.Args = append(chain.Cmds[0].Args, c.Args[1:]...) // arguments are those of the last name
		}
	}
}

// fieldNode writes .A.B as (ʹfield (ʹfield . "A") "B").
func fieldNode(n parse.Node) parse.Node {
	var base parse.Node
	var names []string
	switch n := n.(type) {
	case *parse.FieldNode:
		base, names = &parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos}, n.Ident
	case *parse.VariableNode:
		if len(n.Ident) < 2 {
			return n
		}
		base, names = &parse.VariableNode{NodeType: parse.NodeVariable, Pos: n.Pos, Ident: n.Ident[:1]}, n.Ident[1:]
	case *parse.ChainNode:
		base, names = fieldNode(n.Node), n.Field
	case *parse.PipeNode:
		rewritePipe(n)
		return n
	default:
		return n
	}
	p := n.Position()
	for _, name := range names {
		call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: p, Args: []parse.Node{
			parse.NewIdentifier(fieldFunc).SetPos(p), base, &parse.StringNode{NodeType: parse.NodeString, Pos: p, Quoted: strconv.Quote(name), Text: name},
		}}
		base = &parse.PipeNode{NodeType: parse.NodePipe, Pos: p, Cmds: []*parse.CommandNode{call}}
	}
	return base
}

// templateShim runs Execute and ExecuteTemplate.
func (m *machine) templateShim(named bool) shim {
	errType := m.types.of(types.Universe.Lookup("error").Type())
	return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
		t := (*template.Template)(*(*unsafe.Pointer)(r))
		if t == nil {
			nilDeref()
		}
		w, _ := m.ifaceToGo(*(*any)(a[0]), reflect.TypeFor[io.Writer](), goPass).Interface().(io.Writer)
		name := ""
		if named {
			name = *(*string)(a[1])
		}
		data := m.ifaceToGo(*(*any)(a[len(a)-1]), reflect.TypeFor[any](), goInspect).Interface()
		err := m.executeTemplate(t, w, name, data)
		p := errType.alloc()
		if err != nil {
			m.fromGo(errType, reflect.ValueOf(err), p)
		}
		return []unsafe.Pointer{p}
	}
}
