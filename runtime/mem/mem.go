// Package mem gives memory to host arrays and takes it back for the next one.
//
// A large result in fresh memory costs more than computing it: the system
// clears each page when it is first touched. So buffers are kept, by size, when
// nothing refers to them any more. They are memory of the Go heap that a
// finalizer brings back: whoever holds a slice of a buffer, a value of the past,
// a view, a debugger, keeps it, and nothing has to be released by hand. Scratch
// memory with an end that is known, and arrays that their only holder gives up
// (Put), go back at once.
//
// Buffers that are given out again are not seen by the pacer of the garbage
// collector, so the pool starts collections itself when much is out.
//
// The package imports the standard library and x/sys. Invariant: a buffer is
// given out again only when no slice of it can be reached or will be used.
package mem

import (
	"math/bits"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

const (
	// Align is the alignment and padding of buffers: one cache line and one
	// AVX-512 register, so that vector loops need no tail code.
	Align = 64
	// minPooled is the least size that is kept: 32 pages, whose faults cost tens
	// of microseconds. Smaller ones cost the Go allocator less than a lock and a finalizer.
	minPooled = 128 << 10
	// classesPerOctave bounds what rounding a size up wastes to an eighth.
	classesPerOctave = 8
	octaves          = 24
	// minSlack is what may be given out between two collections at least; else half of what was out.
	minSlack = 64 << 20
	// maxIdleBytes is what is kept at most.
	maxIdleBytes = 1 << 30
	// idleAfter is how long an unused buffer stays.
	idleAfter = 10 * time.Second
	// floorBytes is what is allocated between two collections at least. A program
	// of small arrays has a heap of a few MiB and would be collected every
	// thousand operations, which costs more than the operations.
	floorBytes = 64 << 20
)

// A Pool keeps buffers. It may be used by several goroutines.
type Pool struct {
	mu         sync.Mutex
	free       [octaves * classesPerOctave][]kept
	idleBytes  int64
	outBytes   int64         // given out, not known to be garbage
	lowBytes   int64         // the least outBytes since the last collection began
	collecting chan struct{} // closed when the collection that runs is over
	watching   bool
	now        func() time.Time
	floor      []byte // see floorBytes
	poison     bool
}

type kept struct {
	buf   []byte
	since time.Time
}

// Default is the pool of the process. It holds floorBytes that nobody touches,
// hence no memory of the machine: the collector runs when as much has been
// allocated as lives, and they count as living.
var Default = sync.OnceValue(func() *Pool {
	p := New()
	p.floor = make([]byte, floorBytes)
	return p
})

// New makes an empty pool.
func New() *Pool { return &Pool{now: time.Now} }

// Get gives n bytes of unspecified contents, aligned to 64 and with capacity up
// to the next multiple of 64.
func (p *Pool) Get(n int) []byte {
	b, _ := p.get(n)
	return b
}

// Zeroed gives n bytes that are zero, aligned and padded like those of Get.
func (p *Pool) Zeroed(n int) []byte {
	b, fresh := p.get(n)
	if !fresh {
		clear(b)
	}
	return b
}

func (p *Pool) get(n int) (b []byte, fresh bool) {
	if n < minPooled {
		return small(n), true
	}
	class, size := classOf(n)
	p.pace(int64(size))
	buf := p.take(class, size)
	if fresh = buf == nil; fresh {
		buf = newLarge(size)
	}
	runtime.SetFinalizer(unsafe.SliceData(buf), func(first *byte) { p.collected(unsafe.Slice(first, size)) })
	return padded(buf, n), fresh
}

// A Scratch is memory for a while. The zero Scratch has none.
type Scratch struct {
	pool *Pool
	buf  []byte
}

// Scratch gives n bytes of unspecified contents until Release. Forgetting to
// release costs reuse, nothing else.
func (p *Pool) Scratch(n int) ([]byte, Scratch) {
	if n < minPooled {
		return small(n), Scratch{}
	}
	class, size := classOf(n)
	buf := p.take(class, size)
	if buf == nil {
		buf = newLarge(size)
	}
	return padded(buf, n), Scratch{p, buf}
}

// Release gives the memory back; nobody may use it afterwards.
func (s Scratch) Release() {
	if s.pool != nil {
		s.pool.mu.Lock()
		s.pool.outBytes -= int64(len(s.buf))
		s.pool.keep(s.buf)
		s.pool.mu.Unlock()
	}
}

// IdleBytes is what of Go's heap is nobody's: what the pool keeps for the next
// results, and the bytes that only set the collector's pace.
func (p *Pool) IdleBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idleBytes + int64(len(p.floor))
}

// Trim lets go of what nobody uses. The collector then gives it back to the system.
func (p *Pool) Trim() { p.drop(p.now().Add(time.Hour)) }

// Reclaim makes as much memory free as there is: it collects, which brings
// buffers back that are garbage, and lets go of all that nobody uses.
func (p *Pool) Reclaim() {
	collectAndSettle()
	p.Trim()
	runtime.GC()
}

