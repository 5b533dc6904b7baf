package render

// minScrolled is how many rows must be saved for a part of the screen to be
// scrolled, maxScrolled by how many rows it is at most.
const minScrolled, maxScrolled = 4, 64

// scroll finds rows that moved up or down as a block and has the terminal move them.
func (p *Painter) scroll(rows []string) {
	h := len(rows)
	changed := 0
	for y, r := range rows {
		if r != p.rows[y] {
			changed++
		}
	}
	if changed < minScrolled {
		return
	}
	var best struct{ from, n, k, saved int }
	for k := max(1-h, -maxScrolled); k < min(h, maxScrolled); k++ {
		if k == 0 {
			continue
		}
		for y := max(0, -k); y < min(h, h-k); {
			if rows[y] != p.rows[y+k] {
				y++
				continue
			}
			from, saved := y, 0
			for y < min(h, h-k) && rows[y] == p.rows[y+k] {
				if rows[y] != p.rows[y] {
					saved++
				}
				y++
			}
			if saved > best.saved { // less the rows that the block leaves and that were right
				for v := range max(k, -k) {
					at := y + v
					if k < 0 {
						at = from + k + v
					}
					if rows[at] == p.rows[at] {
						saved--
					}
				}
			}
			if saved > best.saved {
				best.from, best.n, best.k, best.saved = from, y-from, k, saved
			}
		}
	}
	if best.saved >= minScrolled {
		p.scrollBlock(best.from, best.n, best.k)
	}
}

// scrollBlock brings n rows that stand k rows below row from (above, when k is
// negative) to row from.
func (p *Painter) scrollBlock(from, n, k int) {
	top, bottom := from, from+n+k // the part that scrolls
	if k < 0 {
		top, bottom = from+k, from+n
	}
	p.setPen(0)
	p.csi(top+1, bottom, 'r')
	p.y = -1
	p.move(0, top)
	if k > 0 {
		p.csi(k, 0, 'M')
		p.rotateRows(top, bottom, k)
	} else {
		p.csi(-k, 0, 'L')
		p.rotateRows(top, bottom, bottom-top+k)
	}
	p.out = append(p.out, "\x1b[r"...)
	p.y = -1
	gone := [2]int{bottom - k, bottom}
	if k < 0 {
		gone = [2]int{top, top - k}
	}
	for y := gone[0]; y < gone[1]; y++ {
		p.rows[y] = "\x00"
		for x := range p.shown[y] {
			p.shown[y][x] = blank
		}
	}
}

// rotateRows brings the first k rows of a part of the screen to its end.
func (p *Painter) rotateRows(top, bottom, k int) {
	rows, shown := p.rows[top:bottom], p.shown[top:bottom]
	copy(rows, append(append([]string(nil), rows[k:]...), rows[:k]...))
	copy(shown, append(append([][]cell(nil), shown[k:]...), shown[:k]...))
}
