package op

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// realType is oneType without complex numbers.
func realType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	one := oneType(name)
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		if in[0].DType.Kind() == dtype.KindComplex {
			return dtype.Invalid, &TypeError{Op: name, Arg: "input", DType: in[0].DType, Want: "real"}
		}
		return one(in, a)
	}
}

// floatType is oneType for real floating-point operands alone.
func floatType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	one := oneType(name)
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		if !in[0].DType.IsFloat() {
			return dtype.Invalid, &TypeError{Op: name, Arg: "input", DType: in[0].DType, Want: "a float"}
		}
		return one(in, a)
	}
}

func lastSize(in []shape.Spec, _ Attrs) int {
	if r := in[0].Rank(); r > 0 {
		return in[0].Dims[r-1]
	}
	return 1
}

func oneTerm([]shape.Spec, Attrs) int { return 1 }

func batchTerms(in []shape.Spec, _ Attrs) int { return in[1].Dims[0] * in[1].Dims[2] }

func bilinearTerms(in []shape.Spec, _ Attrs) int { return in[2].Dims[1] * in[2].Dims[2] }

func tensordotTerms(in []shape.Spec, a Attrs) int {
	x, _, err := tensordotAxes(in, a)
	if err != nil {
		return 0
	}
	return shape.Size(dimsAt(in[0].Dims, x))
}

func bilinearShape(in []shape.Spec, _ Attrs) ([]int, error) {
	x, y, w := in[0], in[1], in[2]
	if err := wantRank("bilinear", "weight", w, 3); err != nil {
		return nil, err
	}
	if x.Rank() == 0 || x.Rank() != y.Rank() {
		return nil, wrongRank("bilinear", "input2", y, x.Rank(), x.Rank())
	}
	l := x.Rank() - 1
	if !shape.EqualDims(x.Dims[:l], y.Dims[:l]) {
		return nil, &shape.MismatchError{Op: "bilinear", Left: x, Right: y, Axis: 0, Why: "batch sizes differ"}
	}
	if x.Dims[l] != w.Dims[1] {
		return nil, innerDiffer("bilinear", x, w, l, x.Dims[l], w.Dims[1])
	}
	if y.Dims[l] != w.Dims[2] {
		return nil, innerDiffer("bilinear", y, w, l, y.Dims[l], w.Dims[2])
	}
	if len(in) > 3 && in[3].Valid() && !shape.EqualDims(in[3].Dims, w.Dims[:1]) {
		return nil, &shape.MismatchError{Op: "bilinear", Left: w, Right: in[3], Axis: 0, Why: "the bias does not have one number for each output"}
	}
	return append(slices.Clone(x.Dims[:l]), w.Dims[0]), nil
}

func kronShape(in []shape.Spec, _ Attrs) ([]int, error) {
	x, y := in[0].Dims, in[1].Dims
	r := max(len(x), len(y))
	out := make([]int, r)
	for i := range out {
		out[i] = 1
		if j := i - (r - len(x)); j >= 0 {
			out[i] *= x[j]
		}
		if j := i - (r - len(y)); j >= 0 {
			out[i] *= y[j]
		}
	}
	return out, nil
}

func crossShape(in []shape.Spec, a Attrs) ([]int, error) {
	out, err := broadcast(in, a)
	if err != nil {
		return nil, err
	}
	axis, err := shape.Axis("cross", a.Int("dim"), len(out))
	if err != nil {
		return nil, err
	}
	if len(out) == 0 || out[axis] != 3 || in[0].Rank() != in[1].Rank() {
		return nil, &shape.MismatchError{Op: "cross", Left: in[0], Right: in[1], Axis: axis, Why: "vectors must have three elements"}
	}
	return out, nil
}

func cdistShape(in []shape.Spec, a Attrs) ([]int, error) {
	x, y := in[0], in[1]
	if x.Rank() < 2 {
		return nil, wrongRank("cdist", "x1", x, 2, -1)
	}
	if y.Rank() < 2 {
		return nil, wrongRank("cdist", "x2", y, 2, -1)
	}
	rx, ry := x.Rank(), y.Rank()
	if k, l := x.Dims[rx-1], y.Dims[ry-1]; k != l {
		return nil, innerDiffer("cdist", x, y, rx-1, k, l)
	}
	if p := a.Float("p"); !(p >= 0) {
		return nil, &shape.ArgumentError{Op: "cdist", Arg: "p", Value: p, Why: "must not be negative"}
	}
	batch, ok := shape.Broadcast(x.Dims[:rx-2], y.Dims[:ry-2])
	if !ok {
		return nil, &shape.MismatchError{Op: "cdist", Left: x, Right: y, Axis: -1, Why: "batch sizes do not broadcast"}
	}
	return append(slices.Clone(batch), x.Dims[rx-2], y.Dims[ry-2]), nil
}

