package kernel

import "math"

// LDLFactor gives the factors of a symmetric A = P·L·D·Lᵀ·Pᵀ with blocks of one
// or two rows in D, in LAPACK's form (Bunch and Kaufman, lower triangle): pivots
// hold the row swapped with, from 1, negative twice for a block of two. The
// last result is the first block that is zero, from 1; 0: none.
func LDLFactor(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		copy(out[0], in[0])
		out[2][0] = float64(bunchKaufman(out[0], n, out[1]))
		return nil
	})
}

func bunchKaufman(a []float64, n int, pivots []float64) (info int) {
	alpha := (1 + math.Sqrt(17)) / 8
	at := func(i, j int) *float64 { // of the lower triangle
		if i < j {
			i, j = j, i
		}
		return &a[i*n+j]
	}
	for k := 0; k < n; {
		step, kp := 1, k
		diag := math.Abs(a[k*n+k])
		imax, colmax := k, 0.0
		for i := k + 1; i < n; i++ {
			if x := math.Abs(a[i*n+k]); x > colmax {
				imax, colmax = i, x
			}
		}
		if max(diag, colmax) == 0 {
			if info == 0 {
				info = k + 1
			}
		} else if diag < alpha*colmax {
			rowmax := 0.0
			for j := k; j < n; j++ {
				if j != imax {
					rowmax = max(rowmax, math.Abs(*at(imax, j)))
				}
			}
			switch {
			case diag >= alpha*colmax*(colmax/rowmax):
			case math.Abs(a[imax*n+imax]) >= alpha*rowmax:
				kp = imax
			default:
				kp, step = imax, 2
			}
		}
		kk := k + step - 1
		if kp != kk { // rows and columns kk and kp change places
			for i := kp + 1; i < n; i++ {
				a[i*n+kk], a[i*n+kp] = a[i*n+kp], a[i*n+kk]
			}
			for j := kk + 1; j < kp; j++ {
				a[j*n+kk], a[kp*n+j] = a[kp*n+j], a[j*n+kk]
			}
			a[kk*n+kk], a[kp*n+kp] = a[kp*n+kp], a[kk*n+kk]
			if step == 2 {
				a[(k+1)*n+k], a[kp*n+k] = a[kp*n+k], a[(k+1)*n+k]
			}
		}
		if step == 1 {
			if d := a[k*n+k]; d != 0 {
				for j := k + 1; j < n; j++ {
					f := a[j*n+k] / d
					for i := j; i < n; i++ {
						a[i*n+j] -= a[i*n+k] * f
					}
				}
				for i := k + 1; i < n; i++ {
					a[i*n+k] /= d
				}
			}
			pivots[k] = float64(kp + 1)
		} else {
			d21 := a[(k+1)*n+k]
			d11, d22 := a[(k+1)*n+k+1]/d21, a[k*n+k]/d21
			t := 1 / (d11*d22 - 1) / d21
			for j := k + 2; j < n; j++ {
				w0 := t * (d11*a[j*n+k] - a[j*n+k+1])
				w1 := t * (d22*a[j*n+k+1] - a[j*n+k])
				for i := j; i < n; i++ {
					a[i*n+j] -= a[i*n+k]*w0 + a[i*n+k+1]*w1
				}
				a[j*n+k], a[j*n+k+1] = w0, w1
			}
			pivots[k], pivots[k+1] = -float64(kp+1), -float64(kp+1)
		}
		k += step
	}
	return info
}

// LDLSolve gives X with A·X = B from what LDLFactor gave of A.
func LDLSolve(c *Call) error {
	r := len(c.Out[0].Dims)
	batch, n, cols := c.Out[0].Dims[:r-2], c.Out[0].Dims[r-2], c.Out[0].Dims[r-1]
	in := []Array{expanded(c.In[0], append(append([]int{}, batch...), n, n)), expanded(c.In[1], append(append([]int{}, batch...), n)), expanded(c.In[2], c.Out[0].Dims)}
	return eachMatrix(&Call{In: in, Out: c.Out, Attrs: c.Attrs}, func(_ int, in, out [][]float64) error {
		a, piv, x := in[0], in[1], out[0]
		copy(x, in[2])
		row := func(i int) []float64 { return x[i*cols : (i+1)*cols] }
		swap := func(i, k int) {
			for j := range cols {
				x[i*cols+j], x[k*cols+j] = x[k*cols+j], x[i*cols+j]
			}
		}
		other := func(k int) int { return int(math.Abs(piv[k])) - 1 }
		for k := 0; k < n; { // P·L·D
			if piv[k] > 0 {
				swap(k, other(k))
				for i := k + 1; i < n; i++ {
					for j, b := range row(k) {
						x[i*cols+j] -= a[i*n+k] * b
					}
				}
				for j := range row(k) {
					x[k*cols+j] /= a[k*n+k]
				}
				k++
				continue
			}
			swap(k+1, other(k))
			for i := k + 2; i < n; i++ {
				for j := range cols {
					x[i*cols+j] -= a[i*n+k]*x[k*cols+j] + a[i*n+k+1]*x[(k+1)*cols+j]
				}
			}
			off := a[(k+1)*n+k]
			p, q := a[k*n+k]/off, a[(k+1)*n+k+1]/off
			d := p*q - 1
			for j := range cols {
				b0, b1 := x[k*cols+j]/off, x[(k+1)*cols+j]/off
				x[k*cols+j], x[(k+1)*cols+j] = (q*b0-b1)/d, (p*b1-b0)/d
			}
			k += 2
		}
		for k := n - 1; k >= 0; { // Lᵀ·Pᵀ
			last := k
			if piv[k] < 0 {
				last = k - 1
			}
			for c := last; c <= k; c++ {
				for i := k + 1; i < n; i++ {
					for j := range cols {
						x[c*cols+j] -= a[i*n+c] * x[i*cols+j]
					}
				}
			}
			swap(k, other(k))
			k = last - 1
		}
		return nil
	})
}
