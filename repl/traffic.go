package repl

import (
	"encoding/binary"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/tpush/tpush/runtime/tpu"
)

// A traffic knows what the variables of a session held when it looked last, so
// that the next cell can be told which of them it changed, in whatever way: by
// name, through a pointer, or by a method that writes to tensors.
type traffic struct {
	seed maphash.Seed
	held map[string]held // nil: it could not look
}

// held is what a variable held.
type held struct {
	sum    uint64   // of all that it leads to
	values []uint64 // those of the tensors among it
	whole  bool     // false: it leads to too much
}

// Bounds of a look: at one variable, and at all of them.
const (
	lookedBytes   = 1 << 20
	lookedObjects = 20_000
	lookedAtMost  = 16 // times as much
)

// Uses runs a cell and gives the names of the session that it read and those
// that it declared or changed, sorted. Of a name the text decides whether it is
// read, and the values that its operations took where the text says nothing (a
// closure). Whether a variable was changed what it holds decides: one that was
// set to what it was is not.
func (s *Session) Uses(text string, run func()) (reads, writes []string) {
	reads, writes = s.in.Uses(text)
	if s.traffic.held == nil {
		s.look()
	}
	before := s.traffic.held
	_, last, _ := s.disp.Recorded()
	run()
	s.look()
	after := s.traffic.held
	if before == nil || after == nil {
		return reads, writes
	}
	set := map[string]bool{}
	for _, name := range writes {
		was, now := before[name], after[name]
		if !was.whole || !now.whole || was.sum != now.sum {
			set[name] = true
		}
	}
	for name, now := range after {
		if name == "ans" || strings.HasPrefix(name, "_") { // a result, which every cell that shows one has
			continue
		}
		if was, ok := before[name]; !ok || was.whole && now.whole && was.sum != now.sum {
			set[name] = true
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			set[name] = true
		}
	}
	return s.alsoRead(reads, before, last), sortedNames(set)
}

// alsoRead adds the variables whose values operations after op number last took,
// where no name of reads leads to them.
func (s *Session) alsoRead(reads []string, before map[string]held, last uint64) []string {
	first, now, _ := s.disp.Recorded()
	if now <= last {
		return reads
	}
	explained, holders := map[uint64]bool{}, map[uint64][]string{}
	for name, h := range before {
		for _, id := range h.values {
			if slices.Contains(reads, name) {
				explained[id] = true
			}
			holders[id] = append(holders[id], name)
		}
	}
	if len(holders) == 0 {
		return reads
	}
	set := map[string]bool{}
	for _, name := range reads {
		set[name] = true
	}
	for _, r := range s.disp.History(int(now - max(last, first-min(first, 1)))) {
		if r.OpN <= last {
			continue
		}
		for _, in := range r.In {
			if explained[in.ID] {
				continue
			}
			for _, name := range holders[in.ID] {
				set[name] = true
			}
		}
	}
	return sortedNames(set)
}

