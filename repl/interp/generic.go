package interp

import (
	"iter"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"unique"
)

// genericSupport are the functions that the generic ones of cells stand on.
func (in *Interp) genericSupport() map[string]any {
	return map[string]any{
		"MakeHandle": func(v any) unique.Handle[any] { return unique.Make(v) },
		"RandN":      rand.Uint64N,
		"Pull":       in.pull,
		"ElemType":   func(p any) reflect.Type { return reflect.TypeOf(p).Elem() },
	}
}

// A box holds a pointer as atomic.Pointer does.
type box struct{ p atomic.Pointer[any] }

// held is what a box keeps: a nil pointer of any type is nil.
func held(v any) any {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
		return nil
	}
	return v
}

func value(p *any) any {
	if p == nil {
		return nil
	}
	return *p
}

// Load gives the pointer, nil if there is none.
func (b *box) Load() any { return value(b.p.Load()) }

// Store keeps a pointer.
func (b *box) Store(v any) {
	v = held(v)
	b.p.Store(&v)
}

// Swap keeps a pointer and gives the one before.
func (b *box) Swap(v any) any {
	v = held(v)
	return value(b.p.Swap(&v))
}

// CompareAndSwap keeps v if the box holds old.
func (b *box) CompareAndSwap(old, v any) bool {
	old, v = held(old), held(v)
	for {
		now := b.p.Load()
		if value(now) != old {
			return false
		}
		if b.p.CompareAndSwap(now, &v) {
			return true
		}
	}
}

// pull is iter.Pull2: the sequence runs on a goroutine of its own, which gets a
// shadow stack that goes on the caller's.
func (in *Interp) pull(seq func(yield func(x, y any) bool)) (next func() (x, y any, ok bool), stop func()) {
	caller := in.stacks.current()
	if caller == nil {
		return iter.Pull2(iter.Seq2[any, any](seq))
	}
	parent := caller.intern()
	return iter.Pull2(func(yield func(x, y any) bool) {
		s := in.stacks.attach(in, caller.run, parent)
		s.hopeless.Store(true) // it runs only while somebody waits for it
		caller.run.add(s)
		defer func() {
			caller.run.remove(s)
			in.stacks.detach(s)
		}()
		seq(yield)
	})
}
