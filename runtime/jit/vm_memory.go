package jit

import "unsafe"

// view gives the first n elements of a buffer as T.
func view[T any](p []uint64, n int) []T { return unsafe.Slice((*T)(unsafe.Pointer(&p[0])), n) }

func span[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func copyBytes(d, s unsafe.Pointer, n int) { copy(span[byte](d, n), span[byte](s, n)) }

// loadTile extends n stored elements to their type.
func loadTile(d []uint64, s storage, p unsafe.Pointer, n int) {
	switch s {
	case stU8:
		extend(view[uint32](d, n), span[uint8](p, n))
	case stI8:
		extend(view[int32](d, n), span[int8](p, n))
	case stU16:
		extend(view[uint32](d, n), span[uint16](p, n))
	case stI16:
		extend(view[int32](d, n), span[int16](p, n))
	case stW32:
		copy(view[uint32](d, n), span[uint32](p, n))
	case stU32:
		extend(view[uint64](d, n), span[uint32](p, n))
	default:
		copy(view[uint64](d, n), span[uint64](p, n))
	}
}

type integer interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64
}

func extend[D, S integer](d []D, s []S) {
	s = s[:len(d)]
	for i := range d {
		d[i] = D(s[i])
	}
}

// storeTile stores the low bits of n elements of 32 bits, or wide ones.
func storeTile(p unsafe.Pointer, s storage, x unsafe.Pointer, wide bool, n int) {
	if wide {
		storeLow(p, s, span[uint64](x, n))
	} else {
		storeLow(p, s, span[uint32](x, n))
	}
}

func storeLow[T uint32 | uint64](p unsafe.Pointer, s storage, x []T) {
	switch s.bytes() {
	case 1:
		extend(span[uint8](p, len(x)), x)
	case 2:
		extend(span[uint16](p, len(x)), x)
	case 4:
		extend(span[uint32](p, len(x)), x)
	default:
		extend(span[uint64](p, len(x)), x)
	}
}

// foldOp is the operation that a reduction repeats.
func foldOp(o Op) Op {
	switch o {
	case OpReduceMax:
		return OpMax
	case OpReduceMin:
		return OpMin
	}
	return OpAdd
}

// identity is what a lane starts with.
func identity(n *node) uint64 {
	switch n.op {
	case OpReduceMax:
		return least(n.typ)
	case OpReduceMin:
		return most(n.typ)
	}
	return 0
}

// startLanes sets the lanes, which hold elements of the type of n, to its identity.
func startLanes(acc *[lanes]uint64, n *node) {
	if n.typ.wide() {
		fill(acc[:], identity(n))
	} else {
		fill(view[uint32](acc[:], lanes), uint32(identity(n)))
	}
}

// foldTile folds n elements of tile i into the lanes.
func foldTile(acc *[lanes]uint64, n *node, f *vmFrame, i, count int) {
	switch n.typ {
	case F32:
		foldFloats(view[float32](acc[:], lanes), foldOp(n.op), tileOf[float32](f, i, count))
	case F64:
		foldFloats(view[float64](acc[:], lanes), foldOp(n.op), tileOf[float64](f, i, count))
	case I32:
		foldFloats(view[int32](acc[:], lanes), foldOp(n.op), tileOf[int32](f, i, count))
	default:
		foldFloats(view[int64](acc[:], lanes), foldOp(n.op), tileOf[int64](f, i, count))
	}
}

func foldFloats[T float32 | float64 | int32 | int64](acc []T, o Op, x []T) {
	acc = acc[:lanes]
	for len(x) > 0 {
		n := min(lanes, len(x))
		switch o {
		case OpAdd:
			for l, v := range x[:n] {
				acc[l] += v
			}
		case OpMax:
			for l, v := range x[:n] {
				acc[l] = max(acc[l], v)
			}
		default:
			for l, v := range x[:n] {
				acc[l] = min(acc[l], v)
			}
		}
		x = x[n:]
	}
}

// endLanes folds the lanes in halves.
func endLanes(acc *[lanes]uint64, n *node) uint64 {
	op := node{op: foldOp(n.op), typ: n.typ}
	if !n.typ.wide() {
		v := *acc
		for l, x := range view[uint32](v[:], lanes) {
			acc[l] = uint64(x)
		}
	}
	for w := lanes / 2; w > 0; w /= 2 {
		for l := range w {
			acc[l] = eval(&op, n.typ, acc[l], acc[l+w], 0)
		}
	}
	return acc[0]
}

// blocksOf is the number of blocks, at least one, of a row.
func blocksOf(cols int) int { return max(1, (cols+block-1)/block) }
