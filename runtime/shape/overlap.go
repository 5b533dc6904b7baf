package shape

import "slices"

// A Relation says how the elements of two views of one storage relate.
type Relation uint8

// The relations.
const (
	Disjoint Relation = iota // no common element
	Same                     // the same element at every index
	Partial                  // some common element, at another index
)

// searchSteps bounds the search for a common address. Views made by the
// functions of this package need a few steps for each axis; a hostile choice
// of strides that needs more counts as overlapping.
const searchSteps = 1 << 16

// Span gives the lowest and highest element a view touches; hi < lo when it is empty.
func (v View) Span() (lo, hi int) {
	lo, hi = v.Offset, v.Offset
	for i, d := range v.Dims {
		if d == 0 {
			return v.Offset, v.Offset - 1
		}
		if r := (d - 1) * v.Strides[i]; r < 0 {
			lo += r
		} else {
			hi += r
		}
	}
	return lo, hi
}

// Overlaps says whether two different indices of v have the same address.
func Overlaps(v View) bool {
	var terms []term // stride·d with d the difference of two positions on an axis
	for i, d := range v.Dims {
		switch {
		case d == 0:
			return false
		case d > 1 && v.Strides[i] != 0:
			terms = append(terms, term{abs(v.Strides[i]), 1 - d, d - 1})
		}
	}
	for i, d := range v.Dims {
		if d > 1 && v.Strides[i] == 0 {
			return true
		}
	}
	sortTerms(terms)
	// When each stride steps over everything the smaller ones reach, nothing is shared.
	reach, nested := 0, true
	for _, t := range slices.Backward(terms) {
		nested = nested && t.stride > reach
		reach += t.stride * t.hi
	}
	if nested {
		return false
	}
	if Size(v.Dims) > reach+1 { // more elements than addresses
		return true
	}
	// Two indices with one address differ by a vector with Σ stride·d = 0;
	// its first component that is not 0 may be taken positive.
	steps := searchSteps
	for i, t := range terms {
		for d := 1; d <= t.hi; d++ {
			if solve(terms[i+1:], -d*t.stride, &steps) {
				return true
			}
		}
	}
	return false
}

// Relate compares two views of one storage.
func Relate(v, w View) Relation {
	if Size(v.Dims) == 0 || Size(w.Dims) == 0 {
		return Disjoint
	}
	if v.Offset == w.Offset && EqualDims(v.Dims, w.Dims) {
		same := true
		for i, d := range v.Dims {
			same = same && (d == 1 || v.Strides[i] == w.Strides[i])
		}
		if same {
			return Same
		}
	}
	vlo, vhi := v.Span()
	wlo, whi := w.Span()
	if vhi < wlo || whi < vlo {
		return Disjoint
	}
	inside := func(x, lo, hi int) bool { return lo <= x && x <= hi }
	switch { // a view without gaps shares the end of the other that lies inside it
	case vhi-vlo+1 == Size(v.Dims) && (inside(wlo, vlo, vhi) || inside(whi, vlo, vhi)) && !Overlaps(v),
		whi-wlo+1 == Size(w.Dims) && (inside(vlo, wlo, whi) || inside(vhi, wlo, whi)) && !Overlaps(w):
		return Partial
	}
	// vlo + Σ stride·i = wlo + Σ stride·j, positions counted from the lowest element.
	var terms []term
	for i, d := range v.Dims {
		if d > 1 && v.Strides[i] != 0 {
			terms = append(terms, term{abs(v.Strides[i]), 0, d - 1})
		}
	}
	for i, d := range w.Dims {
		if d > 1 && w.Strides[i] != 0 {
			terms = append(terms, term{abs(w.Strides[i]), 1 - d, 0})
		}
	}
	sortTerms(terms)
	steps := searchSteps
	if solve(terms, wlo-vlo, &steps) {
		return Partial
	}
	return Disjoint
}

// A term is stride·x with lo ≤ x ≤ hi, stride > 0.
type term struct{ stride, lo, hi int }

// sortTerms puts the largest stride first.
func sortTerms(t []term) { slices.SortFunc(t, func(a, b term) int { return b.stride - a.stride }) }

// solve says whether Σ stride·x = target has a solution within the ranges;
// strides fall. It tries only the x that leave a rest the smaller strides can
// reach and that their common divisor divides. Out of steps, it says yes.
func solve(terms []term, target int, steps *int) bool {
	if *steps--; *steps < 0 {
		return true
	}
	if len(terms) == 0 {
		return target == 0
	}
	g := 0
	for _, t := range terms {
		g = gcd(g, t.stride)
	}
	if target%g != 0 {
		return false
	}
	t, rest := terms[0], terms[1:]
	lo, hi := 0, 0
	for _, r := range rest {
		lo += r.stride * r.lo
		hi += r.stride * r.hi
	}
	// target - stride·x must be in [lo, hi].
	from := max(t.lo, ceilDiv(target-hi, t.stride))
	to := min(t.hi, floorDiv(target-lo, t.stride))
	for x := from; x <= to; x++ {
		if solve(rest, target-t.stride*x, steps) {
			return true
		}
	}
	return false
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func floorDiv(a, b int) int { // b > 0
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int) int { return -floorDiv(-a, b) }

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}