func sortedNames(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for n := range set {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// look notes what the variables hold, or that it cannot be seen.
func (s *Session) look() {
	if s.traffic.seed == (maphash.Seed{}) {
		s.traffic.seed = maphash.MakeSeed()
	}
	next := make(map[string]held, len(s.traffic.held))
	l := &looker{left: lookedAtMost * lookedBytes}
	l.h.SetSeed(s.traffic.seed)
	ok := false
	quiet := s.Quiet(func() {
		ok = s.in.EachVariable(func(name string, p reflect.Value) {
			next[name] = l.variable(p)
		})
	})
	if !quiet || !ok {
		next = nil
	}
	s.traffic.held = next
}

// A looker sums what variables lead to.
type looker struct {
	h       maphash.Hash
	seen    map[visit]int
	values  []uint64
	bytes   int // that may still be taken of this variable
	objects int
	left    int // bytes of all variables
	word    [8]byte
}

type visit struct {
	p unsafe.Pointer
	t reflect.Type
}

// variable sums what the variable at p leads to.
func (l *looker) variable(p reflect.Value) held {
	l.h.Reset()
	clear(l.seen)
	l.values = nil
	l.bytes, l.objects = min(lookedBytes, l.left), lookedObjects
	l.left -= l.bytes
	l.walk(p.Elem())
	whole := l.bytes > 0 && l.objects > 0
	l.left += max(l.bytes, 0)
	return held{l.h.Sum64(), l.values, whole}
}

func (l *looker) number(n uint64) {
	binary.LittleEndian.PutUint64(l.word[:], n)
	l.h.Write(l.word[:])
	l.bytes -= len(l.word)
}

func (l *looker) text(s string) {
	l.number(uint64(len(s)))
	if l.bytes -= len(s); l.bytes > 0 {
		l.h.WriteString(s)
	}
}

// first says whether a place is come to for the first time, and writes which it is.
func (l *looker) first(p unsafe.Pointer, t reflect.Type) bool {
	if n, ok := l.seen[visit{p, t}]; ok {
		l.number(uint64(n))
		return false
	}
	if l.seen == nil {
		l.seen = map[visit]int{}
	}
	l.seen[visit{p, t}] = len(l.seen)
	return true
}

// walk follows a value. What a closure captured and what waits in a channel is
// out of its sight: they count as themselves.
func (l *looker) walk(v reflect.Value) {
	if l.objects--; l.objects < 0 || l.bytes < 0 {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		l.number(n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		l.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		l.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		maphash.WriteComparable(&l.h, v.Float())
		l.bytes -= 8
	case reflect.Complex64, reflect.Complex128:
		maphash.WriteComparable(&l.h, v.Complex())
		l.bytes -= 16
	case reflect.String:
		l.text(v.String())
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		l.number(uint64(v.Pointer()))
	case reflect.Interface:
		if v.IsNil() {
			l.number(0)
			return
		}
		l.text(v.Elem().Type().String())
		l.walk(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			l.number(0)
			return
		}
		if v.Type() == reflect.TypeFor[*tpu.Tensor]() {
			l.tensor((*tpu.Tensor)(v.UnsafePointer()))
			return
		}
		if l.first(v.UnsafePointer(), v.Type()) {
			l.walk(v.Elem())
		}
	case reflect.Slice:
		l.number(uint64(v.Len()))
		if v.Len() > 0 && l.first(v.UnsafePointer(), v.Type()) {
			l.elements(v)
		}
	case reflect.Array:
		l.elements(v)
	case reflect.Map:
		l.mapping(v)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[tpu.Tensor]() {
			if v.CanAddr() {
				l.tensor((*tpu.Tensor)(v.Addr().UnsafePointer()))
			}
			return
		}
		for i := range v.NumField() {
			l.walk(v.Field(i))
		}
	}
}

// elements follows a list; numbers are taken as they lie in memory.
func (l *looker) elements(v reflect.Value) {
	n := v.Len()
	switch k := v.Type().Elem().Kind(); {
	case n > 0 && k >= reflect.Bool && k <= reflect.Complex128 && (v.Kind() == reflect.Slice || v.CanAddr()):
		size := n * int(v.Type().Elem().Size())
		if l.bytes -= size; l.bytes > 0 {
			l.h.Write(unsafe.Slice((*byte)(v.Index(0).Addr().UnsafePointer()), size))
		}
	default:
		for i := 0; i < n && l.objects > 0; i++ {
			l.walk(v.Index(i))
		}
	}
}

// mapping follows a map in whatever order: the sums of its entries are added.
func (l *looker) mapping(v reflect.Value) {
	l.number(uint64(v.Len()))
	if v.IsNil() || !l.first(v.UnsafePointer(), v.Type()) {
		return
	}
	outer, sum := l.h, uint64(0)
	for it := v.MapRange(); it.Next() && l.objects > 0; {
		l.h.Reset()
		l.walk(it.Key())
		l.walk(it.Value())
		sum += l.h.Sum64()
	}
	l.h = outer
	l.number(sum)
}

// tensor takes the value that a tensor names, which an in-place write replaces,
// and how it is seen. One that no operation made is as good as none.
func (l *looker) tensor(t *tpu.Tensor) {
	defer func() { _ = recover() }()
	id := t.Value().ID()
	l.values = append(l.values, id)
	l.number(id)
	for _, list := range [][]int{t.Dims(), t.Strides(), {t.Offset()}} {
		l.number(uint64(len(list)))
		for _, n := range list {
			l.number(uint64(n))
		}
	}
}
