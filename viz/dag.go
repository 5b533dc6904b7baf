package viz

import (
	"cmp"
	"slices"
)

// A DAG is a graph whose edges all lead down: nodes in layers, lines between
// them. Layered makes one; drawing it shows the window that begins at (X, Y).
type DAG struct {
	X, Y   int // first cell and line that are drawn
	Marked int // node under the cursor, -1 for none

	nodes []DAGNode
	at    []place // of nodes
	wires []wire
	w, h  int
}

// A DAGNode is a box with a label, and the nodes above it that it reads.
type DAGNode struct {
	Label   string
	Meaning Meaning
	From    []int // positions of nodes that come before it in the list
}

type place struct{ x, y, w int }

// A wire is a stretch of a line, level or upright, ends included.
type wire struct{ x0, y0, x1, y1 int }

const (
	dagLabel = 30 // cells of a label at most
	dagGap   = 3  // cells between boxes
)

// A slot is a node, or the place where a long edge passes a layer.
type slot struct {
	node  int // -1 for a passing edge
	x     int // of its left end
	w     int
	above []int // slots of the layer above that lead here
	order float64
}

// Layered lays nodes out: each one line below the lowest it reads, in an order
// that keeps edges short. References that are not to an earlier node are left out.
func Layered(nodes []DAGNode) DAG {
	d := DAG{nodes: nodes, Marked: -1, at: make([]place, len(nodes))}
	if len(nodes) == 0 {
		return d
	}
	layers := d.slots()
	order(layers)
	d.position(layers)
	d.connect(layers)
	return d
}

// slots puts nodes, and what edges need between them, into layers.
func (d *DAG) slots() [][]slot {
	depth := make([]int, len(d.nodes))
	used := make([]bool, len(d.nodes))
	most := 0
	for i, n := range d.nodes {
		for _, f := range n.From {
			if f >= 0 && f < i {
				depth[i] = max(depth[i], depth[f]+1)
				used[f] = true
			}
		}
		most = max(most, depth[i])
	}
	// What reads nothing goes down to just above its first reader.
	first := make([]int, len(d.nodes))
	for i := range first {
		first[i] = most + 1
	}
	for i, n := range d.nodes {
		for _, f := range n.From {
			if f >= 0 && f < i {
				first[f] = min(first[f], depth[i])
			}
		}
	}
	for i, n := range d.nodes {
		if len(n.From) == 0 && used[i] {
			depth[i] = first[i] - 1
		}
	}
	layers := make([][]slot, most+1)
	where := make([]int, len(d.nodes)) // slot of a node in its layer
	for i, n := range d.nodes {
		l := depth[i]
		where[i] = len(layers[l])
		layers[l] = append(layers[l], slot{node: i, w: min(width(n.Label), dagLabel) + 2})
	}
	for i, n := range d.nodes {
		seen := map[int]bool{}
		for _, f := range n.From {
			if f < 0 || f >= i || seen[f] {
				continue
			}
			seen[f] = true
			above := where[f]
			for l := depth[f] + 1; l < depth[i]; l++ {
				layers[l] = append(layers[l], slot{node: -1, w: 1, above: []int{above}})
				above = len(layers[l]) - 1
			}
			s := &layers[depth[i]][where[i]]
			s.above = append(s.above, above)
		}
	}
	return layers
}

// order sorts each layer by the middle of what leads to it, down and up.
func order(layers [][]slot) {
	for l := range layers {
		for i := range layers[l] {
			layers[l][i].order = float64(i)
		}
	}
	const sweeps = 4
	for range sweeps {
		for l := 1; l < len(layers); l++ {
			for i := range layers[l] {
				s := &layers[l][i]
				if len(s.above) == 0 {
					continue
				}
				s.order = 0
				for _, a := range s.above {
					s.order += layers[l-1][a].order / float64(len(s.above))
				}
			}
			rank(layers, l)
		}
		for l := len(layers) - 2; l >= 0; l-- {
			sum, n := make([]float64, len(layers[l])), make([]float64, len(layers[l]))
			for _, s := range layers[l+1] {
				for _, a := range s.above {
					sum[a] += s.order
					n[a]++
				}
			}
			for i := range layers[l] {
				if n[i] > 0 {
					layers[l][i].order = sum[i] / n[i]
				}
			}
			rank(layers, l)
		}
	}
}

// rank sorts a layer by order, tells the layer below, and makes orders whole numbers.
func rank(layers [][]slot, l int) {
	layer := layers[l]
	perm := make([]int, len(layer))
	for i := range perm {
		perm[i] = i
	}
	slices.SortStableFunc(perm, func(a, b int) int { return cmp.Compare(layer[a].order, layer[b].order) })
	now := make([]int, len(layer))
	sorted := make([]slot, len(layer))
	for i, p := range perm {
		now[p] = i
		sorted[i] = layer[p]
		sorted[i].order = float64(i)
	}
	layers[l] = sorted
	if l+1 < len(layers) {
		for i := range layers[l+1] {
			for k, a := range layers[l+1][i].above {
				layers[l+1][i].above[k] = now[a]
			}
		}
	}
}

func (s *slot) middle() int { return s.x + s.w/2 }