func cdistCost(in, out []shape.Spec, _ Attrs) Cost {
	n := int64(out[0].Size()) * int64(in[0].Dims[in[0].Rank()-1])
	return Cost{FLOPs: 3 * n, VPUOps: 3 * n, EUPOps: int64(out[0].Size()), Unit: VPU}
}

// lowerCDist spells the norm out over [..,m,n,k].
func lowerCDist(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	out := c.Out[0]
	x, y := c.In[0], c.In[1]
	k := x.Spec.Dims[x.Spec.Rank()-1]
	full := shape.Spec{DType: out.DType, Dims: append(slices.Clone(out.Dims), k)}
	insert := func(v stablehlo.Value, at int) stablehlo.Value {
		return w.BroadcastTo(w.Reshape(v, slices.Insert(slices.Clone(v.Spec.Dims), at, 1)), full.Dims)
	}
	d := w.Do("subtract", full, "", insert(x, x.Spec.Rank()-1), insert(y, y.Spec.Rank()-2))
	last := []int{len(out.Dims)}
	p := c.Attrs.Float("p")
	switch {
	case p == 0:
		ne := w.Convert(w.Compare("NE", d, w.Splat(full, 0)), out.DType)
		return []stablehlo.Value{w.Reduce("add", ne, last, 0)}
	case p == 1:
		return []stablehlo.Value{w.Reduce("add", w.Do("abs", full, "", d), last, 0)}
	case p == 2:
		s := w.Reduce("add", w.Do("multiply", full, "", d, d), last, 0)
		return []stablehlo.Value{w.Do("sqrt", out, "", s)}
	case math.IsInf(p, 1):
		return []stablehlo.Value{w.Reduce("maximum", w.Do("abs", full, "", d), last, 0)}
	}
	s := w.Reduce("add", w.Do("power", full, "", w.Do("abs", full, "", d), w.Splat(full, p)), last, 0)
	return []stablehlo.Value{w.Do("power", out, "", s, w.Splat(out, 1/p))}
}

func traceShape(in []shape.Spec, _ Attrs) ([]int, error) {
	return []int{}, wantRank("trace", "input", in[0], 2)
}

// traceType: sums of integers are i64.
func traceType(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if in[0].DType.Kind() < dtype.KindFloat {
		return dtype.I64, nil
	}
	return in[0].DType, nil
}

func traceCost(in, _ []shape.Spec, _ Attrs) Cost {
	n := int64(min(in[0].Dims[0], in[0].Dims[1]))
	return Cost{FLOPs: n, VPUOps: int64(in[0].Size()), Unit: VPU}
}

// einsumOf parses the equation of a call and checks the sizes.
func einsumOf(in []shape.Spec, a Attrs) (kernel.Einsum, map[rune]int, error) {
	if len(in) == 0 {
		return kernel.Einsum{}, nil, &EmptyListError{Op: "einsum"}
	}
	ranks, ds := make([]int, len(in)), make([][]int, len(in))
	for i, s := range in {
		ranks[i], ds[i] = s.Rank(), s.Dims
	}
	e, err := kernel.ParseEinsum(a.Str("equation"), ranks)
	if err != nil {
		return e, nil, err
	}
	size, l, ok := e.Sizes(ds)
	if !ok {
		i, j, k := einsumClash(e, in, l)
		return e, nil, &shape.MismatchError{Op: "einsum", Left: in[i], Right: in[j], Axis: k, Why: fmt.Sprintf("%c has two sizes", l)}
	}
	return e, size, nil
}