// collectAndSettle collects and waits until finalizers run, as good as all that
// the collection found.
func collectAndSettle() {
	done := make(chan struct{})
	marker := new([Align]byte)
	runtime.SetFinalizer(marker, func(*[Align]byte) { close(done) })
	runtime.GC()
	<-done
	runtime.Gosched()
}

// small makes a buffer that is not kept. Go's size classes from one line up are
// whole lines, so that an object of whole lines begins on one; were it not so, a
// longer one has room to begin there.
func small(n int) []byte {
	raw := make([]byte, (max(n, 1)+Align-1)&^(Align-1)) // an empty one has a place of its own, too
	if uintptr(unsafe.Pointer(unsafe.SliceData(raw)))&(Align-1) == 0 {
		return padded(raw, n)
	}
	raw = make([]byte, n+2*Align)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & (Align - 1))
	return padded(raw[skip:], n)
}

// padded cuts a buffer to n bytes with the capacity rounded up.
func padded(b []byte, n int) []byte { return b[: n : (n+Align-1)&^(Align-1)] }

// classOf gives the class of a size and the size of its buffers.
func classOf(n int) (class, size int) {
	shift := bits.Len(uint(n-1)) - 1 - bits.Len(classesPerOctave-1)
	step := 1 << shift
	size = (n + step - 1) &^ (step - 1)
	octave := bits.Len(uint(size)) - bits.Len(minPooled)
	within := (size - 1<<(bits.Len(uint(size))-1)) >> (bits.Len(uint(size)) - 1 - bits.Len(classesPerOctave-1))
	return octave*classesPerOctave + within, size
}

// newLarge makes a buffer. Objects of this size begin on a page.
func newLarge(size int) []byte {
	b := make([]byte, size)
	adviseHuge(b)
	return b
}

// take gives the buffer of a class that was used last, or nil, and counts it.
func (p *Pool) take(class, size int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outBytes += int64(size)
	if class >= len(p.free) {
		return nil
	}
	list := p.free[class]
	if len(list) == 0 {
		return nil
	}
	b := list[len(list)-1].buf
	list[len(list)-1] = kept{}
	p.free[class] = list[:len(list)-1]
	p.idleBytes -= int64(size)
	return b
}

// keep puts a buffer where take finds it. The lock is held.
func (p *Pool) keep(b []byte) {
	class, size := classOf(len(b))
	if class >= len(p.free) || p.idleBytes+int64(size) > maxIdleBytes {
		return
	}
	p.free[class] = append(p.free[class], kept{b, p.now()})
	p.idleBytes += int64(size)
	if !p.watching {
		p.watching = true
		p.watch()
	}
}

// Put takes a buffer of Get or Zeroed back before it is garbage: nobody may use
// b, all that Get gave, or a slice of it afterwards.
func (p *Pool) Put(b []byte) {
	n := len(b)
	if n < minPooled {
		return
	}
	_, size := classOf(n)
	first := unsafe.SliceData(b)
	runtime.SetFinalizer(first, nil)
	all := unsafe.Slice(first, size)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.poison {
		for i := range all {
			all[i] = 0xa5
		}
	}
	p.outBytes -= int64(size)
	p.lowBytes = min(p.lowBytes, p.outBytes)
	p.keep(all)
}

// Poison makes Put overwrite what it takes, so that a test sees who uses it still.
func (p *Pool) Poison(on bool) {
	p.mu.Lock()
	p.poison = on
	p.mu.Unlock()
}

// collected takes a buffer back that the collector found to be garbage.
func (p *Pool) collected(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outBytes -= int64(len(b))
	p.lowBytes = min(p.lowBytes, p.outBytes)
	p.keep(b)
}

// pace starts a collection when n bytes more would be much beside what is known
// to live. It waits for one when the collector does not keep up.
func (p *Pool) pace(n int64) {
	p.mu.Lock()
	slack := max(minSlack, p.lowBytes/2)
	over := p.outBytes + n - p.lowBytes
	if over > slack && p.collecting == nil {
		p.collecting = make(chan struct{})
		go p.collect(p.collecting)
	}
	running := p.collecting
	p.mu.Unlock()
	if over > 2*slack {
		<-running
	}
}

func (p *Pool) collect(done chan struct{}) {
	collectAndSettle()
	p.mu.Lock()
	p.lowBytes = p.outBytes
	p.collecting = nil
	p.mu.Unlock()
	close(done)
}

// watch looks after each collection of the process for buffers that nobody has
// used for a while, until none is kept.
func (p *Pool) watch() {
	marker := new([Align]byte)
	runtime.SetFinalizer(marker, func(*[Align]byte) { p.drop(p.now().Add(-idleAfter)) })
}

// drop lets go of buffers kept since before a time.
func (p *Pool) drop(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for class, list := range p.free {
		n := 0
		for n < len(list) && list[n].since.Before(before) {
			p.idleBytes -= int64(len(list[n].buf))
			n++
		}
		if n > 0 {
			p.free[class] = append([]kept(nil), list[n:]...)
		}
	}
	p.watching = p.idleBytes > 0
	if p.watching {
		p.watch()
	}
}
