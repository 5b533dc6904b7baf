package dap

import (
	"fmt"
	"go/types"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/tpu"
)

// A node is something with children that the client may ask for.
type node struct {
	children func() []child // nil when there are elements only
	elements int            // children that are asked for by page
	element  func(i int) child
	frame    int  // that expressions of the children mean something in
	session  bool // its children are variables of the session
}

// A child is a variable as it is shown, and how to write it.
type child struct {
	name string
	text string
	typ  string
	expr string // Go for it in its frame, "" when there is none
	node *node  // its children, nil for none
	hint string // kind of presentation: "", "property", "virtual"
}

// maxPage is how many elements are given when a client asks for all.
const maxPage = 1000

// A viewer gives out references to nodes. They are valid until the program goes on.
type viewer struct {
	s     *repl.Session
	nodes []*node
	past  *inspect.Past
}

// firstRef is the first reference given out; those of frames and scopes are apart.
const firstRef = 1

// forget makes every reference invalid.
func (v *viewer) forget() {
	v.nodes = nil
	v.past = inspect.PastOf(v.s.Dispatcher())
}

func (v *viewer) ref(n *node) int {
	if n == nil {
		return 0
	}
	v.nodes = append(v.nodes, n)
	return firstRef + len(v.nodes) - 1
}

func (v *viewer) node(ref int) (*node, error) {
	if i := ref - firstRef; i >= 0 && i < len(v.nodes) {
		return v.nodes[i], nil
	}
	return nil, bad("there is no variable %d: the program has gone on since it was shown", ref)
}

// page gives children of a node: named ones, elements from start on.
func (v *viewer) page(n *node, filter string, start, count int) []child {
	var list []child
	if n.children != nil && filter != "indexed" {
		list = n.children()
	}
	if filter == "named" || n.element == nil {
		if filter == "named" || count <= 0 {
			return list
		}
		lo := min(max(start, 0), len(list))
		return list[lo:min(lo+count, len(list))]
	}
	if count <= 0 {
		count = maxPage
	}
	lo := min(max(start, 0), n.elements)
	for i := lo; i < n.elements && i-lo < count; i++ {
		list = append(list, n.element(i))
	}
	return list
}

// shown makes the protocol's form of a child.
func (v *viewer) shown(c child) dap.Variable {
	x := dap.Variable{Name: c.name, Value: c.text, Type: c.typ, EvaluateName: c.expr, VariablesReference: v.ref(c.node)}
	if c.node != nil {
		x.IndexedVariables = c.node.elements
	}
	if c.hint != "" {
		x.PresentationHint = &dap.VariablePresentationHint{Kind: c.hint}
	}
	return x
}

// shownElements is how many elements of a tensor its one line shows.
const shownElements = 16

// maxText bounds a value shown in one line.
const maxText = 200

// value makes the child of a variable or a part of one. expr is how to write it,
// "" for what has no name; typ is its type as it is written, "" to find out.
func (v *viewer) value(name, expr, typ string, st types.Type, x reflect.Value, frame int) child {
	in := v.s.Interp()
	c := child{name: name, expr: expr, typ: typ}
	if c.typ == "" && st != nil {
		c.typ = in.TypeText(st)
	}
	x = in.Pointer(st, x)
	for x.IsValid() && x.Kind() == reflect.Interface && !x.IsNil() {
		x, st = x.Elem(), nil
	}
	if x.IsValid() && x.CanInterface() && st == nil {
		if st, x = in.Exact(x.Interface()); st != nil {
			x = in.Pointer(st, x)
			if c.typ == "" {
				c.typ = in.TypeText(st)
			}
		}
	}
	if !x.IsValid() || x.Kind() == reflect.Interface || (x.Kind() == reflect.Pointer || x.Kind() == reflect.Func) && x.IsNil() {
		c.text = "nil"
		return c
	}
	if _, ok := under(st).(*types.Signature); ok || x.Kind() == reflect.Func {
		c.text = "func"
		return c
	}
	if c.typ == "" {
		c.typ = strings.TrimPrefix(in.TypeName(x.Type()), "main.")
	}
	if x.CanInterface() {
		if t, ok := x.Interface().(*tpu.Tensor); ok {
			v.tensor(&c, t)
			return c
		}
		c.text = cut(v.s.Brief(interp.Shown{Value: x.Interface(), Type: typ, Name: name}))
	} else {
		c.text = cut(fmt.Sprint(x))
	}
	c.node = v.inside(x, st, expr, frame)
	return c
}

// under gives the structure of a type, nil when it is not known.
func under(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// elem gives the type of the elements of a type, nil when it is not known.
func elem(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if e, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return e.Elem()
	}
	return nil
}

func cut(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return s
}

