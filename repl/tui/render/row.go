package render

// The bytes that things cost, for choosing: a move of the cursor, a change of
// style, two moves and two sequences that shift a row.
const (
	moveBytes  = 5
	penBytes   = 8
	shiftBytes = 20
)

// minSame is how many cells at least are moved over: words stay together on the wire.
const minSame = 4

// paintRow makes the terminal's row y that of p.line.
func (p *Painter) paintRow(y int) {
	old, new := p.shown[y], p.line
	first, last := 0, len(new)-1
	for first <= last && old[first] == new[first] {
		first++
	}
	for last >= first && old[last] == new[last] {
		last--
	}
	if first > last {
		return
	}
	if k := shifted(old, new, first, last); k != 0 {
		old = p.shift(old, y, first, last, k)
	}
	for x := first; x <= last; {
		if old[x] == new[x] || new[x].width == 0 {
			x++
			continue
		}
		x = p.run(old, new, x, last, y)
	}
}

// run writes from x, where the rows differ, until it is cheaper to move on, and
// gives the cell after.
func (p *Painter) run(old, new []cell, x, last, y int) int {
	p.move(x, y)
	for x <= last {
		if n, cost := p.same(old, new, x, last); n >= minSame && cost > moveBytes {
			return x + n
		}
		if n := blanks(new[x:]); x+n == len(new) && n > 3 || n > 8 {
			return p.erase(len(new), x, n, y)
		}
		if new[x].width == 0 { // the half that its letter wrote
			x++
			continue
		}
		if p.y != y { // after a letter that not all terminals count alike
			p.move(x, y)
		}
		p.write(new[x])
		x++
	}
	return x
}

// erase blanks n cells of a row of w without writing them, and gives the cell after.
func (p *Painter) erase(w, x, n, y int) int {
	if p.y != y {
		p.move(x, y)
	}
	p.setPen(0)
	if x+n == w {
		p.out = append(p.out, "\x1b[K"...)
		return w
	}
	p.csi(n, 0, 'X')
	return x + n
}

// blanks counts the plain spaces that a row begins with.
func blanks(row []cell) int {
	n := 0
	for n < len(row) && row[n] == blank {
		n++
	}
	return n
}

// same counts the cells from x on that need no writing, and what writing them
// would cost.
func (p *Painter) same(old, new []cell, x, last int) (n, cost int) {
	pen := p.pen
	for x+n <= last && old[x+n] == new[x+n] {
		cost += len(new[x+n].text)
		if new[x+n].style != pen {
			cost += penBytes
			pen = new[x+n].style
		}
		n++
	}
	return n, cost
}

// maxShift is by how many cells at most text is looked for that moved within its row.
const maxShift = 16

// shifted says by how many cells the text between first and last moved to the
// right (to the left when it is negative), when shifting is cheaper than writing.
func shifted(old, new []cell, first, last int) int {
	n := last - first + 1
	if n < shiftBytes || old[first].style == unknown || cost(old, new, first, last) < shiftBytes+8 {
		return 0
	}
	for x := first; x < len(old); x++ {
		if old[x].width != 1 { // terminals that shift a row may tear wide letters
			return 0
		}
	}
	for k := 1; k <= min(maxShift, n/2); k++ {
		switch {
		case moved(new[first+k:last+1], old[first:]):
			return k
		case moved(old[first+k:last+1], new[first:]):
			return -k
		}
	}
	return 0
}

// cost is about what writing new over old between two cells costs.
func cost(old, new []cell, first, last int) int {
	n := 0
	for x := first; x <= last; x++ {
		if old[x] != new[x] {
			n += len(new[x].text)
			if x > first && new[x].style != new[x-1].style {
				n += penBytes
			}
		}
	}
	return n
}

// moved says whether a row begins with cells.
func moved(cells, row []cell) bool {
	for i, c := range cells {
		if c != row[i] {
			return false
		}
	}
	return true
}

// shift moves the text between first and last by k cells and keeps what is to the
// right of it where it is; it gives the row as it is then.
func (p *Painter) shift(old []cell, y, first, last, k int) []cell {
	row := append([]cell(nil), old...)
	drop, open := last+1-k, first // where cells go and where they come
	if k < 0 {
		k = -k
		drop, open = first, last+1-k
	}
	p.setPen(0)
	p.move(drop, y)
	p.csi(k, 0, 'P')
	p.move(open, y)
	p.csi(k, 0, '@')
	copy(row[drop:], row[drop+k:])
	copy(row[open+k:], row[open:len(row)-k])
	for x := open; x < open+k; x++ {
		row[x] = blank
	}
	return row
}
