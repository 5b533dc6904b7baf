package interp

import (
	"fmt"
	"go/token"
	"go/types"
	html "html/template"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unsafe"
)

// Packages text/template and html/template look for methods with package reflect,
// which does not see those of cells' types. A template that gets such a value is executed as a
// copy in which .Name is a call of a function that sees them, and in which what
// is printed goes through the printer of cells.

// Names of the functions in the copies; no user types them.
const (
	fieldFunc = "ʹfield"
	printFunc = "ʹprint"
)

// An executor is a template of either package.
type executor interface {
	Execute(w io.Writer, data any) error
	ExecuteTemplate(w io.Writer, name string, data any) error
}

// executeNamed executes t, or the template of its set called name.
func executeNamed(t executor, w io.Writer, name string, data any) error {
	if name != "" {
		return t.ExecuteTemplate(w, name, data)
	}
	return t.Execute(w, data)
}

// executeText executes a template of package text/template, the one called name
// when that is not "".
func (m *machine) executeText(t *template.Template, w io.Writer, name string, data any) error {
	run := func(t executor) error { return executeNamed(t, w, name, data) }
	if !m.wantsCells(data) {
		return run(t)
	}
	c, err := t.Clone()
	if err != nil {
		return run(t)
	}
	c.Funcs(m.templateFuncs())
	for _, x := range c.Templates() {
		if x.Tree != nil && x.Tree.Root != nil {
			x.Tree = x.Tree.Copy()
			rewriteTemplate(x.Tree.Root)
			if _, err := c.AddParseTree(x.Name(), x.Tree); err != nil {
				return err
			}
		}
	}
	return templateFailure(run(c))
}

// executeHTML is executeText for package html/template: the copies are escaped,
// the template itself never is.
func (m *machine) executeHTML(t *html.Template, w io.Writer, name string, data any) error {
	run := func(t executor) error { return executeNamed(t, w, name, data) }
	if !m.wantsCells(data) {
		return run(t)
	}
	c, err := t.Clone()
	if err != nil {
		return run(t)
	}
	c.Funcs(html.FuncMap(m.templateFuncs()))
	for _, x := range c.Templates() {
		if x.Tree != nil && x.Tree.Root != nil {
			rewriteTemplate(x.Tree.Root)
		}
	}
	return templateFailure(run(c))
}

func (m *machine) templateFuncs() template.FuncMap {
	list := template.FuncMap{fieldFunc: m.templateField, printFunc: m.templatePrint}
	for name, of := range map[string]string{"print": "Sprint", "printf": "Sprintf", "println": "Sprintln"} {
		list[name] = m.in.symbol("fmt", of).Interface()
	}
	return list
}

func (m *machine) wantsCells(data any) bool {
	return data != nil && m.holdsCells(reflect.TypeOf(data), 0)
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

func templateFailure(err error) error {
	if err == nil {
		return nil
	}
	return templateError{err}
}

// Error names fields as the template does.
func (e templateError) Error() string {
	text := strings.ReplaceAll(e.err.Error(), "error calling "+fieldFunc+": ", "")
	for {
		i := strings.LastIndex(text, fieldFunc+` "`)
		if i < 0 {
			return text
		}
		rest := text[i+len(fieldFunc)+1:]
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return text
		}
		name, _ := strconv.Unquote(quoted)
		end := strings.IndexByte(rest[len(quoted):], '>')
		if i > 0 && text[i-1] == '(' { // an argument: no parentheses are left in it
			i--
			end = strings.IndexByte(rest[len(quoted):], ')') + 1
		}
		text = text[:i] + name + rest[len(quoted)+max(end, 0):]
	}
}

// Unwrap gives the template's own error.
func (e templateError) Unwrap() error { return e.err }

// templateField is x.name with arguments; written is how the template says it.
func (m *machine) templateField(written string, x reflect.Value, name string, args ...reflect.Value) (reflect.Value, error) {
	none := reflect.Value{}
	for x.IsValid() && x.Kind() == reflect.Interface {
		x = x.Elem()
	}
	if !x.IsValid() {
		return none, fmt.Errorf("nil data; no entry for key %q", name)
	}
	if x.Type() == boxType {
		x = m.reflectValue(open(x).Interface())
	}
	if out, ok, err := m.templateMethod(x, name, args); ok {
		return out, err
	}
	typeName := m.reflectOf(x.Type()).String()
	v := x
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return none, fmt.Errorf("nil pointer evaluating %s.%s", typeName, name)
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		if len(args) > 0 {
			return none, fmt.Errorf("%s is not a method but has arguments", name)
		}
		e := v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		if !e.IsValid() && v.Type().Elem().Kind() != reflect.Interface {
			e = reflect.Zero(v.Type().Elem())
		}
		return e, nil
	case v.Kind() == reflect.Struct:
		f, ok := m.structField(v, name)
		if !ok {
			break
		}
		if !token.IsExported(name) {
			return none, fmt.Errorf("%s is an unexported field of struct type %s", name, typeName)
		}
		if len(args) > 0 {
			return none, fmt.Errorf("%s has arguments but cannot be invoked as function", name)
		}
		return f, nil
	}
	return none, fmt.Errorf("can't evaluate field %s in type %s", name, typeName)
}

