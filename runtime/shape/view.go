package shape

// The methods below give the view that PyTorch's function of the same name
// gives: the same sizes, strides and offset over the same storage. None
// touches data. Axes and positions may count from the end. A View is never
// changed; results share no slices with it unless they are equal.

// clone copies the sizes and strides so that they can be changed.
func (v View) clone() View {
	return View{append([]int(nil), v.Dims...), append([]int(nil), v.Strides...), v.Offset}
}

// without drops one axis.
func (v View) without(axis int) View {
	w := View{Dims: make([]int, 0, len(v.Dims)), Strides: make([]int, 0, len(v.Dims)), Offset: v.Offset}
	w.Dims = append(append(w.Dims, v.Dims[:axis]...), v.Dims[axis+1:]...)
	w.Strides = append(append(w.Strides, v.Strides[:axis]...), v.Strides[axis+1:]...)
	return w
}

// Transpose swaps two axes.
func (v View) Transpose(a, b int) (View, error) {
	a, err := Axis("transpose", a, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	b, err = Axis("transpose", b, len(v.Dims))
	if err != nil || a == b {
		return v, err
	}
	w := v.clone()
	w.Dims[a], w.Dims[b] = w.Dims[b], w.Dims[a]
	w.Strides[a], w.Strides[b] = w.Strides[b], w.Strides[a]
	return w, nil
}

// Permute reorders all axes: axis i of the result is axis perm[i] of v.
func (v View) Permute(perm ...int) (View, error) {
	if len(perm) != len(v.Dims) {
		return View{}, &ArgumentError{"permute", "dims", perm, "every axis must be named once"}
	}
	axes, err := Axes("permute", perm, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	w := v.clone()
	for i, a := range axes {
		w.Dims[i], w.Strides[i] = v.Dims[a], v.Strides[a]
	}
	return w, nil
}

// MoveAxes gives the permutation of movedim: axis src[i] goes to position dst[i],
// the others keep their order.
func MoveAxes(op string, rank int, src, dst []int) ([]int, error) {
	if len(src) != len(dst) {
		return nil, &ArgumentError{op, "destination", dst, "as many positions as axes are needed"}
	}
	src, err := Axes(op, src, rank)
	if err != nil {
		return nil, err
	}
	if dst, err = Axes(op, dst, rank); err != nil {
		return nil, err
	}
	perm, moved := make([]int, rank), make([]bool, rank)
	for i := range perm {
		perm[i] = -1
	}
	if rank == 0 {
		return perm, nil
	}
	for i, s := range src {
		perm[dst[i]], moved[s] = s, true
	}
	next := 0
	for i := range perm {
		if perm[i] >= 0 {
			continue
		}
		for moved[next] {
			next++
		}
		perm[i] = next
		next++
	}
	return perm, nil
}

// Select takes one position of an axis and drops the axis.
func (v View) Select(axis, index int) (View, error) {
	if len(v.Dims) == 0 {
		return View{}, &RankError{Op: "select", Dims: v.Dims, Min: 1, Max: -1}
	}
	axis, err := Axis("select", axis, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	index, err = Index("select", index, axis, v.Dims[axis])
	if err != nil {
		return View{}, err
	}
	w := v.without(axis)
	w.Offset += index * v.Strides[axis]
	return w, nil
}

// Slice takes start, start+step, … below end. Bounds beyond the axis are cut to it, as Python does.
func (v View) Slice(axis, start, end, step int) (View, error) {
	if len(v.Dims) == 0 {
		return View{}, &RankError{Op: "slice", Dims: v.Dims, Min: 1, Max: -1}
	}
	axis, err := Axis("slice", axis, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	if step <= 0 {
		return View{}, &ArgumentError{"slice", "step", step, "it must be positive"}
	}
	start, n := SliceRange(v.Dims[axis], start, end, step)
	w := v.clone()
	w.Dims[axis] = n
	w.Strides[axis] *= step
	w.Offset += start * v.Strides[axis]
	return w, nil
}

// SliceRange cuts start and end to an axis of the given size and gives the
// first position and the count of positions. step > 0.
func SliceRange(size, start, end, step int) (first, n int) {
	cut := func(x int) int {
		if x < 0 {
			x += size
		}
		return max(0, min(x, size))
	}
	start, end = cut(start), cut(end)
	if end <= start {
		return start, 0
	}
	return start, (end-start-1)/step + 1
}

// Narrow takes length positions from start on; unlike Slice it refuses bounds beyond the axis.
func (v View) Narrow(axis, start, length int) (View, error) {
	if len(v.Dims) == 0 {
		return View{}, &RankError{Op: "narrow", Dims: v.Dims, Min: 1, Max: -1}
	}
	axis, err := Axis("narrow", axis, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	n := v.Dims[axis]
	if start < -n || start > n {
		return View{}, &IndexError{"narrow", start, axis, n}
	}
	if start < 0 {
		start += n
	}
	if length < 0 {
		return View{}, &SizeError{Op: "narrow", Dims: []int{length}}
	}
	if length > n-start {
		return View{}, &IndexError{"narrow", start + length, axis, n}
	}
	w := v.clone()
	w.Dims[axis] = length
	w.Offset += start * v.Strides[axis]
	return w, nil
}

// Expand stretches axes of size 1 (their stride becomes 0) and adds axes in
// front; -1 keeps a size.
func (v View) Expand(dims ...int) (View, error) {
	out, err := ExpandDims("expand", v.Dims, dims)
	if err != nil {
		return View{}, err
	}
	w := View{Dims: out, Strides: make([]int, len(out)), Offset: v.Offset}
	if len(v.Dims) == 0 {
		return w, nil // PyTorch gives new axes of a number stride 0, even those of size 1
	}
	lead := len(out) - len(v.Dims)
	for i := len(out) - 1; i >= 0; i-- {
		have, stride := 1, 1
		switch {
		case i >= lead:
			have, stride = v.Dims[i-lead], v.Strides[i-lead]
		case i+1 < len(out):
			stride = out[i+1] * w.Strides[i+1]
		}
		if have != out[i] {
			stride = 0
		}
		w.Strides[i] = stride
	}
	return w, nil
}

// ExpandDims gives the sizes of from stretched to the sizes to, -1 replaced.
func ExpandDims(op string, from, to []int) ([]int, error) {
	lead := len(to) - len(from)
	if lead < 0 {
		return nil, &ExpandError{op, from, to, -1}
	}
	out := append([]int(nil), to...)
	for i, d := range to {
		switch {
		case d == -1 && i >= lead:
			out[i] = from[i-lead]
		case d == -1:
			return nil, &ExpandError{op, from, to, i}
		case d < 0:
			return nil, &SizeError{Op: op, Dims: to, Axis: i}
		case i >= lead && from[i-lead] != 1 && from[i-lead] != d:
			return nil, &ExpandError{op, from, to, i}
		}
	}
	return out, CheckDims(op, out)
}

// Squeeze drops those of the given axes that have size 1; with no axes, all of size 1.
func (v View) Squeeze(axes ...int) (View, error) {
	drop := make([]bool, len(v.Dims))
	if len(axes) == 0 {
		for i := range drop {
			drop[i] = true
		}
	}
	axes, err := Axes("squeeze", axes, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	w := View{Dims: []int{}, Strides: []int{}, Offset: v.Offset}
	for _, a := range axes {
		if a < len(drop) {
			drop[a] = true
		}
	}
	for i, d := range v.Dims {
		if !drop[i] || d != 1 {
			w.Dims, w.Strides = append(w.Dims, d), append(w.Strides, v.Strides[i])
		}
	}
	return w, nil
}

// Unsqueeze inserts an axis of size 1 at position axis of the result.
func (v View) Unsqueeze(axis int) (View, error) {
	axis, err := Axis("unsqueeze", axis, len(v.Dims)+1)
	if err != nil {
		return View{}, err
	}
	stride := 1
	if axis < len(v.Dims) {
		stride = v.Dims[axis] * v.Strides[axis]
	}
	w := View{Offset: v.Offset}
	w.Dims = append(append(append(w.Dims, v.Dims[:axis]...), 1), v.Dims[axis:]...)
	w.Strides = append(append(append(w.Strides, v.Strides[:axis]...), stride), v.Strides[axis:]...)
	return w, nil
}

// AsStrided is the view with the given sizes, strides and offset of a storage
// of size elements. It is refused where it leaves the storage.
func AsStrided(dims, strides []int, offset, size int) (View, error) {
	const op = "as_strided"
	if len(dims) != len(strides) {
		return View{}, &ArgumentError{op, "stride", strides, "as many strides as sizes are needed"}
	}
	if err := CheckDims(op, dims); err != nil {
		return View{}, err
	}
	for _, s := range strides {
		if s < 0 {
			return View{}, &ArgumentError{op, "stride", strides, "a stride is negative"}
		}
	}
	if offset < 0 {
		return View{}, &ArgumentError{op, "storage_offset", offset, "it is negative"}
	}
	v := View{append([]int{}, dims...), append([]int{}, strides...), offset}
	if Size(dims) == 0 {
		return v, nil
	}
	room := size - 1 - offset
	for i, d := range dims {
		if d > 1 && strides[i] > 0 {
			if room < 0 || d-1 > room/strides[i] {
				room = -1
				break
			}
			room -= (d - 1) * strides[i]
		}
	}
	if room < 0 {
		return View{}, &ArgumentError{op, "size", dims, "the view " + v.String() + " leaves the storage of " + FormatDims([]int{size}) + " elements"}
	}
	return v, nil
}

// Diagonal takes the elements (i, i+offset) of two axes, which it drops; the diagonal becomes the last axis.
func (v View) Diagonal(offset, axis1, axis2 int) (View, error) {
	const op = "diagonal"
	if len(v.Dims) < 2 {
		return View{}, &RankError{Op: op, Dims: v.Dims, Min: 2, Max: -1}
	}
	axes, err := Axes(op, []int{axis1, axis2}, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	a, b := axes[0], axes[1]
	n := min(v.Dims[a], v.Dims[b]-offset)
	if offset < 0 {
		n = min(v.Dims[a]+offset, v.Dims[b])
	}
	n = max(n, 0)
	w := v.without(max(a, b)).without(min(a, b))
	if n > 0 {
		if offset >= 0 {
			w.Offset += offset * v.Strides[b]
		} else {
			w.Offset -= offset * v.Strides[a]
		}
	}
	w.Dims = append(w.Dims, n)
	w.Strides = append(w.Strides, v.Strides[a]+v.Strides[b])
	return w, nil
}

// Unfold makes windows of the given size along an axis, one every step
// positions; the window becomes the last axis. Windows may share elements.
func (v View) Unfold(axis, size, step int) (View, error) {
	const op = "unfold"
	axis, err := Axis(op, axis, len(v.Dims))
	if err != nil {
		return View{}, err
	}
	have, stride := 1, 1
	if len(v.Dims) > 0 {
		have, stride = v.Dims[axis], v.Strides[axis]
	}
	switch {
	case size < 0:
		return View{}, &ArgumentError{op, "size", size, "it is negative"}
	case size > have:
		return View{}, &ArgumentError{op, "size", size, "the axis has only " + FormatDims([]int{have})}
	case step <= 0:
		return View{}, &ArgumentError{op, "step", step, "it must be positive"}
	}
	w := v.clone()
	if len(v.Dims) > 0 {
		w.Dims[axis] = (have-size)/step + 1
		w.Strides[axis] *= step
	}
	w.Dims = append(w.Dims, size)
	w.Strides = append(w.Strides, stride)
	return w, nil
}
