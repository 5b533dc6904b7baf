package viz

import "strings"

// A BlockMap is an address space: which stretch belongs to whom. Each cell
// stands for an equal number of bytes and shows the class that has most of
// them; a cell is free only when nothing is in it.
type BlockMap struct {
	SizeBytes int64
	Blocks    []Block // in any order, not overlapping
	Classes   []Class
	Notes     []string // lines below the legend
}

// A Block is a stretch that is in use.
type Block struct {
	Offset int64
	Bytes  int64
	Class  int // index into Classes
}

// A Class is a kind of owner.
type Class struct {
	Letter  string // one cell
	Label   string
	Meaning Meaning
}

const mapLines = 4 // of the map itself, when there is a choice

// Height is the map, the legend and the notes.
func (b BlockMap) Height(w int) int { return mapLines + len(b.legend(w)) + len(b.Notes) }

// Draw implements Drawing.
func (b BlockMap) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	legend := b.legend(w)
	lines := max(min(h, 1), h-len(legend)-len(b.Notes))
	left := width(BytesShort(b.SizeBytes)) + 2
	if left*2+8 > w {
		left = 0
	}
	cols := w - 2*left
	if cols > 0 && lines > 0 && b.SizeBytes > 0 {
		b.paint(c, t, left, cols, lines)
	}
	for i, l := range legend {
		x := 0
		for _, cl := range l {
			x = c.text(x, lines+i, w, cl.Letter, cl.Meaning)
			x = c.text(x+1, lines+i, w, cl.Label, Normal) + 2
		}
	}
	if len(legend) > 0 {
		// The free cells close the legend.
		end := len(legend) - 1
		x := 0
		for _, cl := range legend[end] {
			x += width(cl.Letter) + 1 + width(cl.Label) + 2
		}
		c.text(c.text(x, lines+end, w, t.Free, Dim)+1, lines+end, w, "free", Normal)
	}
	for i, note := range b.Notes {
		c.fit(t, 0, lines+len(legend)+i, w, note, Normal)
	}
	return c.lines(t)
}

func (b BlockMap) paint(c *canvas, t Theme, left, cols, lines int) {
	n := int64(cols) * int64(lines)
	used := make([]int64, n*int64(len(b.Classes)))
	at := func(cell int64) int64 { return mulDiv(b.SizeBytes, cell, n) }
	cellOf := func(offset int64) int64 {
		i := min(n-1, int64(float64(offset)/float64(b.SizeBytes)*float64(n)))
		for i > 0 && at(i) > offset {
			i--
		}
		for i < n-1 && at(i+1) <= offset {
			i++
		}
		return i
	}
	for _, bl := range b.Blocks {
		if bl.Class < 0 || bl.Class >= len(b.Classes) || bl.Bytes <= 0 || bl.Offset < 0 || bl.Offset >= b.SizeBytes {
			continue
		}
		end := bl.SizeEnd(b.SizeBytes)
		for i := cellOf(bl.Offset); i < n && at(i) < end; i++ {
			used[i*int64(len(b.Classes))+int64(bl.Class)] += min(end, at(i+1)) - max(bl.Offset, at(i))
		}
	}
	for i := range n {
		x, y := left+int(i%int64(cols)), int(i/int64(cols))
		best, most := -1, int64(0)
		for k := range b.Classes {
			if u := used[i*int64(len(b.Classes))+int64(k)]; u > most {
				best, most = k, u
			}
		}
		if best < 0 {
			c.put(x, y, t.Free, 1, Dim)
		} else {
			c.put(x, y, b.Classes[best].Letter, 1, b.Classes[best].Meaning)
		}
	}
	for y := range lines {
		if left == 0 {
			break
		}
		from, to := BytesShort(at(int64(y)*int64(cols))), BytesShort(at(int64(y+1)*int64(cols)))
		c.text(left-1-width(from), y, left, from, Dim)
		c.text(left+cols+1, y, left*2+cols, to, Dim)
	}
}

// SizeEnd is where a block ends in a space of size bytes.
func (bl Block) SizeEnd(size int64) int64 {
	if bl.Bytes > size-bl.Offset {
		return size
	}
	return bl.Offset + bl.Bytes
}

// mulDiv is a × b / c for b ≤ c without overflow of the product.
func mulDiv(a, b, c int64) int64 { return a/c*b + a%c*b/c }

// legend breaks the classes that are used into lines of w cells, with room for
// the word free at the end.
func (b BlockMap) legend(w int) [][]Class {
	seen := make([]bool, len(b.Classes))
	for _, bl := range b.Blocks {
		if bl.Class >= 0 && bl.Class < len(seen) {
			seen[bl.Class] = true
		}
	}
	out := [][]Class{nil}
	x := 0
	for i, cl := range b.Classes {
		if !seen[i] {
			continue
		}
		n := width(cl.Letter) + 1 + width(cl.Label) + 2
		if x > 0 && x+n+len(". free") > w {
			out = append(out, nil)
			x = 0
		}
		out[len(out)-1] = append(out[len(out)-1], cl)
		x += n
	}
	return out
}

// ClassLetters gives distinct letters for names: the first letter of each that
// is not taken, large before small, or a digit.
func ClassLetters(names []string) []string {
	taken := map[string]bool{".": true}
	out := make([]string, len(names))
	for i, name := range names {
		for _, r := range strings.ToUpper(name) + strings.ToLower(name) + "0123456789*" {
			if l := string(r); (r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '*') && (!taken[l] || l == "*") {
				out[i] = l
				taken[l] = true
				break
			}
		}
	}
	return out
}
