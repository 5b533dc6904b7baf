package kernel

import "github.com/tpush/tpush/runtime/par"

// Parallel calls f on consecutive ranges that together cover [0, n), on the
// threads of par.Default, and returns when all are done. No range but the last
// is shorter than grain; with n ≤ grain, f runs once, here. Which range runs
// where is not fixed, so f must write only what belongs to its range, and must
// compute the same for any split. A panic in f is raised again in the caller,
// after the other ranges ended.
//
// f escapes to the heap: a caller that counts nanoseconds tests n first.
func Parallel(n, grain int, f func(lo, hi int)) { par.Default().Ranges(n, grain, f) }

// threads is the number of threads that a loop is spread over.
func threads() int { return par.Default().Threads() }
