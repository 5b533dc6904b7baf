package device

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// checkHBM fails when the blocks overlap, leave gaps, do not add up, are not
// merged or are not all in the tree.
func checkHBM(t *testing.T, h *HBM) {
	t.Helper()
	var at, used, padding, largest, free int64
	var live, nfree int
	wasFree := false
	for _, b := range h.Blocks() {
		if b.Addr < at || b.Addr > at && at < h.limit {
			t.Fatalf("block at %d follows the end %d", b.Addr, at)
		}
		if b.Size <= 0 || b.Addr%h.align != 0 || b.Size%h.align != 0 {
			t.Fatalf("block %d+%d is not in granules of %d", b.Addr, b.Size, h.align)
		}
		if b.Taken {
			live++
			used += b.Size
			padding += b.Size - b.Bytes
		} else {
			if wasFree {
				t.Fatalf("free block at %d is not merged with the one before", b.Addr)
			}
			if b.Addr+b.Size > h.limit {
				t.Fatalf("free block %d+%d is beyond %d", b.Addr, b.Size, h.limit)
			}
			nfree++
			free += b.Size
			largest = max(largest, b.Size)
		}
		wasFree = !b.Taken
		at = b.Addr + b.Size
	}
	if at < h.limit {
		t.Fatalf("blocks end at %d of %d", at, h.limit)
	}
	if used != h.Used() || padding != h.Padding() || live != h.Live() || largest != h.LargestFree() {
		t.Fatalf("used %d, padding %d, live %d, largest %d; blocks say %d, %d, %d, %d", h.Used(), h.Padding(), h.Live(), h.LargestFree(), used, padding, live, largest)
	}
	if h.Used() > h.Peak() {
		t.Fatalf("used %d is over the peak %d", h.Used(), h.Peak())
	}
	var walk func(b *Block) int
	walk = func(b *Block) int {
		if b == nil {
			return 0
		}
		if b.left != nil && (!b.left.before(b) || b.left.priority > b.priority) || b.right != nil && (!b.before(b.right) || b.right.priority > b.priority) {
			t.Fatalf("tree is out of order at %d", b.Addr)
		}
		return walk(b.left) + 1 + walk(b.right)
	}
	if n := walk(h.free); n != nfree {
		t.Fatalf("tree holds %d free blocks of %d", n, nfree)
	}
	var owners int64
	for _, o := range h.Owners() {
		owners += o.Bytes
	}
	if owners != used {
		t.Fatalf("owners hold %d of %d", owners, used)
	}
}

// play runs a program of one byte an operation.
func play(t *testing.T, program []byte, check func(h *HBM)) *HBM {
	h := NewHBM(1<<16, 512, nil, nil)
	var held []*Block
	for _, c := range program {
		switch {
		case c < 150:
			size := int64(c) * int64(c)
			b, err := h.Alloc(size*3/4, size, Owner{What: "t"})
			var oom *OutOfMemoryError
			if errors.As(err, &oom) {
				if h.LargestFree() >= size {
					t.Fatalf("refused %d though %d are in one piece", size, h.LargestFree())
				}
				break
			} else if err != nil {
				t.Fatal(err)
			}
			held = append(held, b)
		case c < 165 && len(held) > 2:
			n := 2 + int(c)%(len(held)-1)
			h.FreeAll(held[:n])
			held = slices.Delete(held, 0, n)
		case c < 250 && len(held) > 0:
			i := int(c) * 7 % len(held)
			h.Free(held[i])
			held = slices.Delete(held, i, i+1)
		case c < 253:
			h.SetLimit(int64(c-249) << 14)
		default:
			h.ResetPeak()
		}
		check(h)
	}
	slices.Reverse(held)
	h.FreeAll(held)
	check(h)
	if h.Used() != 0 || h.Padding() != 0 || h.Live() != 0 {
		t.Fatalf("%d B used after everything was freed", h.Used())
	}
	if h.LargestFree() != h.Limit() {
		t.Fatalf("largest free block is %d of %d", h.LargestFree(), h.Limit())
	}
	return h
}

