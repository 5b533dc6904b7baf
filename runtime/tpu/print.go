package tpu

import (
	"math"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// PyTorch's defaults: how many elements are printed whole, how many of each
// edge otherwise, digits after the point, columns of a line.
const (
	printThreshold = 1000
	printEdge      = 3
	printDigits    = 4
	printColumns   = 80
)

// String reads the tensor and prints its type and its numbers. When they could not
// be computed it says why: package fmt would swallow a panic. Who runs the program
// learns of it by [exec.Dispatcher.Swallowed].
func (t *Tensor) String() string {
	if t == nil {
		return "<nil>"
	}
	if t.s == nil {
		return "<zero tensor>"
	}
	if t.s.freed {
		return t.Spec().String() + " freed"
	}
	d := t.engine().d
	a, err := d.ReadPart(t.s.value, exec.ReasonShow, t.Spec())
	if err != nil {
		d.Swallow(err)
		return t.Spec().String() + " failed: " + err.Error()
	}
	return beside(t.Spec().String()+" ", FormatArray(seen(a, t.layout())))
}

// FormatArray prints the numbers of a host array as PyTorch does: a common
// width, four digits, three elements of each edge when there are more than a thousand.
func FormatArray(a kernel.Array) string {
	p := &printer{a: a, short: a.Size() > printThreshold}
	p.measure()
	var b strings.Builder
	p.print(&b, nil, a.Offset)
	return b.String()
}

// FormatWhole prints every number of a host array.
func FormatWhole(a kernel.Array) string {
	p := &printer{a: a}
	p.measure()
	var b strings.Builder
	p.print(&b, nil, a.Offset)
	return b.String()
}

type printer struct {
	a      kernel.Array
	short  bool
	width  int
	whole  bool // all finite numbers are integers
	sci    bool
	format func(i int) string // element at a position of the buffer
}

// shown calls f with the buffer positions that are printed.
func (p *printer) shown(axis, at int, f func(int)) {
	if axis == len(p.a.Dims) {
		f(at)
		return
	}
	n := p.a.Dims[axis]
	for i := 0; i < n; i++ {
		if p.short && n > 2*printEdge && i == printEdge {
			i = n - printEdge
		}
		p.shown(axis+1, at+i*p.a.Strides[axis], f)
	}
}

// measure chooses the notation from the elements that are printed.
func (p *printer) measure() {
	at := func(i int) kernel.Array {
		x := p.a
		x.View = shape.View{Offset: i}
		return x
	}
	switch kernel.Class(p.a.DType) {
	case dtype.I64:
		p.format = func(i int) string { return strconv.FormatInt(kernel.Int64s(at(i))[0], 10) }
	case dtype.U64:
		if p.a.DType == dtype.Bool {
			p.format = func(i int) string { return strconv.FormatBool(kernel.Bools(at(i))[0] != 0) }
			break
		}
		p.format = func(i int) string { return strconv.FormatUint(kernel.Uint64s(at(i))[0], 10) }
	case dtype.C64:
		p.format = func(i int) string {
			return strings.Trim(strconv.FormatComplex(complex128(kernel.As[complex64](p.a.Buf)[i]), 'g', printDigits, 64), "()")
		}
	case dtype.C128:
		p.format = func(i int) string {
			return strings.Trim(strconv.FormatComplex(kernel.As[complex128](p.a.Buf)[i], 'g', printDigits, 128), "()")
		}
	default:
		p.whole = true
		lo, hi := math.Inf(1), 0.0
		p.shown(0, p.a.Offset, func(i int) {
			x := math.Abs(kernel.Float64s(at(i))[0])
			if x == 0 || math.IsInf(x, 0) || x != x {
				return
			}
			p.whole = p.whole && x == math.Ceil(x)
			lo, hi = min(lo, x), max(hi, x)
		})
		if p.whole {
			p.sci = hi > 1e8
		} else {
			p.sci = hi/lo > 1000 || hi > 1e8 || lo < 1e-4
		}
		p.format = func(i int) string { return p.float(kernel.Float64s(at(i))[0]) }
	}
	p.shown(0, p.a.Offset, func(i int) { p.width = max(p.width, len(p.format(i))) })
}

func (p *printer) float(x float64) string {
	switch {
	case x != x:
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case p.sci:
		return strconv.FormatFloat(x, 'e', printDigits, 64)
	case p.whole:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', printDigits, 64)
}

func (p *printer) print(b *strings.Builder, index []int, at int) {
	axis := len(index)
	if axis == len(p.a.Dims) {
		s := p.format(at)
		if axis > 0 {
			b.WriteString(strings.Repeat(" ", p.width-len(s)))
		}
		b.WriteString(s)
		return
	}
	last := axis == len(p.a.Dims)-1
	n := p.a.Dims[axis]
	perLine := max(1, (printColumns-axis)/(p.width+1))
	b.WriteByte('[')
	line := 0
	for i := 0; i < n; i++ {
		if p.short && n > 2*printEdge && i == printEdge {
			if last {
				b.WriteString(" ...")
			} else {
				b.WriteByte('\n')
				b.WriteString(strings.Repeat(" ", axis+1))
				b.WriteString("...")
			}
			i = n - printEdge
		}
		if i > 0 {
			switch {
			case last && line < perLine:
				b.WriteByte(' ')
			case last:
				line = 0
				b.WriteByte('\n')
				b.WriteString(strings.Repeat(" ", axis+1))
			default:
				b.WriteString(strings.Repeat("\n", max(1, len(p.a.Dims)-axis-1)))
				b.WriteString(strings.Repeat(" ", axis+1))
			}
		}
		line++
		p.print(b, append(index, i), at+i*p.a.Strides[axis])
	}
	b.WriteByte(']')
}

// Full reads the tensor and prints its type and every number.
func (t *Tensor) Full() string {
	return beside(t.Spec().String()+" ", FormatWhole(t.host("show", exec.ReasonShow)))
}

// beside puts text after head, its further lines indented as far.
func beside(head, text string) string {
	return head + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(head)))
}