// einsumClash finds two operands that give letter l different sizes, and the axis in the first.
func einsumClash(e kernel.Einsum, in []shape.Spec, l rune) (i, j, axis int) {
	first, at := -1, 0
	for i, ls := range e.In {
		for k, m := range ls {
			if m != l || in[i].Dims[k] == 1 {
				continue
			}
			if first < 0 {
				first, at = i, k
			} else if in[i].Dims[k] != in[first].Dims[at] {
				return first, i, at
			}
		}
	}
	return 0, 0, -1
}

func einsumShape(in []shape.Spec, a Attrs) ([]int, error) {
	e, size, err := einsumOf(in, a)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(e.Out))
	for i, l := range e.Out {
		out[i] = size[l]
	}
	return out, nil
}

func einsumType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if len(in) == 0 {
		return dtype.Invalid, &EmptyListError{Op: "einsum"}
	}
	t, err := oneType("einsum")(in, a)
	if err == nil && t.Kind() < dtype.KindFloat && t != dtype.I64 {
		// PyTorch sums an axis that one operand alone has before it multiplies, and sums of integers are i64.
		ranks := make([]int, len(in))
		for i, s := range in {
			ranks[i] = s.Rank()
		}
		if e, perr := kernel.ParseEinsum(a.Str("equation"), ranks); perr == nil && summed(e) {
			t = dtype.I64
		}
	}
	return t, err
}

// summed says whether a letter of one operand alone is none of the result.
func summed(e kernel.Einsum) bool {
	in := map[rune]int{}
	for _, letters := range e.In {
		for i, l := range letters {
			if !slices.Contains(letters[:i], l) {
				in[l]++
			}
		}
	}
	for l, n := range in {
		if n == 1 && !slices.Contains(e.Out, l) {
			return true
		}
	}
	return false
}

func einsumCost(in, out []shape.Spec, a Attrs) Cost {
	_, size, err := einsumOf(in, a)
	if err != nil {
		return Cost{Unit: MXU}
	}
	n := 1
	for _, s := range size {
		n *= s
	}
	m := max(out[0].Size(), 1)
	if len(in) == 1 {
		return Cost{VPUOps: int64(n), Unit: VPU}
	}
	return Cost{FLOPs: 2 * int64(n) * int64(len(in)-1), M: m, N: 1, K: max(n/m, 1), B: 1, Unit: MXU}
}

// einsumGrad contracts the gradient with all other operands. A letter that
// only operand i has is made by an operand of ones, a letter it has twice by
// the identity matrix.
func einsumGrad(b Builder, c *Call, dy []Value) []Value {
	specs := make([]shape.Spec, len(c.In))
	for i, v := range c.In {
		specs[i] = v.Spec()
	}
	e, size, err := einsumOf(specs, c.Attrs)
	if err != nil {
		panic(err)
	}
	names := einsumNames(e)
	spell := func(ls []rune) string {
		var s strings.Builder
		for _, l := range ls {
			s.WriteByte(names[l])
		}
		return s.String()
	}
	fresh := byte('a')
	used := map[byte]bool{}
	for _, n := range names {
		used[n] = true
	}
	next := func() byte {
		for used[fresh] {
			if fresh++; fresh == 'z'+1 {
				fresh = 'A'
			}
		}
		used[fresh] = true
		return fresh
	}
	out := make([]Value, len(c.In))
	for i := range c.In {
		if !c.Needs[i] {
			continue
		}
		terms, operands := []string{spell(e.Out)}, []Value{dy[0]}
		have := map[rune]bool{}
		for _, l := range e.Out {
			have[l] = true
		}
		for j, v := range c.In {
			if j != i {
				terms, operands = append(terms, spell(e.In[j])), append(operands, v)
				for _, l := range e.In[j] {
					have[l] = true
				}
			}
		}
		var target strings.Builder
		var ones []rune
		seen := map[rune]bool{}
		stretched := false
		for k, l := range e.In[i] {
			if specs[i].Dims[k] != size[l] {
				stretched = true
			}
			if !seen[l] {
				seen[l] = true
				target.WriteByte(names[l])
				if !have[l] {
					ones = append(ones, l)
				}
				continue
			}
			f := next()
			target.WriteByte(f)
			s := shape.Spec{DType: specs[i].DType, Dims: []int{size[l], size[l]}}
			eye := b.Do("tril", attr("diagonal", 0), b.Do("triu", attr("diagonal", 0), b.Full(s, 1)))
			terms, operands = append(terms, string([]byte{names[l], f})), append(operands, eye)
		}
		if len(ones) > 0 {
			d := make([]int, len(ones))
			for k, l := range ones {
				d[k] = size[l]
			}
			terms, operands = append(terms, spell(ones)), append(operands, b.Full(shape.Spec{DType: specs[i].DType, Dims: d}, 1))
		}
		g := b.Do("einsum", attr("equation", strings.Join(terms, ",")+"->"+target.String()), operands...)
		if stretched {
			g = reduceTo(b, g, specs[i].Dims)
		}
		out[i] = g
	}
	return out
}