func FuzzHBM(f *testing.F) {
	f.Add([]byte{20, 30, 140, 200, 201, 100, 99, 250, 149, 149, 149, 222, 252, 5})
	f.Add([]byte{149, 149, 149, 149, 250, 240, 252, 240, 251, 240, 240})
	f.Fuzz(func(t *testing.T, program []byte) {
		play(t, program[:min(len(program), 300)], func(h *HBM) { checkHBM(t, h) })
	})
}

func TestHBMRandomPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		program := make([]byte, 200)
		for i := range program {
			program[i] = byte(r.IntN(256))
		}
		play(t, program, func(h *HBM) { checkHBM(t, h) })
	}
}

func spec(d dtype.DType, dims ...int) *shape.Spec {
	s := shape.Of(d, dims...)
	return &s
}

func alloc(t *testing.T, h *HBM, padded int64) *Block {
	t.Helper()
	b, err := h.Alloc(padded, padded, Owner{What: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHBMTakesTheSmallestHole(t *testing.T) {
	h := NewHBM(100<<10, 512, nil, nil)
	big := alloc(t, h, 20<<10)
	alloc(t, h, 512)
	small := alloc(t, h, 4<<10)
	alloc(t, h, 512)
	second := alloc(t, h, 4<<10)
	alloc(t, h, 512)
	addr := small.Addr
	h.Free(big)
	h.Free(second)
	h.Free(small)
	if b := alloc(t, h, 3<<10); b.Addr != addr {
		t.Errorf("3 KiB went to %d, want the first hole of 4 KiB at %d", b.Addr, addr)
	}
	checkHBM(t, h)
}

func TestHBMOutOfMemory(t *testing.T) {
	h := NewHBM(16<<20, 512, nil, nil)
	line := &trace.Stack{Frames: []trace.Frame{{Cell: 4, Line: 2}}}
	var held []*Block
	for i := range 8 {
		o := Owner{Value: uint64(i), What: "params", Stack: line, Spec: spec(dtype.F32, 512, 1024)}
		b, err := h.Alloc(2<<20-100*int64(i), 2<<20, o)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, b)
	}
	h.Free(held[1])
	h.Free(held[3])
	_, err := h.Alloc(3<<20, 3<<20, Owner{What: "matmul"})
	var oom *OutOfMemoryError
	if !errors.As(err, &oom) {
		t.Fatalf("got %v", err)
	}
	if want := "matmul needs 3 MiB, 4 MiB free (largest block 2) of 16 MiB"; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if oom.Fragmentation != 0.5 || oom.PaddingBytes != h.Padding() || oom.MostPadded.Owner.Value != 7 {
		t.Errorf("got %+v", oom)
	}
	if len(oom.Largest) != 1 || oom.Largest[0].Count != 6 || oom.Largest[0].Bytes != 12<<20 || oom.Largest[0].Frame.Cell != 4 || oom.Largest[0].What != "params" {
		t.Errorf("largest: %+v", oom.Largest)
	}
	if _, err := h.Alloc(math.MaxInt64, math.MaxInt64, Owner{What: "zeros"}); !errors.As(err, &oom) || !strings.Contains(err.Error(), "needs over 8 EiB") {
		t.Errorf("got %v", err)
	}
	checkHBM(t, h)
}

func TestHBMZeroBytesHaveNoPlace(t *testing.T) {
	h := NewHBM(1024, 512, nil, nil)
	b, err := h.Alloc(0, 0, Owner{})
	if err != nil || b.Size != 0 || h.Used() != 0 || h.Live() != 0 {
		t.Errorf("block %+v, used %d, error %v", b, h.Used(), err)
	}
	h.Free(b)
	checkHBM(t, h)
}

func TestHBMLowerLimit(t *testing.T) {
	h := NewHBM(8<<10, 512, nil, nil)
	a, b := alloc(t, h, 4<<10), alloc(t, h, 2<<10)
	h.SetLimit(3 << 10)
	checkHBM(t, h)
	if h.FreeBytes() != 0 || h.LargestFree() != 0 {
		t.Errorf("free %d, largest %d", h.FreeBytes(), h.LargestFree())
	}
	h.Free(b)
	h.Free(a)
	checkHBM(t, h)
	if h.LargestFree() != 3<<10 {
		t.Errorf("largest %d", h.LargestFree())
	}
	h.SetLimit(9 << 10)
	checkHBM(t, h)
}

type sink []trace.Event

func (s *sink) Emit(e *trace.Event) { *s = append(*s, *e) }

func TestHBMEvents(t *testing.T) {
	var s sink
	h := NewHBM(8<<10, 512, &s, &Clock{HostNS: 7})
	b, _ := h.Alloc(100, 100, Owner{Value: 1, What: "add", Spec: spec(dtype.F32, 25)})
	h.Move(b, 200, Owner{Value: 2, What: "mul"})
	h.Free(b)
	want := []trace.Event{
		{Kind: trace.Alloc, AtNS: 7, Value: 1, Name: "add", Spec: "f32[25]", Bytes: 100, PaddedBytes: 512, InUseBytes: 512},
		{Kind: trace.Free, AtNS: 7, Value: 1, Name: "add", Spec: "f32[25]", Bytes: 100, PaddedBytes: 512},
		{Kind: trace.Alloc, AtNS: 7, Value: 2, Name: "mul", Bytes: 200, PaddedBytes: 512, InUseBytes: 512},
		{Kind: trace.Free, AtNS: 7, Value: 2, Name: "mul", Bytes: 200, PaddedBytes: 512},
	}
	if len(s) != len(want) {
		t.Fatalf("%d events, want %d", len(s), len(want))
	}
	for i := range want {
		if g, w := s[i], want[i]; g.Kind != w.Kind || g.AtNS != w.AtNS || g.Value != w.Value || g.Name != w.Name || g.Spec != w.Spec || g.Bytes != w.Bytes || g.PaddedBytes != w.PaddedBytes || g.InUseBytes != w.InUseBytes {
			t.Errorf("event %d\ngot  %+v\nwant %+v", i, g, w)
		}
	}
	if h.Padding() != 0 || h.Used() != 0 {
		t.Errorf("used %d, padding %d", h.Used(), h.Padding())
	}
}

func TestHBMAllocAndFreeMakeNoGarbage(t *testing.T) {
	h := NewHBM(1<<30, 512, nil, nil)
	o := Owner{What: "add"}
	if n := testing.AllocsPerRun(100, func() {
		b, _ := h.Alloc(16, 512, o)
		h.Free(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHBMAllocFree(b *testing.B) {
	h := NewHBM(1<<30, 512, nil, nil)
	o := Owner{What: "add"}
	for b.Loop() {
		x, _ := h.Alloc(16, 512, o)
		h.Free(x)
	}
}

func BenchmarkHBMAllocFreeAmong100000(b *testing.B) {
	h := NewHBM(64<<30, 512, nil, nil)
	r := rand.New(rand.NewPCG(1, 2))
	held := make([]*Block, 100_000)
	for i := range held {
		n := r.Int64N(1 << 18)
		held[i], _ = h.Alloc(n, n+1, Owner{})
	}
	for i := range held[:50_000] {
		h.Free(held[2*i])
		held[2*i], _ = h.Alloc(1, 1+r.Int64N(1<<18), Owner{})
	}
	i := 0
	for b.Loop() {
		h.Free(held[i])
		n := r.Int64N(1 << 18)
		held[i], _ = h.Alloc(n, n+1, Owner{})
		i = (i + 1) % len(held)
	}
}

// TestPasses takes bytes for a moment.
func TestPasses(t *testing.T) {
	for _, sink := range []trace.Sink{nil, trace.NewRecorder(16)} {
		h := NewHBM(1024, 512, sink, nil)
		if !h.Passes(0) || !h.Passes(1) || h.Used() != 0 || h.Peak() != 512 || !h.Passes(1024) || h.Peak() != 1024 || h.Passes(1025) {
			t.Errorf("used %d, peak %d", h.Used(), h.Peak())
		}
		b := h.TryAlloc(8, 8, &Owner{})
		if h.Passes(513) || !h.Passes(512) || h.Used() != 512 || h.LargestFree() != 512 {
			t.Errorf("used %d, largest free %d", h.Used(), h.LargestFree())
		}
		h.Free(b)
	}
}
