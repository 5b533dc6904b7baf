package jit

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A machine runs one plan: the tile machine in Go, or machine code.
type machine interface {
	// frame makes the memory that one goroutine works in.
	frame() any
	// rows computes whole rows of cols elements; it moves the pointers of w.
	rows(w *work, rows, cols int)
	// begin computes the values of the row that come before the first pass.
	begin(w *work)
	// pass computes columns lo … hi of pass i; lo is a whole number of blocks.
	pass(w *work, i, lo, hi int)
	// finish folds the partial results of pass i and computes the values of the row after it.
	finish(w *work, i, cols int)
	// share gives the values of the row of one goroutine to another.
	share(to, from *work)
}

// work is what one goroutine needs to run rows.
type work struct {
	ptr    []unsafe.Pointer // of the row, for each operand
	step   []int            // bytes from row to row
	col    int              // position of the first element in its row
	params []uint64
	parts  [][]uint64       // of each reduction: the results of blocks, of maxTwins rows
	kept   []unsafe.Pointer // scratch rows
	frame  any
	rowBuf [][]uint64 // memory of kept, then of packed operands
}

// layout is what the code of a program depends on besides the program.
type layout struct {
	splat  uint64 // inputs that do not move along the row
	alias  bool   // an output is an input
	stream bool   // outputs are written past the cache
}

// variant is a program for one layout.
type variant struct {
	layout
	plan *plan
	machine
	works sync.Pool
}

// A Kernel runs one program. It may run in many goroutines at once.
type Kernel struct {
	program  *Program
	engine   *Engine
	flat     bool // the last dimension means nothing
	mu       sync.Mutex
	variants atomic.Pointer[[]*variant]
	nests    sync.Pool
	columns  *columns // of a program with sums along columns
	weight   int      // work of an element, in operations
}

func newKernel(p *Program, e *Engine) *Kernel {
	k := &Kernel{program: p, engine: e, flat: !p.rowwise() && len(p.ins) <= 64, weight: p.Ops() + 4}
	k.variants.Store(new([]*variant))
	k.columns = newColumns(p, e)
	k.flat = k.flat && k.columns == nil
	return k
}

// Program is what the kernel computes.
func (k *Kernel) Program() *Program { return k.program }

