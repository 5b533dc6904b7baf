package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// A padMap says for every position of a padded axis which position of the
// input it shows; -1: none.
type padMap []int

// padMaps gives one map for each axis. pad lists (before, after) from the last axis on.
func padMaps(in []int, pad []int, mode string) []padMap {
	maps := make([]padMap, len(in))
	for i, n := range in {
		lo, hi := 0, 0
		if k := 2 * (len(in) - 1 - i); k < len(pad) {
			lo, hi = pad[k], pad[k+1]
		}
		m := make(padMap, max(0, n+lo+hi))
		cut, left := 0, n // what negative amounts cut is not there to go around
		if mode == "circular" {
			cut = max(-lo, 0)
			left = n - cut - max(-hi, 0)
		}
		for j := range m {
			m[j] = cut + padSource(j-max(lo, -cut)-cut, left, mode)
			if mode != "circular" {
				m[j] = padSource(j-lo, n, mode)
			}
		}
		maps[i] = m
	}
	return maps
}

// padSource gives the position of an axis of size n that position p, perhaps outside, shows.
func padSource(p, n int, mode string) int {
	if p >= 0 && p < n {
		return p
	}
	switch mode {
	case "reflect":
		if p < 0 {
			return -p
		}
		return 2*(n-1) - p
	case "replicate":
		return min(max(p, 0), n-1)
	case "circular":
		return ((p % n) + n) % n
	}
	return -1
}

// Pad surrounds the input: attributes "pad", "mode" (constant, reflect,
// replicate, circular) and "value". Negative amounts cut.
func Pad(c *Call) error {
	x, out := c.In[0], c.Out[0]
	if out.Size() == 0 {
		return nil
	}
	maps := padMaps(x.Dims, c.Attrs.Ints("pad"), c.Attrs.Str("mode"))
	w := out.DType.HostBytes()
	if c.Attrs.Str("mode") == "constant" {
		fillAll(out, c.Attrs.Get("value"))
	}
	if x.Size() == 0 {
		return nil
	}
	switch w {
	case 1:
		padInto(As[uint8](out.Buf), As[uint8](x.Buf), x.View, out.Dims, maps)
	case 2:
		padInto(As[uint16](out.Buf), As[uint16](x.Buf), x.View, out.Dims, maps)
	case 4:
		padInto(As[uint32](out.Buf), As[uint32](x.Buf), x.View, out.Dims, maps)
	case 8:
		padInto(As[uint64](out.Buf), As[uint64](x.Buf), x.View, out.Dims, maps)
	case 16:
		padInto(As[complex128](out.Buf), As[complex128](x.Buf), x.View, out.Dims, maps)
	}
	return nil
}

func padInto[T any](dst, src []T, v shape.View, dims []int, maps []padMap) {
	r := len(dims)
	if r == 0 {
		dst[0] = src[v.Offset]
		return
	}
	n := dims[r-1]
	last, st := maps[r-1], v.Strides[r-1]
	Parallel(len(dst[:shape.Size(dims)])/n, max(1, 1<<14/n), func(lo, hi int) {
	rows:
		for o := lo; o < hi; o++ {
			at, rest := v.Offset, o
			for d := r - 2; d >= 0; d-- {
				p := maps[d][rest%dims[d]]
				if p < 0 {
					continue rows
				}
				at += p * v.Strides[d]
				rest /= dims[d]
			}
			row := dst[o*n : (o+1)*n]
			for j, p := range last {
				if p >= 0 {
					row[j] = src[at+p*st]
				}
			}
		}
	})
}

// PadBackward adds every element of a padded gradient to the position of the
// input it showed: the transpose of Pad. The result has the attribute "size".
func PadBackward(c *Call) error {
	switch wideType(c.Out[0].DType) {
	case dtype.F32:
		padBackward[float32](c)
	case dtype.F64:
		padBackward[float64](c)
	case dtype.C64:
		padBackward[complex64](c)
	case dtype.C128:
		padBackward[complex128](c)
	default:
		padBackward[int64](c)
	}
	return nil
}

