package op

import "github.com/tpush/tpush/runtime/kernel"

// Applied runs a row on arrays and gives its results and, for the given
// cotangents (zero arrays: none), the gradients of the inputs (zero arrays:
// none) as the row's gradient rule computes them.
func Applied(n Name, a Attrs, in []kernel.Array, weak []bool, cotangents func(out []kernel.Array) []kernel.Array) (out, grads []kernel.Array, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	vs := make([]Value, len(in))
	var xs []Value
	var at []int
	for i, x := range in {
		if !x.Valid() {
			continue
		}
		v := value(x)
		v.spec.Weak = weak[i]
		vs[i] = v
		if x.DType.IsFloat() && !weak[i] {
			xs, at = append(xs, v), append(at, i)
		}
	}
	res := evaluator{}.All(n, a, vs...)
	for _, o := range res {
		out = append(out, o.(*ev).arr)
	}
	cs := cotangents(out)
	if cs == nil {
		return out, nil, nil
	}
	dy := make([]Value, len(res))
	for i := range res {
		if i < len(cs) && cs[i].Valid() {
			dy[i] = value(cs[i])
		}
	}
	grads = make([]kernel.Array, len(in))
	for k, g := range backward(res, dy, xs) {
		if g != nil {
			grads[at[k]] = g.(*ev).arr
		}
	}
	return out, grads, nil
}