// einsumNames gives every letter of an equation, those of an ellipsis too, a letter of the alphabet.
func einsumNames(e kernel.Einsum) map[rune]byte {
	names := map[rune]byte{}
	used := map[byte]bool{}
	var rest []rune
	for _, ls := range append(slices.Clone(e.In), e.Out) {
		for _, l := range ls {
			if l < 128 {
				names[l], used[byte(l)] = byte(l), true
			} else if !slices.Contains(rest, l) {
				rest = append(rest, l)
			}
		}
	}
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, l := range rest {
		for i := range len(alphabet) {
			if !used[alphabet[i]] {
				names[l], used[alphabet[i]] = alphabet[i], true
				break
			}
		}
	}
	return names
}

// lowerEinsum writes one dot_general for every operand after the first.
func lowerEinsum(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	specs := make([]shape.Spec, len(c.In))
	for i, v := range c.In {
		specs[i] = v.Spec
	}
	e, size, err := einsumOf(specs, c.Attrs)
	if err != nil {
		panic(err)
	}
	type lettered struct {
		v  stablehlo.Value
		ls []rune
	}
	ops := make([]lettered, len(c.In))
	for i, v := range c.In {
		ls := slices.Clone(e.In[i])
		full := make([]int, len(ls))
		for k, l := range ls {
			full[k] = size[l]
		}
		v = w.BroadcastTo(v, full)
		for k := 0; k < len(ls); k++ {
			for j := k + 1; j < len(ls); j++ {
				if ls[j] == ls[k] {
					m := diagonalMaskHLO(w, v.Spec.Dims, k, j, 0)
					v = w.Reduce("add", w.Select(m, v, w.Splat(v.Spec, 0)), []int{j}, 0)
					ls = slices.Delete(ls, j, j+1)
					j--
				}
			}
		}
		ops[i] = lettered{v, ls}
	}
	later := func(i int, l rune) bool {
		if slices.Contains(e.Out, l) {
			return true
		}
		for _, o := range ops[i:] {
			if slices.Contains(o.ls, l) {
				return true
			}
		}
		return false
	}
	sumOut := func(o lettered, keep func(rune) bool) lettered {
		var axes []int
		var ls []rune
		for k, l := range o.ls {
			if keep(l) {
				ls = append(ls, l)
			} else {
				axes = append(axes, k)
			}
		}
		if len(axes) == 0 {
			return o
		}
		return lettered{w.Reduce("add", o.v, axes, 0), ls}
	}
	acc := ops[0]
	for i := 1; i < len(ops); i++ {
		x := sumOut(acc, func(l rune) bool { return later(i, l) })
		y := sumOut(ops[i], func(l rune) bool { return slices.Contains(x.ls, l) || later(i+1, l) })
		var xb, yb, xk, yk []int
		var batch, m, n []rune
		for k, l := range x.ls {
			j := slices.Index(y.ls, l)
			switch {
			case j < 0:
				m = append(m, l)
			case later(i+1, l):
				xb, yb, batch = append(xb, k), append(yb, j), append(batch, l)
			default:
				xk, yk = append(xk, k), append(yk, j)
			}
		}
		for _, l := range y.ls {
			if !slices.Contains(x.ls, l) {
				n = append(n, l)
			}
		}
		acc = lettered{dotHLO(w, x.v, y.v, xb, yb, xk, yk), append(append(batch, m...), n...)}
	}
	acc = sumOut(acc, func(l rune) bool { return slices.Contains(e.Out, l) })
	perm := make([]int, len(e.Out))
	same := true
	for i, l := range e.Out {
		perm[i] = slices.Index(acc.ls, l)
		same = same && perm[i] == i
	}
	if !same {
		acc.v = w.Transpose(acc.v, perm)
	}
	return []stablehlo.Value{acc.v}
}
