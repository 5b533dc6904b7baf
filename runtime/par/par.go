// Package par runs a loop on all processors: a pool of workers that a call
// forks onto and joins again.
//
// A worker that has nothing to do looks for the next call for a while before it
// sleeps, because waking a sleeping thread costs more than most loops last. The
// caller works too, and takes whatever no worker has begun, so a call ends in
// time even when other programs hold all other cores.
//
// The package never decides what a loop computes: f is told an index, not a
// thread. It imports the standard library only. Invariant: when Run returns or
// panics, f has been called once for every index, or a call of f has panicked,
// and no call of f is running.
package par

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spin is how long a worker looks for work before it sleeps, and a caller
	// waits for the last tasks. A sleeping thread takes about as long to come back.
	spin = 100 * time.Microsecond
	// pauses between two looks at the clock: one to three microseconds.
	pauses = 32
	// tasksAThread evens out what the threads do not do equally fast.
	tasksAThread = 4
	// lineElems is the multiple of which ranges begin, so that no two threads
	// write to one cache line whatever the size of an element.
	lineElems = 64
)

// A Pool runs one call at a time on its workers. A call that finds it taken,
// because it comes from inside of f or from another goroutine, runs on its own
// goroutine alone. Workers start with the first call that needs them.
type Pool struct {
	limit   atomic.Int32 // threads, 0: as many as Go uses
	closed  atomic.Bool
	taken   atomic.Bool // by a call; guards workers and done
	workers []*worker
	job     atomic.Pointer[job]
	done    chan struct{}
}

// New makes a pool of at most threads threads, the caller's included; 0 means
// as many as Go runs goroutines on, which follows the quota of a container.
func New(threads int) *Pool {
	p := &Pool{done: make(chan struct{}, 1)}
	p.SetThreads(threads)
	return p
}

// Default is the pool of the process. TPUSH_THREADS bounds it from the start.
var Default = sync.OnceValue(func() *Pool {
	n, err := strconv.Atoi(os.Getenv("TPUSH_THREADS"))
	if err != nil {
		n = 0
	}
	return New(n)
})

// SetThreads bounds the calls that begin from now on; 0 takes the bound away.
func (p *Pool) SetThreads(n int) { p.limit.Store(int32(max(n, 0))) }

// Threads is the number of threads that a call is spread over.
func (p *Pool) Threads() int {
	n := runtime.GOMAXPROCS(0)
	if limit := int(p.limit.Load()); limit > 0 {
		return min(n, limit)
	}
	return min(n, runtime.NumCPU())
}

// Close ends the workers. Later calls run on the goroutine of their caller.
func (p *Pool) Close() {
	p.closed.Store(true)
	for _, w := range p.acquire() {
		w.wake()
	}
	p.workers = nil
	p.taken.Store(false)
}

// acquire waits for the call that holds the pool.
func (p *Pool) acquire() []*worker {
	for !p.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
	return p.workers
}

// Run calls f for each index in [0, n) and returns when all are done. Which
// thread runs which index is not fixed. A panic in f is raised again here, after
// the calls that had begun are over; the rest is left out.
func (p *Pool) Run(n int, f func(i int)) {
	threads := min(p.Threads(), n)
	if threads <= 1 || p.closed.Load() || !p.taken.CompareAndSwap(false, true) {
		for i := range n {
			f(i)
		}
		return
	}
	j := &job{f: f, n: int64(n), done: p.done}
	j.left.Store(int64(n))
	for len(p.workers) < threads-1 && !p.closed.Load() {
		w := &worker{pool: p, awake: make(chan struct{}, 1)}
		p.workers = append(p.workers, w)
		go w.loop()
	}
	j.free.Store(int64(threads - 1))
	p.job.Store(j)
	for _, w := range p.workers[:min(threads-1, len(p.workers))] {
		w.wake()
	}
	j.work()
	j.wait()
	p.job.Store(nil)
	j.f = nil // a worker may hold j until the next call
	p.taken.Store(false)
	if r := j.failed.Load(); r != nil {
		panic(*r)
	}
}

// Ranges calls f on consecutive ranges that together cover [0, n). No range but
// the last is shorter than grain; with n ≤ grain f runs once. f must write only
// what belongs to its range, and compute the same for any split.
func (p *Pool) Ranges(n, grain int, f func(lo, hi int)) {
	grain = max(grain, 1)
	if n <= 0 {
		return
	}
	threads := 1
	if n > grain {
		threads = p.Threads()
	}
	if threads == 1 {
		f(0, n)
		return
	}
	step := max(grain, (n+tasksAThread*threads-1)/(tasksAThread*threads))
	if grain >= lineElems {
		step = (step + lineElems - 1) &^ (lineElems - 1)
	}
	p.Run((n+step-1)/step, func(i int) { f(i*step, min((i+1)*step, n)) })
}

// A job is one call of Run.
type job struct {
	f      func(int)
	n      int64
	next   atomic.Int64 // the first index nobody has taken
	left   atomic.Int64 // indices not done
	free   atomic.Int64 // workers that may still join
	state  atomic.Int32
	done   chan struct{}
	failed atomic.Pointer[any]
}

const (
	running = iota
	waiting // the caller sleeps until done
	over
)

// work takes indices until none is left.
func (j *job) work() {
	for {
		i := j.next.Add(1) - 1
		if i >= j.n {
			return
		}
		j.one(int(i))
	}
}

func (j *job) one(i int) {
	defer func() {
		if r := recover(); r != nil {
			cause := r // escapes only here
			j.failed.CompareAndSwap(nil, &cause)
		}
		if j.left.Add(-1) == 0 && !j.state.CompareAndSwap(running, over) {
			j.done <- struct{}{}
		}
	}()
	if j.failed.Load() == nil {
		j.f(i)
	}
}

// wait returns when every index is done. It gives its core away after a
// while: the worker it waits for may need it.
func (j *job) wait() {
	if j.left.Load() == 0 && j.state.Load() == over {
		return
	}
	for begin := time.Now(); time.Since(begin) < spin; {
		for range pauses {
			if j.state.Load() == over {
				return
			}
			pause()
		}
	}
	if j.state.CompareAndSwap(running, waiting) {
		<-j.done
	}
}

// A worker is one goroutine of a pool.
type worker struct {
	pool   *Pool
	asleep atomic.Bool
	awake  chan struct{} // a token ends its sleep
}

func (w *worker) wake() {
	if w.asleep.CompareAndSwap(true, false) {
		w.awake <- struct{}{}
	}
}

// sleep returns at once when there is a job other than last, or the pool is closed.
func (w *worker) sleep(last *job) {
	w.asleep.Store(true)
	if w.pool.fresh(last) == nil && !w.pool.closed.Load() {
		<-w.awake
		return
	}
	if !w.asleep.CompareAndSwap(true, false) {
		<-w.awake // the token is on its way
	}
}

// fresh gives a job that is not last, or nil.
func (p *Pool) fresh(last *job) *job {
	if j := p.job.Load(); j != last {
		return j
	}
	return nil
}

func (w *worker) loop() {
	var last *job
	for !w.pool.closed.Load() {
		j := w.look(last)
		if j == nil {
			w.sleep(last)
			continue
		}
		last = j
		if j.free.Add(-1) >= 0 {
			j.work()
		}
	}
}

// look waits for a job other than last, at most as long as spin.
func (w *worker) look(last *job) *job {
	for begin := time.Now(); time.Since(begin) < spin; {
		for range pauses {
			if j := w.pool.fresh(last); j != nil {
				return j
			}
			pause()
		}
	}
	return nil
}
