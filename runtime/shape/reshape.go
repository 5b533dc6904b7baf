package shape

// Reshape gives the view of the given shape, without -1 and of the same
// number of elements, or ok=false when only a copy has it. It is PyTorch's
// computeStride: neighbouring axes that lie in memory without a gap form a
// chunk, and every chunk is split anew.
func (v View) Reshape(dims []int) (w View, ok bool) {
	w = View{Dims: dims, Strides: make([]int, len(dims)), Offset: v.Offset}
	if Size(v.Dims) == 0 {
		if EqualDims(v.Dims, dims) {
			return v, true
		}
		for i := len(dims) - 1; i >= 0; i-- {
			w.Strides[i] = 1
			if i+1 < len(dims) {
				w.Strides[i] = max(dims[i+1], 1) * w.Strides[i+1]
			}
		}
		return w, true
	}
	if len(v.Dims) == 0 {
		for i := range w.Strides {
			w.Strides[i] = 1
		}
		return w, true
	}
	k := len(dims) - 1
	base := v.Strides[len(v.Strides)-1]
	chunk, filled := 1, 1
	for i := len(v.Dims) - 1; i >= 0; i-- {
		chunk *= v.Dims[i]
		if i > 0 && (v.Dims[i-1] == 1 || v.Strides[i-1] == chunk*base) {
			continue // the next axis continues the chunk
		}
		for k >= 0 && (filled < chunk || dims[k] == 1) {
			w.Strides[k] = filled * base
			filled *= dims[k]
			k--
		}
		if filled != chunk {
			return View{}, false
		}
		if i > 0 {
			base, chunk, filled = v.Strides[i-1], 1, 1
		}
	}
	return w, k < 0
}

// As is Reshape with -1 allowed, and a *NotViewableError where a copy is needed: PyTorch's view.
func (v View) As(op string, dims []int) (View, error) {
	dims, err := InferSize(op, dims, Size(v.Dims))
	if err != nil {
		return View{}, err
	}
	w, ok := v.Reshape(dims)
	if !ok {
		return View{}, &NotViewableError{op, v, dims}
	}
	return w, nil
}

// FlattenDims gives the shape with the axes from start to end merged into one; a 0-d shape becomes [1].
func FlattenDims(op string, dims []int, start, end int) ([]int, error) {
	start, err := Axis(op, start, len(dims))
	if err != nil {
		return nil, err
	}
	if end, err = Axis(op, end, len(dims)); err != nil {
		return nil, err
	}
	if start > end {
		return nil, &ArgumentError{op, "start_dim", start, "it comes after end_dim"}
	}
	if len(dims) == 0 {
		return []int{1}, nil
	}
	out := append([]int{}, dims[:start]...)
	out = append(out, Size(dims[start:end+1]))
	return append(out, dims[end+1:]...), nil
}

// UnflattenDims gives the shape with one axis split into sizes, of which one may be -1.
func UnflattenDims(op string, dims []int, axis int, sizes []int) ([]int, error) {
	if len(dims) == 0 {
		return nil, &RankError{Op: op, Dims: dims, Min: 1, Max: -1}
	}
	axis, err := Axis(op, axis, len(dims))
	if err != nil {
		return nil, err
	}
	if len(sizes) == 0 {
		return nil, &ArgumentError{op, "sizes", sizes, "it is empty"}
	}
	if sizes, err = InferSize(op, sizes, dims[axis]); err != nil {
		return nil, err
	}
	out := append([]int{}, dims[:axis]...)
	out = append(out, sizes...)
	return append(out, dims[axis+1:]...), nil
}

// Flatten merges the axes from start to end; a *NotViewableError when only a copy can.
func (v View) Flatten(start, end int) (View, error) {
	dims, err := FlattenDims("flatten", v.Dims, start, end)
	if err != nil {
		return View{}, err
	}
	return v.As("flatten", dims)
}

// Unflatten splits one axis into sizes.
func (v View) Unflatten(axis int, sizes ...int) (View, error) {
	dims, err := UnflattenDims("unflatten", v.Dims, axis, sizes)
	if err != nil {
		return View{}, err
	}
	return v.As("unflatten", dims)
}
