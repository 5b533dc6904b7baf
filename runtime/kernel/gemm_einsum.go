package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// An Einsum is a parsed equation over operands of known ranks: every axis has
// a letter, an ellipsis being spelled out with letters of its own.
type Einsum struct {
	In  [][]rune // per operand, one letter per axis
	Out []rune
}

// EinsumSyntaxError says what is wrong with an equation.
type EinsumSyntaxError struct{ Equation, Why string }

// Error is one line: einsum: "ij->ik": k is in no operand.
func (e *EinsumSyntaxError) Error() string { return fmt.Sprintf("einsum: %q: %s", e.Equation, e.Why) }

// ellipsisLetter is the first letter that stands for an axis of an ellipsis;
// the last axis of every ellipsis has it, the one before the next letter, ….
const ellipsisLetter = 'α'

// ParseEinsum reads PyTorch's einsum notation for operands of the given ranks.
// Without "->", the result has the ellipsis and then the letters that appear
// once, in alphabetical order.
func ParseEinsum(equation string, ranks []int) (Einsum, error) {
	refuse := func(format string, args ...any) (Einsum, error) {
		return Einsum{}, &EinsumSyntaxError{equation, fmt.Sprintf(format, args...)}
	}
	text := strings.ReplaceAll(equation, " ", "")
	left, right, explicit := strings.Cut(text, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(ranks) {
		return refuse("%d operands in the equation, %d given", len(terms), len(ranks))
	}
	var e Einsum
	count := map[rune]int{}
	longest := 0
	for i, t := range terms {
		letters, dots, err := einsumTerm(t)
		if err != "" {
			return refuse("%s", err)
		}
		n := ranks[i] - (len(letters) - 0)
		switch {
		case dots < 0 && n != 0:
			return refuse("operand %d has %d letters and %d dimensions", i, len(letters), ranks[i])
		case n < 0:
			return refuse("operand %d has %d letters and %d dimensions", i, len(letters), ranks[i])
		}
		if dots >= 0 {
			letters = slices.Insert(letters, dots, ellipsisLetters(n)...)
			longest = max(longest, n)
		}
		for _, l := range letters {
			count[l]++
		}
		e.In = append(e.In, letters)
	}
	if !explicit {
		e.Out = ellipsisLetters(longest)
		var once []rune
		for l, n := range count {
			if n == 1 && l < ellipsisLetter {
				once = append(once, l)
			}
		}
		slices.Sort(once)
		e.Out = append(e.Out, once...)
		return e, nil
	}
	letters, dots, why := einsumTerm(right)
	if why != "" {
		return refuse("%s", why)
	}
	if dots >= 0 {
		letters = slices.Insert(letters, dots, ellipsisLetters(longest)...)
	}
	for i, l := range letters {
		if count[l] == 0 {
			return refuse("%c is in no operand", l)
		}
		if slices.Contains(letters[:i], l) {
			return refuse("%c is twice in the result", l)
		}
	}
	e.Out = letters
	return e, nil
}

func einsumTerm(t string) (letters []rune, dots int, why string) {
	dots = -1
	for i := 0; i < len(t); i++ {
		c := t[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters = append(letters, rune(c))
		case strings.HasPrefix(t[i:], "...") && dots < 0:
			dots = len(letters)
			i += 2
		default:
			return nil, 0, fmt.Sprintf("unexpected %q", c)
		}
	}
	return letters, dots, ""
}

func ellipsisLetters(n int) []rune {
	out := make([]rune, n)
	for i := range out {
		out[i] = ellipsisLetter + rune(n-1-i)
	}
	return out
}

// Sizes gives the size of each letter. An axis of size 1 stretches to the size
// the letter has elsewhere. ok is false, with the letter, where two sizes differ.
func (e Einsum) Sizes(dims [][]int) (size map[rune]int, letter rune, ok bool) {
	size = map[rune]int{}
	for i, ls := range e.In {
		for j, l := range ls {
			n := dims[i][j]
			m, seen := size[l]
			switch {
			case !seen || m == 1:
				size[l] = n
			case n != m && n != 1:
				return nil, l, false
			}
		}
	}
	return size, 0, true
}

// EinsumCall computes an einsum over c.In by contracting the operands from left
// to right, in the wide type of the result; one rounding at the end. The
// equation is the attribute "equation".
func EinsumCall(c *Call) error {
	ranks := make([]int, len(c.In))
	for i, a := range c.In {
		ranks[i] = len(a.Dims)
	}
	e, err := ParseEinsum(c.Attrs.Str("equation"), ranks)
	if err != nil {
		return err
	}
	einsum(c.Out[0], e, c.In)
	return nil
}

func einsum(out Array, e Einsum, in []Array) {
	switch wideType(out.DType) {
	case dtype.F32:
		einsumAs[float32](out, e, in)
	case dtype.F64:
		einsumAs[float64](out, e, in)
	case dtype.C64:
		einsumAs[complex64](out, e, in)
	case dtype.C128:
		einsumAs[complex128](out, e, in)
	default:
		einsumAs[int64](out, e, in)
	}
}

// A lettered array is an operand whose axes have letters, each once.
type lettered struct {
	Array
	letters []rune
}

func einsumAs[T factor](out Array, e Einsum, in []Array) {
	dims := make([][]int, len(in))
	for i, a := range in {
		dims[i] = a.Dims
	}
	size, _, _ := e.Sizes(dims)
	ops := make([]lettered, len(in))
	for i, a := range in {
		ops[i] = diagonalOf(a, e.In[i], size)
	}
	later := func(from int, l rune) bool {
		if slices.Contains(e.Out, l) {
			return true
		}
		for _, o := range ops[from:] {
			if slices.Contains(o.letters, l) {
				return true
			}
		}
		return false
	}
	acc := ops[0]
	for i := 1; i < len(ops); i++ {
		acc = contractPair[T](acc, ops[i], func(l rune) bool { return later(i+1, l) })
	}
	// What is left over is summed by multiplying with one.
	for _, l := range acc.letters {
		if !slices.Contains(e.Out, l) {
			one := lettered{Array: Array{DType: wideOf[T](), Buf: bytesOf([]T{1}), View: shape.View{Dims: []int{}, Strides: []int{}}}}
			for j, l := range acc.letters {
				if !slices.Contains(e.Out, l) {
					one.letters = append(one.letters, l)
					one.Dims = append(one.Dims, acc.Dims[j])
					one.Strides = append(one.Strides, 0)
				}
			}
			acc = contractPair[T](acc, one, func(l rune) bool { return slices.Contains(e.Out, l) })
			break
		}
	}
	v := shape.View{Offset: acc.Offset}
	for _, l := range e.Out {
		j := slices.Index(acc.letters, l)
		v.Dims = append(v.Dims, acc.Dims[j])
		v.Strides = append(v.Strides, acc.Strides[j])
	}
	acc.View = v
	Convert(out, acc.Array)
}

// diagonalOf sees a with each letter once: a repeated letter walks the
// diagonal, an axis of size 1 is stretched to the size of its letter.
func diagonalOf(a Array, letters []rune, size map[rune]int) lettered {
	r := lettered{Array: a}
	r.View = shape.View{Offset: a.Offset, Dims: []int{}, Strides: []int{}}
	for i, l := range letters {
		st := a.Strides[i]
		if a.Dims[i] == 1 {
			st = 0
		}
		if j := slices.Index(r.letters, l); j >= 0 {
			r.Strides[j] += st
			continue
		}
		r.letters = append(r.letters, l)
		r.Dims = append(r.Dims, size[l])
		r.Strides = append(r.Strides, st)
	}
	return r
}

// contractPair multiplies x and y and sums over the letters that nobody needs later.
func contractPair[T factor](x, y lettered, needed func(rune) bool) lettered {
	var con contraction
	var m, n, batch []rune
	for i, l := range x.letters {
		j := slices.Index(y.letters, l)
		switch {
		case j < 0 && needed(l):
			m = append(m, l)
			con.m, con.aM = append(con.m, x.Dims[i]), append(con.aM, x.Strides[i])
		case j >= 0 && needed(l):
			batch = append(batch, l)
			con.batch = append(con.batch, x.Dims[i])
			con.aB, con.bB = append(con.aB, x.Strides[i]), append(con.bB, y.Strides[j])
		case j >= 0:
			con.k = append(con.k, x.Dims[i])
			con.aK, con.bK = append(con.aK, x.Strides[i]), append(con.bK, y.Strides[j])
		default: // only here: y repeats
			con.k = append(con.k, x.Dims[i])
			con.aK, con.bK = append(con.aK, x.Strides[i]), append(con.bK, 0)
		}
	}
	for j, l := range y.letters {
		switch {
		case slices.Contains(x.letters, l):
		case needed(l):
			n = append(n, l)
			con.n, con.bN = append(con.n, y.Dims[j]), append(con.bN, y.Strides[j])
		default:
			con.k = append(con.k, y.Dims[j])
			con.aK, con.bK = append(con.aK, 0), append(con.bK, y.Strides[j])
		}
	}
	dims := append(append(append([]int{}, con.batch...), con.m...), con.n...)
	r := lettered{Array: New(shape.Spec{DType: wideOf[T](), Dims: dims}), letters: append(append(batch, m...), n...)}
	contractAs[T](r.Array, con, x.Array, y.Array, nil)
	return r
}

// BilinearCall computes out[..,o] = Σ x[..,i]·w[o,i,j]·y[..,j] + bias[o].
func BilinearCall(c *Call) error {
	x, y, w, out := c.In[0], c.In[1], c.In[2], c.Out[0]
	e, err := ParseEinsum("...i,oij,...j->...o", []int{len(x.Dims), 3, len(y.Dims)})
	if err != nil {
		return err
	}
	if len(c.In) < 4 || !c.In[3].Valid() {
		einsum(out, e, []Array{x, w, y})
		return nil
	}
	sum := New(shape.Spec{DType: wideType(out.DType), Dims: out.Dims})
	einsum(sum, e, []Array{x, w, y})
	ep := &epilogue{add: c.In[3], alpha: 1, beta: 1}
	switch sum.DType {
	case dtype.F32:
		finish(As[float32](sum.Buf), out.Dims, ep)
	case dtype.F64:
		finish(As[float64](sum.Buf), out.Dims, ep)
	case dtype.C64:
		finish(As[complex64](sum.Buf), out.Dims, ep)
	case dtype.C128:
		finish(As[complex128](sum.Buf), out.Dims, ep)
	default:
		finish(As[int64](sum.Buf), out.Dims, ep)
	}
	Convert(out, sum)
	return nil
}

// TensorDot contracts axes dims_self of a with dims_other of b, or the last
// dims axes of a with the first of b.
func TensorDot(c *Call) error {
	a, b := c.In[0], c.In[1]
	x, y := c.Attrs.Ints("dims_self"), c.Attrs.Ints("dims_other")
	ra, rb := len(a.Dims), len(b.Dims)
	if x == nil && y == nil {
		for i := range c.Attrs.Int("dims") {
			x, y = append(x, ra-c.Attrs.Int("dims")+i), append(y, i)
		}
	}
	var con contraction
	usedA, usedB := make([]bool, ra), make([]bool, rb)
	for i := range x {
		p, q := (x[i]+ra)%ra, (y[i]+rb)%rb
		usedA[p], usedB[q] = true, true
		sa, sb := a.Strides[p], b.Strides[q]
		if a.Dims[p] == 1 {
			sa = 0
		}
		if b.Dims[q] == 1 {
			sb = 0
		}
		con.k = append(con.k, max(a.Dims[p], b.Dims[q])*min(1, a.Dims[p], b.Dims[q]))
		con.aK, con.bK = append(con.aK, sa), append(con.bK, sb)
	}
	for i, d := range a.Dims {
		if !usedA[i] {
			con.m, con.aM = append(con.m, d), append(con.aM, a.Strides[i])
		}
	}
	for i, d := range b.Dims {
		if !usedB[i] {
			con.n, con.bN = append(con.n, d), append(con.bN, b.Strides[i])
		}
	}
	contractWide(c.Out[0], con, a, b, nil)
	return nil
}

// Kron computes the Kronecker product: out[i·p+k, j·q+l] = a[i,j]·b[k,l] for b of [p,q].
// The operand of lower rank gets leading axes of size 1.
func Kron(c *Call) error {
	a, b, out := c.In[0], c.In[1], c.Out[0]
	r := max(len(a.Dims), len(b.Dims))
	var e Einsum
	e.In = make([][]rune, 2)
	var dims []int
	for i := range r {
		la, lb := rune(2*i+1), rune(2*i+2)
		if j := i - (r - len(a.Dims)); j >= 0 {
			e.In[0] = append(e.In[0], la)
			e.Out = append(e.Out, la)
			dims = append(dims, a.Dims[j])
		}
		if j := i - (r - len(b.Dims)); j >= 0 {
			e.In[1] = append(e.In[1], lb)
			e.Out = append(e.Out, lb)
			dims = append(dims, b.Dims[j])
		}
	}
	out.View = shape.Dense(dims)
	einsum(out, e, []Array{a, b})
	return nil
}
