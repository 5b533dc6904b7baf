package pjrt

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// dynamic is an attribute of a node that differs between launches of one executable.
type dynamic struct {
	node int
	name string
}

// A lowered is a graph as text for the values of one launch. Numbers that the
// rules asked for are elements of one more parameter; all other values are in
// the text.
type lowered struct {
	text   string
	values []any // per dynamic attribute
	asked  []int // indices of dynamic attributes, in the order of the parameter
	passed []bool
}

// program is a compiled text and the worker that holds it.
type program struct {
	lowered
	p    *worker.Program // nil once it was dropped
	born int
	used uint64

	placed      string            // where the inputs are, "" for a program of one device
	outs        []*shape.Sharding // where the results are
	collectives []device.Collective
}

// f64 is the type of the parameter of numbers.
var f64, _ = capi.ParseType("f64")

// value is a dynamic attribute of a launch.
func (c *code) value(d dynamic, attrs []op.Attrs) any {
	if d.node < len(attrs) {
		return attrs[d.node].Get(d.name)
	}
	return c.g.Nodes[d.node].Attrs.Get(d.name)
}

// serves says whether a program computes what a launch asks for.
func (c *code) serves(p *program, attrs []op.Attrs) bool {
	if attrs == nil {
		return true
	}
	for i, d := range c.dynamic {
		v := c.value(d, attrs)
		k := classOf(v)
		if v == p.values[i] || k != noNumber && k == classOf(p.values[i]) && (p.passed[i] || k < isNegative) {
			continue
		}
		return false
	}
	return true
}

// class is what a rule may tell numbers apart by while they are arguments.
type class uint8

const (
	noNumber class = iota
	isNaN
	isPosInf
	isNegInf
	isZero
	isOne
	isNegative
	isPositive
)

func classOf(v any) class {
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case int:
		if int64(v) != int64(float64(v)) {
			return noNumber
		}
		f = float64(v)
	default:
		return noNumber
	}
	switch {
	case math.IsNaN(f):
		return isNaN
	case math.IsInf(f, 1):
		return isPosInf
	case math.IsInf(f, -1):
		return isNegInf
	case f == 0:
		return isZero
	case f == 1:
		return isOne
	case f < 0:
		return isNegative
	}
	return isPositive
}

// lower writes the graph for the attributes of a launch; nil are its own. The
// text has no locations: the same program at another line is the same.
func (c *code) lower(attrs []op.Attrs, o stablehlo.ModuleOptions) lowered {
	l := lowered{values: make([]any, len(c.dynamic)), passed: make([]bool, len(c.dynamic))}
	at := map[dynamic]int{}
	for i, d := range c.dynamic {
		l.values[i] = c.value(d, attrs)
		at[d] = i
	}
	// Which numbers are asked for is known once the graph is lowered, and their
	// parameter stands before it: a first text that asked for some is written anew.
	l.text = l.write(c.g, attrs, at, make([]bool, len(c.dynamic)), o)
	if slices.Contains(l.passed, true) {
		l.text = l.write(c.g, attrs, at, l.passed, o)
	}
	return l
}

// write lowers the graph with the parameter of numbers that known names, and
// notes in l which are asked for.
func (l *lowered) write(g *graph.Graph, attrs []op.Attrs, at map[dynamic]int, known []bool, o stablehlo.ModuleOptions) string {
	place, n := make([]int, len(known)), 0
	for i, k := range known {
		if k {
			place[i] = n
			n++
		}
	}
	params := g.Params()
	if n > 0 {
		params = append(params[:len(params):len(params)], shape.Of(dtype.F64, n))
		l.asked = l.asked[:0]
		for i, k := range known {
			if k {
				l.asked = append(l.asked, i)
			}
		}
	}
	return stablehlo.Module("main", params, func(w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
		return graph.LowerLaunch(g, w, args, func(node int, c *op.LowerCall) {
			if node < len(attrs) {
				c.Attrs = attrs[node]
			}
			c.Number = func(name string) (stablehlo.Value, bool) {
				i, ok := at[dynamic{node, name}]
				if !ok || classOf(l.values[i]) < isNegative { // 0, 1 and the like are worth a constant
					return stablehlo.Value{}, false
				}
				l.passed[i] = true
				if !known[i] {
					return stablehlo.Value{}, false
				}
				return w.Reshape(w.SliceAxis(args[len(args)-1], 0, place[i], place[i]+1, 1), nil), true
			}
		})
	}, o)
}

// numbers are the bytes of the parameter for a launch.
func (c *code) numbers(p *program, attrs []op.Attrs) []byte {
	b := make([]byte, 0, 8*len(p.asked))
	for _, i := range p.asked {
		var f float64
		switch v := c.value(c.dynamic[i], attrs).(type) {
		case float64:
			f = v
		case int:
			f = float64(v)
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
	return b
}
