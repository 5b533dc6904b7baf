package worker

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tpush/tpush/runtime/par"
)

// ringBytes is what a ring holds; a longer frame passes through in pieces.
const ringBytes = 1 << 20

// spinFor is how long a side looks for bytes, or for room, before it sleeps.
const spinFor = 30 * time.Microsecond

// maxSkipped is how many waits sleep at once after looking was in vain that
// often: while both sides share a core, or the other has long work or none,
// looking only keeps the other from running.
const maxSkipped = 63

// A ringHead is the beginning of a ring in shared memory. Each word has a cache
// line of its own, because each is written by one side and read by the other.
// Positions count bytes since the beginning and never fall.
type ringHead struct {
	written  atomic.Uint64
	_        [56]byte
	taken    atomic.Uint64
	_        [56]byte
	reader   sleeper
	_        [60]byte
	writer   sleeper
	_        [60]byte
	contents [ringBytes]byte
}

// A ring is one side of a stream of bytes between two processes: one writes and
// one reads, without a system call while the other is awake. Write is not safe
// for concurrent use, nor is Read.
//
// The contents are written before the position that covers them and read after
// it; both positions are sequentially consistent, and so is the word that says
// who sleeps, so that a wake-up cannot fall between the last look and the sleep.
type ring struct {
	*ringHead
	ended         atomic.Bool // there is no other side any more
	taking, given patience    // of Read and of Write
}

func newRing(at []byte) *ring {
	return &ring{ringHead: (*ringHead)(unsafe.Pointer(unsafe.SliceData(at)))}
}

// broken is the error of positions that cannot be: something else wrote there.
func (r *ring) broken() error {
	return &FrameError{fmt.Sprintf("%d bytes written and %d read of the memory shared with it", r.written.Load(), r.taken.Load())}
}

// Read takes what is there, and waits until something is. It gives io.EOF when
// the other side ended and everything was read.
func (r *ring) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, ok := r.await(&r.reader, &r.taking, r.readable)
	if !ok {
		return 0, io.EOF
	}
	if n > ringBytes {
		return 0, r.broken()
	}
	at := r.taken.Load()
	n = min(n, uint64(len(p)))
	from := at % ringBytes
	k := copy(p[:n], r.contents[from:])
	copy(p[k:n], r.contents[:])
	r.taken.Store(at + n)
	r.writer.wake()
	return int(n), nil
}

// Write waits until all of p is in the ring. It gives io.ErrClosedPipe when the
// other side ended.
func (r *ring) Write(p []byte) (int, error) {
	if err := r.write(p, true); err != nil {
		return 0, err
	}
	return len(p), nil
}

// write is Write that leaves a sleeping reader asleep when nobody needs it
// woken: it then takes p with what comes next.
func (r *ring) write(p []byte, urgent bool) error {
	for len(p) > 0 {
		n, ok := r.await(&r.writer, &r.given, r.writable)
		if !ok || r.ended.Load() {
			return io.ErrClosedPipe
		}
		if n > ringBytes {
			return r.broken()
		}
		at := r.written.Load()
		n = min(n, uint64(len(p)))
		to := at % ringBytes
		k := copy(r.contents[to:], p[:n])
		copy(r.contents[:], p[k:n])
		r.written.Store(at + n)
		p = p[n:]
		if urgent || len(p) > 0 || r.readable() > ringBytes/2 {
			r.reader.wake()
		}
	}
	return nil
}

func (r *ring) readable() uint64 { return r.written.Load() - r.taken.Load() }
func (r *ring) writable() uint64 { return ringBytes - r.readable() }

// A patience says whether to look before sleeping.
type patience struct {
	skip int // so many waits sleep at once
	next int // so many after the next time that looking is in vain
}

// look looks for spinFor, unless that was in vain lately.
func (p *patience) look(ready func() uint64) uint64 {
	if p.skip > 0 {
		p.skip--
		return 0
	}
	for begin := time.Now(); time.Since(begin) < spinFor; {
		for range 8 {
			if n := ready(); n > 0 {
				p.next = 0
				return n
			}
			par.Pause()
		}
	}
	p.next = min(2*p.next+1, maxSkipped)
	p.skip = p.next
	return 0
}

// await waits until ready gives more than nothing; false says that the other
// side ended first.
func (r *ring) await(s *sleeper, p *patience, ready func() uint64) (uint64, bool) {
	if n := ready(); n > 0 {
		return n, true
	}
	if n := p.look(ready); n > 0 {
		return n, true
	}
	for {
		s.prepare()
		ended := r.ended.Load() // before ready: what was written before the end counts
		if n := ready(); n > 0 {
			s.cancel()
			return n, true
		}
		if ended {
			s.cancel()
			return 0, false
		}
		s.sleep()
	}
}

// end lets both sides of this process go: nobody will write or read any more.
func (r *ring) end() {
	r.ended.Store(true)
	r.reader.wake()
	r.writer.wake()
}