// inside makes the node of what a value holds, nil when it holds nothing.
func (v *viewer) inside(x reflect.Value, st types.Type, expr string, frame int) *node {
	part := func(format string, args ...any) string {
		if expr == "" {
			return ""
		}
		return expr + fmt.Sprintf(format, args...)
	}
	switch x.Kind() {
	case reflect.Pointer:
		if x.IsNil() {
			return nil
		}
		if x.Elem().Kind() == reflect.Struct {
			return v.inside(x.Elem(), elem(st), expr, frame)
		}
		target := ""
		if expr != "" {
			target = "*" + expr
		}
		return &node{frame: frame, children: func() []child { return []child{v.value("*", target, "", elem(st), x.Elem(), frame)} }}
	case reflect.Struct:
		names := v.s.Interp().FieldNames(x.Type())
		if len(names) == 0 {
			return nil
		}
		return &node{frame: frame, children: func() []child {
			var list []child
			fields, _ := under(st).(*types.Struct)
			for i, name := range names {
				var t types.Type
				if fields != nil && i < fields.NumFields() {
					t = fields.Field(i).Type()
				}
				list = append(list, v.value(name, part(".%s", name), "", t, x.Field(i), frame))
			}
			return list
		}}
	case reflect.Slice, reflect.Array:
		if x.Len() == 0 {
			return nil
		}
		return &node{frame: frame, elements: x.Len(), element: func(i int) child {
			return v.value("["+strconv.Itoa(i)+"]", part("[%d]", i), "", elem(st), x.Index(i), frame)
		}}
	case reflect.Map:
		if x.Len() == 0 {
			return nil
		}
		return &node{frame: frame, children: func() []child { return v.entries(x, elem(st), part, frame) }}
	}
	return nil
}

// entries lists a map in the order of its keys.
func (v *viewer) entries(x reflect.Value, st types.Type, part func(string, ...any) string, frame int) []child {
	type entry struct {
		text string
		key  reflect.Value
	}
	var list []entry
	for _, k := range x.MapKeys() {
		text := fmt.Sprint(k)
		if k.CanInterface() {
			text = v.s.Brief(interp.Shown{Value: k.Interface()})
		}
		list = append(list, entry{text, k})
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i].key, list[j].key
		switch {
		case a.CanInt() && b.CanInt():
			return a.Int() < b.Int()
		case a.CanUint() && b.CanUint():
			return a.Uint() < b.Uint()
		case a.CanFloat() && b.CanFloat():
			return a.Float() < b.Float()
		}
		return list[i].text < list[j].text
	})
	out := make([]child, len(list))
	for i, e := range list {
		expr := ""
		switch e.key.Kind() {
		case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			key := fmt.Sprint(e.key)
			if e.key.Kind() == reflect.String {
				key = strconv.Quote(e.key.String())
			}
			expr = part("[%s]", key)
		}
		out[i] = v.value("["+cut(e.text)+"]", expr, "", st, x.MapIndex(e.key), frame)
	}
	return out
}

// property is a child that says something of its parent.
func property(name, text string) child { return child{name: name, text: text, hint: "virtual"} }

// tensor fills in a tensor: what it is, its statistics, its numbers by page.
func (v *viewer) tensor(c *child, t *tpu.Tensor) {
	if t == nil {
		c.text = "nil"
		return
	}
	c.text = t.Summary()
	a, source, err := v.past.Value(exec.RefOf(t.Value()))
	if err == nil {
		a.View = t.StorageView()
		if a.Size() <= shownElements {
			c.text += "  " + cut(tpu.FormatArray(a))
			if source == inspect.Recomputed {
				c.text += " (recomputed)"
			}
		}
	}
	c.node = &node{children: func() []child {
		list := []child{
			property("shape", fmt.Sprint(t.Dims())), property("dtype", t.DType().String()), property("layout", t.Layout().String()),
			property("bytes", fmt.Sprintf("%s of numbers, %s in HBM", device.FormatBytes(t.Bytes()), device.FormatBytes(t.PaddedBytes()))),
			property("state", t.State().String()),
		}
		if st := t.Origin(); st != nil {
			list = append(list, property("made at", st.Top().Place()+" by "+t.Value().What()))
		}
		if g := t.Grad(); g != nil {
			list = append(list, v.value("grad", "", "", nil, reflect.ValueOf(g), 0))
		}
		if err != nil {
			return append(list, property("values", err.Error()))
		}
		return append(list, v.stats(a, source), v.array("values", a))
	}}
}

// stats is the child with the statistics of an array.
func (v *viewer) stats(a kernel.Array, source inspect.Source) child {
	s := inspect.StatsOf(a)
	c := property("stats", s.String())
	if source == inspect.Recomputed {
		c.text += "  (recomputed)"
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	c.node = &node{children: func() []child {
		return []child{
			property("min", number(s.Min)), property("max", number(s.Max)), property("mean", number(s.Mean)),
			property("nan", strconv.Itoa(s.NaN)), property("inf", strconv.Itoa(s.Inf)), property("elements", strconv.Itoa(s.Elements)),
		}
	}}
	return c
}

// array is the child of an array: its slices along the first axis, or its elements.
func (v *viewer) array(name string, a kernel.Array) child {
	c := child{name: name, typ: a.Spec().String(), hint: "virtual"}
	if len(a.Dims) == 0 {
		c.text = strings.TrimSpace(tpu.FormatArray(a))
		return c
	}
	c.text = cut(tpu.FormatArray(a))
	if a.Dims[0] == 0 {
		return c
	}
	c.node = &node{elements: a.Dims[0], element: func(i int) child {
		x := a
		x.Dims, x.Strides = a.Dims[1:], a.Strides[1:]
		x.Offset = a.Offset + i*a.Strides[0]
		return v.array("["+strconv.Itoa(i)+"]", x)
	}}
	return c
}
