package device

import (
	"math/bits"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
)

// A shelfPair plays one program on an allocator with shelves and on one where
// each array has a block of its own.
type shelfPair struct {
	t             *testing.T
	shelves, each *HBM
	rows          []*shelfRow
	loose         [][2]*Block
	next          uint64
}

type shelfRow struct {
	shelf  *Shelf
	used   int
	blocks [ShelfPlaces]*Block // in each
}

var shelfKinds = []*Kind{{What: "add", Spec: spec(dtype.F32, 4)}, {What: "mul", Spec: spec(dtype.BF16, 8, 8)}}

func newShelfPair(t *testing.T) *shelfPair {
	return &shelfPair{t: t, shelves: NewHBM(1<<17, 512, nil, nil), each: NewHBM(1<<17, 512, nil, nil)}
}

// put makes an array on the newest shelf; one in eight has a known place in the program.
func (p *shelfPair) put(c byte) {
	if k := len(p.rows); k == 0 || p.rows[k-1].used == ShelfPlaces {
		p.rows = append(p.rows, &shelfRow{shelf: p.shelves.NewShelf()})
	}
	r := p.rows[len(p.rows)-1]
	p.next++
	padded := []int64{512, 1024, 4096, 0}[c/8%4]
	bytes := padded - int64(c/32%2)*100*min(padded, 1)
	w := Tenant{Kind: shelfKinds[c%2], Value: p.next, Op: 2 * p.next, Launch: int(3 * p.next)}
	o := w.Owner()
	b := p.each.TryAlloc(bytes, padded, &o)
	if got := r.shelf.TryAlloc(r.used, bytes, padded, &w); got != (b != nil) {
		p.t.Fatalf("%d bytes on a shelf: %v, as a block: %v", padded, got, b != nil)
	}
	r.blocks[r.used] = b
	r.used++
}

// series makes arrays of two sizes in turns, which may be one.
func (p *shelfPair) series(c byte) {
	if k := len(p.rows); k == 0 || p.rows[k-1].used == ShelfPlaces {
		p.rows = append(p.rows, &shelfRow{shelf: p.shelves.NewShelf()})
	}
	r := p.rows[len(p.rows)-1]
	sizes := []Size{{400, 512}, {[]int64{400, 500}[c%2], []int64{512, 1024, 0}[c/2%3]}}
	var out []Result
	want := -1
	for i := range min(1+int(c/8), ShelfPlaces-r.used) {
		p.next++
		w := Tenant{Kind: shelfKinds[i%2], Value: p.next, Op: 2 * p.next, Launch: int(3 * p.next)}
		out = append(out, Result{Tenant: w, Shelf: r.shelf, At: r.used + i})
		if want >= 0 {
			continue
		}
		o := w.Owner()
		if b := p.each.TryAlloc(sizes[i%2].Bytes, sizes[i%2].Padded, &o); b != nil {
			r.blocks[r.used+i] = b
		} else {
			want = i
		}
	}
	if want < 0 {
		want = len(out)
	}
	if got := p.shelves.TryAllocAll(out, sizes); got != want {
		p.t.Fatalf("%d arrays in a row on a shelf, %d blocks", got, want)
	}
	r.used += len(out)
}

// drop gives back what a shelf has at the places of a mask.
func (p *shelfPair) drop(i int, mask uint32) {
	r := p.rows[i%len(p.rows)]
	for m := mask; m != 0; m &= m - 1 {
		if at := bits.TrailingZeros32(m); r.blocks[at] != nil {
			p.each.Free(r.blocks[at])
			r.blocks[at] = nil
		}
	}
	r.shelf.Drop(mask)
}

// take gives one array back that stands among others.
func (p *shelfPair) take(i, at int) {
	r := p.rows[i%len(p.rows)]
	if b := r.blocks[at]; b != nil {
		home := r.shelf.Home(at)
		p.shelves.Free(p.shelves.Alone(home))
		home.Put(nil)
		p.each.Free(b)
		r.blocks[at] = nil
	}
}