// structField finds a field, also of an embedded struct.
func (m *machine) structField(v reflect.Value, name string) (reflect.Value, bool) {
	t := m.typeOfGo(v.Type())
	if t == nil {
		f := v.FieldByName(name)
		return f, f.IsValid()
	}
	path := m.fieldPath(t, name)
	if path == nil {
		return reflect.Value{}, false
	}
	return m.reflectField(v, path), true
}

// templateMethod calls a method of a value, of a cell's type or of Go's own.
func (m *machine) templateMethod(x reflect.Value, name string, args []reflect.Value) (reflect.Value, bool, error) {
	none := reflect.Value{}
	if x.CanAddr() && x.Kind() != reflect.Pointer {
		x = x.Addr()
	}
	f := m.reflectMethod(x, name)
	if !f.IsValid() {
		return none, false, nil
	}
	ft := f.Type()
	if want := ft.NumIn(); ft.IsVariadic() && len(args) < want-1 || !ft.IsVariadic() && len(args) != want {
		atLeast := ""
		if ft.IsVariadic() {
			want, atLeast = want-1, "at least "
		}
		return none, true, fmt.Errorf("wrong number of args for %s: want %s%d got %d", name, atLeast, want, len(args))
	}
	in := slices.Clone(args)
	for i, a := range in {
		want := ft.In(min(i, ft.NumIn()-1))
		if ft.IsVariadic() && i >= ft.NumIn()-1 {
			want = want.Elem()
		}
		for a.IsValid() && a.Kind() == reflect.Interface && want.Kind() != reflect.Interface {
			a = a.Elem()
		}
		switch {
		case !a.IsValid():
			a = reflect.Zero(want)
		case !a.Type().AssignableTo(want) && a.CanConvert(want) && (a.Kind() == want.Kind() || a.CanInt() && want.Kind() != reflect.String):
			a = a.Convert(want)
		case !a.Type().AssignableTo(want):
			return none, true, fmt.Errorf("wrong type for value; expected %s; got %s", m.reflectOf(want), m.reflectOf(a.Type()))
		}
		in[i] = a
	}
	out := f.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		err, _ := out[1].Interface().(error)
		return none, true, fmt.Errorf("error calling %s: %w", name, err)
	}
	if len(out) == 0 || len(out) > 2 {
		return none, true, fmt.Errorf("can't call method/function %q with %d results", name, len(out))
	}
	if r := out[0]; r.Kind() == reflect.Interface && !r.IsNil() && r.Elem().Type() == boxType {
		return m.reflectValue(r.Elem().Interface()), true, nil
	}
	return out[0], true, nil
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
			c.Pos = c.Args[0].Position()
			c.Args = append(chain.Cmds[0].Args, c.Args[1:]...) // arguments are those of the last name
		}
	}
}

// fieldNode writes .A.B as (ʹfield ".A.B" (ʹfield ".A.B" . "A") "B").
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
	text := func(s string) parse.Node {
		return &parse.StringNode{NodeType: parse.NodeString, Pos: p, Quoted: strconv.Quote(s), Text: s}
	}
	written := text(n.String())
	for _, name := range names {
		call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: p, Args: []parse.Node{
			parse.NewIdentifier(fieldFunc).SetPos(p), written, base, text(name),
		}}
		base = &parse.PipeNode{NodeType: parse.NodePipe, Pos: p, Cmds: []*parse.CommandNode{call}}
	}
	return base
}

// templateShim runs a method that executes a template, of either package; it is
// nil for others.
func (m *machine) templateShim(method string) shim {
	pkg, method, _ := strings.Cut(method, "/template.Template).")
	named := method == "ExecuteTemplate"
	if !named && method != "Execute" {
		return nil
	}
	errType := m.types.of(types.Universe.Lookup("error").Type())
	return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
		t := *(*unsafe.Pointer)(r)
		if t == nil {
			nilDeref()
		}
		w, _ := m.ifaceToGo(*(*any)(a[0]), reflect.TypeFor[io.Writer](), goPass).Interface().(io.Writer)
		name := ""
		if named {
			name = *(*string)(a[1])
		}
		data := m.ifaceToGo(*(*any)(a[len(a)-1]), reflect.TypeFor[any](), goInspect).Interface()
		var err error
		if pkg == "(*html" {
			err = m.executeHTML((*html.Template)(t), w, name, data)
		} else {
			err = m.executeText((*template.Template)(t), w, name, data)
		}
		p := errType.alloc()
		if err != nil {
			m.fromGo(errType, reflect.ValueOf(err), p)
		}
		return []unsafe.Pointer{p}
	}
}