// variant finds or makes the code for a layout.
func (k *Kernel) variant(l layout) *variant {
	for _, v := range *k.variants.Load() {
		if v.layout == l {
			return v
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := *k.variants.Load()
	for _, v := range old {
		if v.layout == l {
			return v
		}
	}
	p := k.program
	if l.splat != 0 {
		rows := make([]bool, len(p.ins))
		for i := range rows {
			rows[i] = p.ins[i].row || i < 64 && l.splat>>i&1 == 1
		}
		p = p.specialize(rows)
	}
	pl := p.plan()
	v := &variant{layout: l, plan: pl, machine: k.engine.machine(pl, l)}
	all := append(append([]*variant(nil), old...), v)
	k.variants.Store(&all)
	return v
}

// maxTwins is how many rows are folded side by side at most: the sum of one row
// waits for each addition.
const maxTwins = 4

// The work of one call of machine code is bounded, so that the goroutine can be stopped between two.
const (
	callWork  = 1 << 20 // operations on elements, some 50 µs
	grainWork = 1 << 19 // the least work of one goroutine
	longWork  = 1 << 22 // a row worth more is cut although it is folded
	packed    = 512     // elements of a row that are packed at a time
	bandRows  = 16      // rows that are packed at a time: a cache line of a transposed array holds as many f32
)

// Run computes the outputs of c. The error is a *CallError.
func (k *Kernel) Run(c *Call) error {
	if k.quick(c) {
		return nil
	}
	if err := k.program.check(c); err != nil {
		return err
	}
	if k.columns != nil {
		err := k.columns.run(c)
		runtime.KeepAlive(c)
		return err
	}
	n, _ := k.nests.Get().(*nest)
	if n == nil {
		n = new(nest)
	}
	n.build(k.program, c)
	k.run(c, n)
	clear(n.base)
	k.nests.Put(n)
	runtime.KeepAlive(c)
	return nil
}

func (k *Kernel) run(c *Call, n *nest) {
	if n.rows == 0 || n.cols == 0 && !k.program.rowwise() {
		return
	}
	n.stream = n.streams(k.program, k.engine.stream)
	v := k.variant(n.layout)
	n.waits(v, len(v.plan.ins), len(v.plan.ins)+len(v.plan.outs))
	perCall := min(max(callWork/k.weight, 1<<12), 1<<16) &^ 63
	grain := max(grainWork/k.weight, 1<<11)
	whole := k.program.whole()
	if whole && (n.cols > k.engine.longRow || n.cols > 4*block && n.cols*k.weight > longWork) {
		k.runLong(c, n, v, perCall, grain)
		return
	}
	chunk := n.cols
	switch {
	case whole:
	case len(n.packs) > 0:
		chunk = min(chunk, packed)
	case chunk > perCall:
		chunk = perCall
	}
	chunk = max(chunk, 1)
	chunks := (n.cols + chunk - 1) / chunk
	chunks = max(chunks, 1)
	if len(n.packs) > 0 {
		n.band = max(1, min(bandRows, bandRows*packed/chunk))
	}
	units := (n.rows + n.band - 1) / n.band * chunks
	grain = max(1, grain/chunk/n.band)
	if c.Parallel == nil || units <= grain {
		k.units(c, n, v, chunk, chunks, perCall, 0, units)
		return
	}
	c.Parallel(units, grain, func(lo, hi int) { k.units(c, n, v, chunk, chunks, perCall, lo, hi) })
}

func contains(xs []int, x int) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}

// units computes units lo … hi, each a chunk of columns of one row, or of a band
// of rows when operands are packed.
func (k *Kernel) units(c *Call, n *nest, v *variant, chunk, chunks, perCall, lo, hi int) {
	w := v.work(c, n, chunk)
	inner := n.inner()
	for lo < hi {
		r, col := lo/chunks*n.band, lo%chunks*chunk
		cols := min(chunk, n.cols-col)
		if len(n.packs) > 0 {
			for end := min(r+n.band, n.rows); r < end; {
				m := min(end-r, inner-r%inner)
				n.seek(w, r, col)
				k.packedRows(n, v, w, m, cols)
				r += m
			}
			lo++
			continue
		}
		rows := 1
		if chunks == 1 {
			rows = min(hi-lo, inner-r%inner, max(1, perCall/max(1, cols)))
		}
		n.seek(w, r, col)
		v.rows(w, rows, cols)
		lo += rows
	}
	v.free(w)
}

// runLong computes rows of which each is worth several goroutines.
func (k *Kernel) runLong(c *Call, n *nest, v *variant, perCall, grain int) {
	w := v.work(c, n, n.cols)
	rank, ins := len(n.dims), len(v.plan.ins)
	perCall = max(perCall&^(block-1), block)
	for r := range n.rows {
		n.seek(w, r, 0)
		row := append([]unsafe.Pointer(nil), w.ptr...)
		for i, o := range n.packs {
			w.ptr[o] = unsafe.Pointer(&w.rowBuf[len(v.plan.kept)+i][0])
			if o < ins {
				copyElements(w.ptr[o], row[o], 1, n.cols, [2]int{0, v.plan.ins[o].size}, [2]int{0, n.str[o*rank+rank-1]}, v.plan.ins[o].size)
			}
		}
		v.begin(w)
		for i := range v.plan.passes {
			walk := func(lo, hi int) {
				u := v.work(c, n, 0)
				copy(u.ptr, w.ptr)
				u.parts, u.kept, u.col = w.parts, w.kept, 0
				v.share(u, w)
				for lo, hi = lo*block, min(hi*block, n.cols); lo < hi; lo += perCall {
					v.pass(u, i, lo, min(lo+perCall, hi))
				}
				u.parts, u.kept = nil, nil
				v.free(u)
			}
			if c.Parallel == nil {
				walk(0, blocksOf(n.cols))
			} else {
				c.Parallel(blocksOf(n.cols), max(1, grain/block), walk)
			}
			v.finish(w, i, n.cols)
		}
		for _, o := range n.packs {
			if o >= ins {
				copyElements(row[o], w.ptr[o], 1, n.cols, [2]int{0, n.str[o*rank+rank-1]}, [2]int{0, v.plan.outs[o-ins].size}, v.plan.outs[o-ins].size)
			}
		}
	}
	v.free(w)
}

// work gives the memory of one goroutine for rows of up to cols elements; none
// when the caller lends its own.
func (v *variant) work(c *Call, n *nest, cols int) *work {
	w, _ := v.works.Get().(*work)
	if w == nil {
		w = v.newWork()
	}
	w.params = c.Params
	rank := len(n.dims)
	if rank > 1 {
		for k := range w.step {
			w.step[k] = n.str[k*rank+rank-2]
		}
	}
	if cols == 0 && n.cols > 0 {
		return w
	}
	if folds := v.plan.folds; folds > 0 {
		if w.parts == nil {
			w.parts = make([][]uint64, folds)
		}
		for i := range w.parts {
			if n := maxTwins * blocksOf(cols); len(w.parts[i]) < n {
				w.parts[i] = make([]uint64, nextPow2(n))
			}
		}
	}
	rows := len(v.plan.kept) + len(n.packs)
	for len(w.rowBuf) < rows {
		w.rowBuf = append(w.rowBuf, nil)
	}
	if w.kept == nil && rows > 0 {
		w.kept = make([]unsafe.Pointer, len(v.plan.kept))
	}
	for i := range rows {
		words := cols + padWords
		if i >= len(v.plan.kept) {
			words = n.band*cols + padWords
		}
		if len(w.rowBuf[i]) < words {
			w.rowBuf[i] = make([]uint64, nextPow2(words))
		}
		if i < len(w.kept) {
			w.kept[i] = unsafe.Pointer(&w.rowBuf[i][0])
		}
	}
	return w
}

func (v *variant) newWork() *work {
	ops := len(v.plan.ins) + len(v.plan.outs)
	return &work{ptr: make([]unsafe.Pointer, ops), step: make([]int, ops), frame: v.frame()}
}

// padWords are unused words after a scratch row: whole groups are written to it.
const padWords = lanes

// free gives w back.
func (v *variant) free(w *work) {
	clear(w.ptr)
	w.params = nil
	v.works.Put(w)
}