// position gives slots their cells: below the middle of what leads to them
// where there is room.
func (d *DAG) position(layers [][]slot) {
	least := 0
	for l, layer := range layers {
		free := -1 << 30
		for i := range layer {
			s := &layer[i]
			want := max(free, 0)
			if l == 0 && i == 0 {
				want = 0
			}
			if len(s.above) > 0 {
				sum := 0
				for _, a := range s.above {
					sum += layers[l-1][a].middle()
				}
				want = sum/len(s.above) - s.w/2
			}
			s.x = max(want, free)
			free = s.x + s.w + dagGap
			least = min(least, s.x)
		}
	}
	for _, layer := range layers {
		for i := range layer {
			layer[i].x -= least
			d.w = max(d.w, layer[i].x+layer[i].w)
		}
	}
}

// connect gives layers their lines and draws the wires between them.
func (d *DAG) connect(layers [][]slot) {
	y := 0
	for l, layer := range layers {
		if l > 0 {
			y = d.gap(layers[l-1], layer, y)
		}
		for i := range layer {
			s := &layer[i]
			if s.node >= 0 {
				d.at[s.node] = place{s.x, y, s.w}
			} else {
				d.wires = append(d.wires, wire{s.x, y, s.x, y})
			}
		}
	}
	d.h = y + 1
}

// gap wires the layer on line y to the next one and gives the line of that.
func (d *DAG) gap(above, below []slot, y int) int {
	// An edge that does not lead straight down takes a track of its own, shared
	// by those from the same slot.
	type edge struct{ from, to, source int }
	var edges []edge
	for i := range below {
		for _, a := range below[i].above {
			edges = append(edges, edge{above[a].middle(), below[i].middle(), a})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.source, b.source) })
	type span struct{ lo, hi, source int }
	var tracks [][]span
	track := make([]int, len(edges))
	for i, e := range edges {
		lo, hi := min(e.from, e.to), max(e.from, e.to)
		k := 0
		for ; lo != hi && k < len(tracks); k++ {
			if !slices.ContainsFunc(tracks[k], func(s span) bool { return s.source != e.source && lo <= s.hi && s.lo <= hi }) {
				break
			}
		}
		if lo == hi {
			track[i] = 0
			continue
		}
		if k == len(tracks) {
			tracks = append(tracks, nil)
		}
		tracks[k] = append(tracks[k], span{lo, hi, e.source})
		track[i] = k
	}
	next := y + max(1, len(tracks)) + 1
	for i, e := range edges {
		turn := y + 1 + track[i]
		d.wires = append(d.wires, wire{e.from, y, e.from, turn}, wire{min(e.from, e.to), turn, max(e.from, e.to), turn}, wire{e.to, turn, e.to, next})
	}
	return next
}

// Size is how many cells and lines the whole graph takes.
func (d DAG) Size() (w, h int) { return d.w, d.h }

// Center moves the window of w × h cells to node i.
func (d *DAG) Center(i, w, h int) {
	if i < 0 || i >= len(d.at) {
		return
	}
	p := d.at[i]
	d.X, d.Y = p.x+p.w/2-w/2, p.y-h/2
	d.Fit(w, h)
}

// Fit moves a window of w × h cells back onto the graph.
func (d *DAG) Fit(w, h int) {
	d.X = max(0, min(d.X, d.w-w))
	d.Y = max(0, min(d.Y, d.h-h))
}

// Next is the node nearest to node i in a direction of cells and lines, i when
// there is none.
func (d DAG) Next(i, dx, dy int) int {
	if i < 0 || i >= len(d.at) {
		return min(0, len(d.at)-1)
	}
	best, least := i, 1<<60
	for k, p := range d.at {
		px, py := p.x+p.w/2-d.at[i].x-d.at[i].w/2, p.y-d.at[i].y
		if dx != 0 && (px*dx <= 0 || py != 0) || dy != 0 && py*dy <= 0 {
			continue
		}
		if far := px*px + py*py*16; far < least {
			best, least = k, far
		}
	}
	return best
}

// Height is that of the graph.
func (d DAG) Height(int) int { return max(1, d.h) }

// Draw implements Drawing.
func (d DAG) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	joints := make([]uint8, len(c.cells))
	touch := func(x, y int, bits uint8) {
		if x -= d.X; x >= 0 && x < c.w {
			if y -= d.Y; y >= 0 && y < c.h {
				joints[y*c.w+x] |= bits
			}
		}
	}
	for _, wr := range d.wires {
		if wr.y1 < d.Y || wr.y0 >= d.Y+c.h || max(wr.x0, wr.x1) < d.X || wr.x0 >= d.X+c.w {
			continue
		}
		for y := max(wr.y0, d.Y-1); y < min(wr.y1, d.Y+c.h); y++ {
			touch(wr.x0, y, 4)
			touch(wr.x0, y+1, 1)
		}
		for x := max(wr.x0, d.X-1); x < min(wr.x1, d.X+c.w); x++ {
			touch(x, wr.y0, 2)
			touch(x+1, wr.y0, 8)
		}
	}
	for i, j := range joints {
		if j != 0 {
			c.put(i%c.w, i/c.w, t.Joint[j], 1, Dim)
		}
	}
	for i, p := range d.at {
		y := p.y - d.Y
		if y < 0 || y >= c.h || p.x+p.w <= d.X || p.x >= d.X+c.w {
			continue
		}
		open, end, m := "[", "]", d.nodes[i].Meaning
		if i == d.Marked {
			open, end, m = t.Mark, "<", Hot
		}
		// What begins left of the window is drawn from its first whole letter on.
		text := letters(open + truncate(t, d.nodes[i].Label, dagLabel) + end)
		x := p.x - d.X
		for _, l := range text {
			if x >= 0 {
				c.put(x, y, l.text, l.width, m)
			}
			x += l.width
		}
	}
	return c.lines(t)
}