// step does what one byte of a program says.
func (p *shelfPair) step(c, arg byte) {
	switch {
	case c < 120 || len(p.rows) == 0:
		p.put(arg)
	case c < 150:
		p.series(arg)
	case c < 170:
		o := Owner{What: "t"}
		a, b := p.shelves.TryAlloc(300, int64(arg)*16, &o), p.each.TryAlloc(300, int64(arg)*16, &o)
		if (a == nil) != (b == nil) {
			p.t.Fatalf("a block among shelves: %v, among blocks: %v", a != nil, b != nil)
		}
		if a != nil {
			p.loose = append(p.loose, [2]*Block{a, b})
		}
	case c < 185 && len(p.loose) > 0:
		k := int(arg) % len(p.loose)
		p.shelves.Free(p.loose[k][0])
		p.each.Free(p.loose[k][1])
		p.loose[k] = p.loose[len(p.loose)-1]
		p.loose = p.loose[:len(p.loose)-1]
	case c < 215:
		p.drop(int(arg), ^uint32(0))
	case c < 225:
		p.drop(int(arg), 0x9e3779b9>>(arg%16))
	case c < 245:
		p.take(int(arg), int(arg/8))
	case c < 250:
		p.shelves.SetLimit(int64(arg) << 10)
		p.each.SetLimit(int64(arg) << 10)
	default:
		p.shelves.ResetPeak()
		p.each.ResetPeak()
	}
}

// same fails unless both allocators say the same to whoever looks.
func (p *shelfPair) same() {
	p.t.Helper()
	checkHBM(p.t, p.shelves)
	a, b := p.shelves.State(), p.each.State()
	if !reflect.DeepEqual(a, b) {
		p.t.Fatalf("with shelves\n%+v\nwith blocks\n%+v", a, b)
	}
	o := Owner{What: "more"}
	if x, y := p.shelves.Exhausted(1, 2, o), p.each.Exhausted(1, 2, o); !reflect.DeepEqual(x, y) {
		p.t.Fatalf("with shelves\n%+v\nwith blocks\n%+v", x, y)
	}
}

func (p *shelfPair) play(program []byte) {
	for i := 0; i+1 < len(program); i += 2 {
		p.step(program[i], program[i+1])
		p.same()
	}
	for i := range p.rows {
		p.drop(i, ^uint32(0))
	}
	for _, l := range p.loose {
		p.shelves.Free(l[0])
		p.each.Free(l[1])
	}
	p.same()
	if p.shelves.Used() != 0 || p.shelves.Live() != 0 {
		p.t.Fatalf("%d B in %d blocks are left", p.shelves.Used(), p.shelves.Live())
	}
}

func FuzzShelf(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 8, 220, 3, 230, 1, 0, 0, 190, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		newShelfPair(t).play(program[:min(len(program), 400)])
	})
}

func TestShelvesAreAsManyBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		program := make([]byte, 400)
		for i := range program {
			program[i] = byte(r.IntN(256))
		}
		newShelfPair(t).play(program)
	}
}

// TestAShelfIsAStrip looks at what the differential test cannot see: arrays of
// one size that follow one another are one block.
func TestAShelfIsAStrip(t *testing.T) {
	h := NewHBM(1<<20, 512, nil, nil)
	s := h.NewShelf()
	w := Tenant{Kind: shelfKinds[0]}
	for at := range ShelfPlaces {
		if !s.TryAlloc(at, 16, 512, &w) {
			t.Fatal("no room")
		}
	}
	if *s.Home(0) != *s.Home(ShelfPlaces - 1) {
		t.Error("the arrays of a shelf have more than one block")
	}
	if n := testing.AllocsPerRun(100, func() {
		s.Drop(^uint32(0))
		for at := range ShelfPlaces {
			s.TryAlloc(at, 16, 512, &w)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkShelf(b *testing.B) {
	h := NewHBM(1<<30, 512, nil, nil)
	s := h.NewShelf()
	w := Tenant{Kind: shelfKinds[0]}
	at := 0
	for b.Loop() {
		if at == ShelfPlaces {
			s.Drop(^uint32(0))
			at = 0
		}
		s.TryAlloc(at, 16, 512, &w)
		at++
	}
}
