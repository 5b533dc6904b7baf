package mem

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func TestBuffersAreAlignedAndPadded(t *testing.T) {
	p := New()
	for _, n := range []int{0, 1, 63, 64, 65, 4096, minPooled - 1, minPooled, minPooled + 1, 300_001, 1 << 20, 5<<20 + 7} {
		s, release := p.Scratch(n)
		for _, b := range [][]byte{p.Get(n), p.Zeroed(n), s} {
			if len(b) != n || cap(b) != (n+63)&^63 {
				t.Errorf("%d bytes: length %d, capacity %d", n, len(b), cap(b))
			}
			if a := uintptr(unsafe.Pointer(unsafe.SliceData(b))); a%64 != 0 {
				t.Errorf("%d bytes at %#x", n, a)
			}
		}
		release.Release()
	}
}

func TestClasses(t *testing.T) {
	last, lastSize := -1, 0
	for n := minPooled; n < 1<<30; n += n/50 + 1 {
		class, size := classOf(n)
		if size < n || size > n+n/classesPerOctave+1 {
			t.Fatalf("classOf(%d) has size %d", n, size)
		}
		if again, same := classOf(size); again != class || same != size {
			t.Fatalf("classOf(%d) = %d, %d, but its own size gives %d, %d", n, class, size, again, same)
		}
		if class < last || class == last && size != lastSize || class > last+1 && last >= 0 && n < 1<<20 {
			t.Fatalf("class %d of size %d follows class %d of size %d", class, size, last, lastSize)
		}
		last, lastSize = class, size
	}
	if last >= octaves*classesPerOctave {
		t.Errorf("class %d is not in the table", last)
	}
}

// settle collects twice: finalizers of the first have run when those of the second do.
func settle() {
	collectAndSettle()
	collectAndSettle()
}

func TestScratchComesBack(t *testing.T) {
	p := New()
	a, s := p.Scratch(1 << 20)
	first := &a[0]
	s.Release()
	if p.IdleBytes() != 1<<20 {
		t.Errorf("idle %d", p.IdleBytes())
	}
	b, s := p.Scratch(1<<20 - 1000)
	if &b[0] != first {
		t.Error("the buffer was not used again")
	}
	s.Release()
	p.Trim()
	if p.IdleBytes() != 0 {
		t.Errorf("idle %d after Trim", p.IdleBytes())
	}
}

// A buffer comes back when nothing refers to it, and not while a slice of its middle does.
func TestGarbageComesBack(t *testing.T) {
	p := New()
	b := p.Get(1 << 20)
	b[5000] = 42
	first := uintptr(unsafe.Pointer(&b[0]))
	middle := b[5000:5001]
	b = nil
	settle()
	c := p.Get(1 << 20)
	if uintptr(unsafe.Pointer(&c[0])) == first {
		t.Fatal("a buffer was given out while a slice of it lives")
	}
	for i := range c {
		c[i] = 7
	}
	if middle[0] != 42 {
		t.Fatal("the kept slice changed")
	}
	runtime.KeepAlive(middle)
	middle = nil
	settle()
	d := p.Zeroed(1 << 20)
	if uintptr(unsafe.Pointer(&d[0])) != first {
		t.Error("the buffer did not come back")
	}
	for i, x := range d {
		if x != 0 {
			t.Fatalf("byte %d of a zeroed buffer is %d", i, x)
		}
	}
	runtime.KeepAlive(c)
}

// A loop that drops its results must work in a bounded set of buffers.
func TestPacing(t *testing.T) {
	p := New()
	const n = 16 << 20
	for range 200 { // 3.2 GB
		p.Get(n)[0] = 1
		p.mu.Lock()
		out := p.outBytes
		p.mu.Unlock()
		if out > 6*minSlack {
			t.Fatalf("%d MiB are out", out>>20)
		}
	}
}

// TestFloor makes as many small arrays as a heap of a few MiB would be
// collected for a dozen times.
func TestFloor(t *testing.T) {
	p := Default()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range floorBytes / 2 / 8192 {
		sink = p.Get(8192 - 2*Align)
	}
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n > 1 {
		t.Errorf("%d collections", n)
	}
}

var sink []byte

func TestIdleBuffersAreDropped(t *testing.T) {
	p := New()
	var mu sync.Mutex
	now := time.Unix(1000, 0)
	p.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	_, s := p.Scratch(1 << 20)
	s.Release()
	settle()
	if p.IdleBytes() == 0 {
		t.Error("a buffer that was just used is gone")
	}
	mu.Lock()
	now = now.Add(2 * idleAfter)
	mu.Unlock()
	for range 2 {
		settle()
	}
	if n := p.IdleBytes(); n != 0 {
		t.Errorf("%d bytes are kept for nobody", n)
	}
}

// Buffers of several goroutines are their own, with collections all the time.
func TestConcurrentUse(t *testing.T) {
	p := New()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var held [4][]byte
			for i := range 200 {
				b := p.Get(minPooled + i*1000)
				for j := 0; j < len(b); j += 4096 {
					b[j] = byte(g*50 + i%50)
				}
				held[i%4] = b
				if h := held[(i+1)%4]; h != nil {
					for j := 0; j < len(h); j += 4096 {
						if h[j] != byte(g*50+(i-3)%50) {
							t.Errorf("goroutine %d: byte %d of round %d changed", g, j, i-3)
							return
						}
					}
				}
				if i%20 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkGet16MiB(b *testing.B) {
	p := New()
	for b.Loop() {
		x := p.Get(16 << 20)
		for i := 0; i < len(x); i += 4096 {
			x[i] = 1
		}
	}
}

// TestEmptyArraysDiffer: who tells arrays apart by where they are must not take
// two empty ones for one.
func TestEmptyArraysDiffer(t *testing.T) {
	if a, b := small(0), small(0); unsafe.SliceData(a) == unsafe.SliceData(b) {
		t.Error("two empty arrays are at one place")
	}
}

// TestPutIsUsedNext gives a buffer back by hand.
func TestPutIsUsedNext(t *testing.T) {
	p := New()
	p.Poison(true)
	a := p.Get(1 << 20)
	first := &a[0]
	p.Put(a)
	b := p.Get(1<<20 - 100)
	if &b[0] != first || b[5] != 0xa5 {
		t.Error("the buffer put back is not the next one, or was not overwritten")
	}
	p.Put(make([]byte, 16)) // smaller than what is kept
	if p.outBytes != 1<<20 {
		t.Errorf("%d bytes are out", p.outBytes)
	}
}
