package kernel

import (
	"github.com/tpush/tpush/runtime/mem"
	"github.com/tpush/tpush/runtime/simd"
)

// convolveWeightLanes is convolveWeightDirect for many channels of dy: the rows
// of a tile are neighbouring (tap, channel of x), its lanes channels of dy, which
// are packed into panels as the images are.
func convolveWeightLanes(dst, x, dy []float32, batch, o, ci int, g Conv) {
	og, in, out, taps := o/g.Groups, volume(g.In), volume(g.Out), volume(g.Kernel)
	f := g.pixels(ci)
	offsets := f.places(g)
	runs, length := f.runs(g)
	kernels, t := simd.KernelsOf[float32](simd.Chosen()), simd.TapsOf(simd.Chosen())
	n := threadsFor(batch * o * ci * taps * out)
	wide := roundUp(og, t.Narrow)
	from, to := simd.OffsetsEvery(length, 1), simd.OffsetsEvery(length, wide)
	size := f.size() + out*wide
	step := min(batch, max(n, frameBytes/(4*size*g.Groups)))
	raw, s := mem.Default().Scratch(4 * (step*g.Groups*size + g.Groups*taps*ci*wide))
	defer s.Release()
	images := As[float32](raw)
	sums := images[step*g.Groups*size:][:g.Groups*taps*ci*wide] // [group, tap, ci, og]
	panels := (og + t.Cols - 1) / t.Cols
	tiles := (length + t.Rows - 1) / t.Rows
	parts := 1 // of the tiles of a run, for threads
	for n > 1 && parts < tiles && g.Groups*panels*runs*parts < 4*n {
		parts++
	}
	for b0 := 0; b0 < batch; b0 += step {
		nb := min(step, batch-b0)
		each(n, nb*g.Groups, func(i int) {
			img := images[i*size:][:size]
			f.fill(kernels, img, x[(b0*g.Groups+i)*ci*in:][:ci*in], g.In[1], g.In[2])
			for c := 0; c < og; c += t.Cols {
				width := panelWidth(t, og, c)
				pack(kernels, img[f.size()+c*out:], matrix[float32]{dy[((b0*g.Groups+i)*og+c)*out:], out, 1}, min(width, og-c), out, width)
			}
		})
		each(n, g.Groups*panels*runs*parts, func(task int) {
			part, rest := task%parts, task/parts
			run, rest := rest%runs, rest/runs
			c, gr := rest%panels*t.Cols, rest/panels
			width := panelWidth(t, og, c)
			lo, hi := share(length, part, parts)
			for i := range nb {
				img := images[(i*g.Groups+gr)*size:][:size]
				for q := 0; q < out; q += kBlock {
					t.PlaceTiles(width, img[f.run(g, run):], from.Part(lo, hi), offsets.Part(q, min(q+kBlock, out)),
						img[f.size()+c*out+q*width:], sums[(gr*runs+run)*length*wide+c:], to.Part(lo, hi), b0+i > 0 || q > 0)
				}
			}
		})
	}
	for oc := range o {
		from := sums[oc/og*taps*ci*wide+oc%og:]
		for c := range ci {
			for k := range taps {
				dst[(oc*ci+c)*taps+k] = from[(k*ci+c)*wide]
			}
		}
	}
}
