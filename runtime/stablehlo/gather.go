package stablehlo

import (
	"fmt"
	"slices"
)

// GatherDims says how a gather reads: every index vector (along
// IndexVectorDim of the indices, or the elements themselves when that is
// their rank) names a start in the axes StartIndexMap of the operand; a slice
// is taken there, loses CollapsedSlice and OperandBatch, and its axes become
// the axes Offset of the result.
type GatherDims struct {
	Offset, CollapsedSlice     []int
	OperandBatch, IndicesBatch []int
	StartIndexMap              []int
	IndexVectorDim             int
	Sorted                     bool // the index vectors are in order
}

// Gather writes gather. Starts that would leave the operand are moved back inside.
func (w *Writer) Gather(x, indices Value, g GatherDims, sliceSizes []int) Value {
	batch := withoutAxis(indices.Spec.Dims, g.IndexVectorDim)
	slice := without(sliceSizes, slices.Concat(g.CollapsedSlice, g.OperandBatch))
	dims := make([]int, 0, len(batch)+len(slice))
	for i := range len(batch) + len(slice) {
		if slices.Contains(g.Offset, i) {
			dims, slice = append(dims, slice[0]), slice[1:]
		} else {
			dims, batch = append(dims, batch[0]), batch[1:]
		}
	}
	return w.Do("gather", like(x, dims), "dimension_numbers = #stablehlo.gather<"+list(
		field("offset_dims", g.Offset),
		field("collapsed_slice_dims", g.CollapsedSlice),
		field("operand_batching_dims", g.OperandBatch),
		field("start_indices_batching_dims", g.IndicesBatch),
		field("start_index_map", g.StartIndexMap),
		fmt.Sprintf("index_vector_dim = %d", g.IndexVectorDim),
	)+fmt.Sprintf(">, indices_are_sorted = %t, slice_sizes = ", g.Sorted)+I64s(sliceSizes), x, indices)
}

// withoutAxis drops one axis, none when it is the rank.
func withoutAxis(dims []int, axis int) []int {
	if axis >= len(dims) {
		return dims
	}
	return without(dims, []int{axis})
}

// ScatterDims is the counterpart of GatherDims for a write: the axes
// UpdateWindow of the updates are the slice, InsertedWindow the axes of the
// operand it does not have.
type ScatterDims struct {
	UpdateWindow, InsertedWindow []int
	InputBatch, IndicesBatch     []int
	ToOperand                    []int
	IndexVectorDim               int
	Sorted, Unique               bool // index vectors are in order; none comes twice
}

// Scatter writes scatter of updates into x, combined by the StableHLO op body;
// "" replaces. Slices that leave the operand are dropped.
func (w *Writer) Scatter(body string, x, indices, updates Value, d ScatterDims) Value {
	return w.ScatterRegion([]Value{x}, indices, []Value{updates}, d, Binary(body))[0]
}

// ScatterRegion is Scatter into several operands of one shape with a region
// of its own: (old1, …, oldn, new1, …, newn) → n scalars.
func (w *Writer) ScatterRegion(xs []Value, indices Value, updates []Value, d ScatterDims, r Region) []Value {
	return w.Op("stablehlo.scatter", slices.Concat(xs, []Value{indices}, updates), specs(xs),
		fmt.Sprintf("indices_are_sorted = %t, scatter_dimension_numbers = #stablehlo.scatter<", d.Sorted)+list(
			field("update_window_dims", d.UpdateWindow),
			field("inserted_window_dims", d.InsertedWindow),
			field("input_batching_dims", d.InputBatch),
			field("scatter_indices_batching_dims", d.IndicesBatch),
			field("scatter_dims_to_operand_dims", d.ToOperand),
			fmt.Sprintf("index_vector_dim = %d", d.IndexVectorDim),
		)+fmt.Sprintf(">, unique_indices = %t", d.Unique),
		region(slices.Concat(scalars(xs), scalars(updates)), r))
}

// TakeAxis gathers whole slices along one axis: result[…, i…, …] =
// x[…, indices[i…], …], the indices in place of the axis.
func (w *Writer) TakeAxis(x, indices Value, axis int) Value {
	n, k := len(x.Spec.Dims), len(indices.Spec.Dims)
	g := GatherDims{CollapsedSlice: []int{axis}, StartIndexMap: []int{axis}, IndexVectorDim: k}
	sizes := append([]int(nil), x.Spec.Dims...)
	sizes[axis] = 1
	for i := range n - 1 + k {
		if i < axis || i >= axis+k {
			g.Offset = append(g.Offset, i)
		}
	}
	return w.Gather(x, indices, g, sizes)
}

// TakeAlong gathers single elements along one axis: result[…, i, …] =
// x[…, indices[…, i, …], …]. Other axes of the indices may be smaller than those of x.
func (w *Writer) TakeAlong(x, indices Value, axis int) Value {
	n := len(x.Spec.Dims)
	for i, d := range indices.Spec.Dims {
		if i != axis && d != x.Spec.Dims[i] {
			x = w.SliceAxis(x, i, 0, d, 1)
		}
	}
	g := GatherDims{CollapsedSlice: []int{axis}, StartIndexMap: []int{axis}, IndexVectorDim: n}
	for i := range n {
		if i != axis {
			g.OperandBatch = append(g.OperandBatch, i)
			g.IndicesBatch = append(g.IndicesBatch, i)
		}
	}
	return w.Gather(x, indices, g, fill(nil, n, 1))
}

// PutAlong is the write of TakeAlong: x[…, indices[…, i, …], …] becomes its
// combination with updates[…, i, …] by the op body, "" replaces.
func (w *Writer) PutAlong(body string, x, indices, updates Value, axis int) Value {
	n := len(x.Spec.Dims)
	// A full index for every element, so that indices may be smaller than x.
	full := append(append([]int(nil), indices.Spec.Dims...), 1)
	parts := make([]Value, n)
	for i := range n {
		p := indices
		if i != axis {
			p = w.Iota(indices.Spec, i)
		}
		parts[i] = w.Reshape(p, full)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return w.Scatter(body, x, w.Concatenate(n, parts...), updates,
		ScatterDims{InsertedWindow: all, ToOperand: all, IndexVectorDim: n})
}