func padBackward[T factor](c *Call) {
	g, out := c.In[0], c.Out[0]
	maps := padMaps(out.Dims, c.Attrs.Ints("pad"), c.Attrs.Str("mode"))
	res := wideResult[T](out)
	clear(res)
	src := wideElems[T](g)
	st := shape.RowMajor(out.Dims)
	r := len(out.Dims)
	if len(src) > 0 && r > 0 {
		n := g.Dims[r-1]
	rows:
		for o := range len(src) / n {
			at, rest := 0, o
			for d := r - 2; d >= 0; d-- {
				p := maps[d][rest%g.Dims[d]]
				if p < 0 {
					continue rows
				}
				at += p * st[d]
				rest /= g.Dims[d]
			}
			for j, p := range maps[r-1] {
				if p >= 0 {
					res[at+p] += src[o*n+j]
				}
			}
		}
	}
	if r == 0 {
		copy(res, src)
	}
	storeWide(out, res)
}

// fillAll sets every element of a dense array to a Go number: float64, int or bool.
func fillAll(out Array, v any) {
	n := out.Size()
	one := Array{View: shape.View{Dims: []int{}, Strides: []int{}}}
	switch v := v.(type) {
	case int:
		one.DType, one.Buf = dtype.I64, bytesOf([]int64{int64(v)})
	case bool:
		one.DType, one.Buf = dtype.Bool, []byte{0}
		if v {
			one.Buf[0] = 1
		}
	case float64:
		one.DType, one.Buf = dtype.F64, bytesOf([]float64{v})
	default:
		one.DType, one.Buf = dtype.F64, bytesOf([]float64{0})
	}
	one = Cast(one, out.DType)
	one.View = shape.View{Dims: []int{n}, Strides: []int{0}, Offset: one.Offset}
	out.View = shape.Dense([]int{n})
	Copy(out, one)
}

// PixelShuffle turns channels into pixels: [..,c·r²,h,w] → [..,c,h·r,w·r] with r "upscale_factor".
func PixelShuffle(c *Call) error {
	x, out := c.In[0], c.Out[0]
	r, k := c.Attrs.Int("upscale_factor"), len(x.Dims)-3
	v, err := x.View.Unflatten(k, x.Dims[k]/(r*r), r, r)
	if err != nil {
		return err
	}
	// [.., c, i, j, h, w] → [.., c, h, i, w, j]
	p := make([]int, 0, len(v.Dims))
	for i := range k + 1 {
		p = append(p, i)
	}
	return shuffled(out, x, v, append(p, k+3, k+1, k+4, k+2))
}

// PixelUnshuffle is the inverse of PixelShuffle, with r "downscale_factor".
func PixelUnshuffle(c *Call) error {
	x, out := c.In[0], c.Out[0]
	r, k := c.Attrs.Int("downscale_factor"), len(x.Dims)-3
	v, err := x.View.Unflatten(k+2, x.Dims[k+2]/r, r)
	if err != nil {
		return err
	}
	if v, err = v.Unflatten(k+1, x.Dims[k+1]/r, r); err != nil {
		return err
	}
	// [.., c, h, i, w, j] → [.., c, i, j, h, w]
	p := make([]int, 0, len(v.Dims))
	for i := range k + 1 {
		p = append(p, i)
	}
	return shuffled(out, x, v, append(p, k+2, k+4, k+1, k+3))
}

// ChannelShuffle transposes the channels seen as ["groups", channels/groups].
func ChannelShuffle(c *Call) error {
	x, out := c.In[0], c.Out[0]
	g := c.Attrs.Int("groups")
	v, err := x.View.Unflatten(1, g, x.Dims[1]/g)
	if err != nil {
		return err
	}
	p := []int{0, 2, 1}
	for i := 3; i < len(v.Dims); i++ {
		p = append(p, i)
	}
	return shuffled(out, x, v, p)
}

// shuffled copies x, seen as v with its axes in the order perm, to out.
func shuffled(out, x Array, v shape.View, perm []int) error {
	v, err := v.Permute(perm...)
	if err != nil {
		return err
	}
	x.View, out.View = v, shape.Dense(v.Dims)
	Copy(out, x)
	return nil
}
