package tpu

import (
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// A signature is what a call of a compiled function is recognized by: settings,
// types and layouts of tensors, other arguments by value. It also lists the
// tensors that the arguments lead to.
type signature struct {
	words   []uint64
	tensors []*Tensor // arguments, and elements of arguments that are lists
	nested  []*Tensor // deeper in arguments: the handles themselves count
	seen    map[visited]bool
	unknown bool // an argument has a kind whose value cannot be compared
}

// begin empties the signature for a call.
func (s *signature) begin(e *engine) *signature {
	clear(s.tensors)
	*s = signature{words: e.settings(s.words[:0]), tensors: s.tensors[:0]}
	return s
}

// kept gives the signature as its own: the function may be called inside itself.
func (s *signature) kept() *signature {
	k := *s
	*s = signature{}
	return &k
}

func equalWords(a, b []uint64) bool { return slices.Equal(a, b) }

// settings are what the same operations may become something else under.
func (e *engine) settings(words []uint64) []uint64 {
	var flags uint64
	for i, on := range [...]bool{e.noGrad > 0, e.inference > 0, e.anomaly, e.x64, e.d.Checking(), e.d.Donation()} {
		if on {
			flags |= 1 << i
		}
	}
	// The names of the precisions differ in length.
	return append(words, uint64(uintptr(unsafe.Pointer(e.d.Mode()))), flags<<8|uint64(len(e.d.Precision())))
}

// isTensors says whether t is a list of tensors.
func isTensors(t reflect.Type) bool { return t.Kind() == reflect.Slice && t.Elem() == tensorType }

// parameter adds an argument of any type.
func (s *signature) parameter(v reflect.Value) {
	switch t := v.Type(); {
	case t == tensorType:
		s.argument((*Tensor)(v.UnsafePointer()))
	case isTensors(t) && !v.IsNil():
		s.words = append(s.words, uint64(v.Len()))
		for i := range v.Len() {
			s.argument((*Tensor)(v.Index(i).UnsafePointer()))
		}
	default:
		s.value(v)
	}
}

// argument adds a tensor: what of it decides how operations on it are recorded.
func (s *signature) argument(t *Tensor) {
	at := len(s.tensors)
	s.tensors = append(s.tensors, t)
	if t == nil {
		s.words = append(s.words, 0)
		return
	}
	if t.s == nil || t.s.freed {
		s.unknown = true
		return
	}
	for i, u := range s.tensors[:at] {
		if u != nil && u.s == t.s {
			at = i
			break
		}
	}
	w := uint64(1)<<63 | uint64(t.dt)<<32 | uint64(len(t.view.Dims))<<40 | uint64(at)
	for i, on := range [...]bool{t.whole, t.weak, t.multi, t.quiet, t.s.inference} {
		if on {
			w |= 1 << (48 + i)
		}
	}
	if h := t.history(); h != nil {
		w |= 1 << 56
		if h.fn != nil {
			w |= 1 << 57
		}
		if h.grad != nil {
			w |= 1 << 58
		}
		if len(h.hooks)+len(h.after) > 0 {
			s.unknown = true
		}
	}
	s.words = append(s.words, w)
	for _, d := range t.view.Dims {
		s.words = append(s.words, uint64(d))
	}
	if !t.whole {
		l := t.layout()
		s.words = append(s.words, uint64(l.Offset))
		for _, d := range l.Strides {
			s.words = append(s.words, uint64(d))
		}
		for _, d := range t.s.value.SpecRef().Dims {
			s.words = append(s.words, uint64(d))
		}
	}
}

// value adds an argument of any type: numbers and texts by value, what pointers
// lead to once.
func (s *signature) value(v reflect.Value) {
	if !v.IsValid() {
		s.words = append(s.words, 0)
		return
	}
	s.words = append(s.words, uint64(v.Kind()))
	switch k := v.Kind(); {
	case k == reflect.Bool:
		w := uint64(0)
		if v.Bool() {
			w = 1
		}
		s.words = append(s.words, w)
	case v.CanInt():
		s.words = append(s.words, uint64(v.Int()))
	case v.CanUint():
		s.words = append(s.words, v.Uint())
	case v.CanFloat():
		s.words = append(s.words, math.Float64bits(v.Float()))
	case v.CanComplex():
		s.words = append(s.words, math.Float64bits(real(v.Complex())), math.Float64bits(imag(v.Complex())))
	case k == reflect.String:
		s.text(v.String())
	case k == reflect.Pointer:
		s.pointer(v)
	case k == reflect.Interface:
		if v.IsNil() {
			s.words = append(s.words, 0)
			return
		}
		s.words = append(s.words, typeWord(v.Elem().Type()))
		s.value(v.Elem())
	case k == reflect.Slice:
		if v.IsNil() {
			s.words = append(s.words, ^uint64(0))
			return
		}
		fallthrough
	case k == reflect.Array:
		s.words = append(s.words, uint64(v.Len()))
		for i := range v.Len() {
			s.value(v.Index(i))
		}
	case k == reflect.Struct:
		if v.Type() == tensorType.Elem() {
			s.unknown = true // a handle that the call copied
			return
		}
		for i := range v.NumField() {
			s.value(v.Field(i))
		}
	default: // maps have no order, functions and channels no value
		s.unknown = true
	}
}

func (s *signature) pointer(v reflect.Value) {
	if v.Type() == tensorType {
		t := (*Tensor)(v.UnsafePointer())
		s.words = append(s.words, uint64(v.Pointer()))
		if t != nil {
			s.nested = append(s.nested, t)
		}
		return
	}
	// The pointer itself counts too: the function may keep or compare it.
	s.words = append(s.words, uint64(v.Pointer()))
	k := visited{v.UnsafePointer(), v.Type()}
	if v.IsNil() || s.seen[k] {
		return
	}
	if s.seen == nil {
		s.seen = map[visited]bool{}
	}
	s.seen[k] = true
	s.value(v.Elem())
}

// text adds a string, eight bytes a word.
func (s *signature) text(x string) {
	s.words = append(s.words, uint64(len(x)))
	var w uint64
	for i := range len(x) {
		w = w<<8 | uint64(x[i])
		if i%8 == 7 || i == len(x)-1 {
			s.words = append(s.words, w)
			w = 0
		}
	}
}

// typeWord is the address of a type's description, which is unique and stays.
func typeWord(t reflect.Type) uint64 { return uint64(reflect.ValueOf(t).Pointer()) }

// An outShape is the results of a function: where its tensors are in them.
type outShape struct {
	vals    []reflect.Value // of the recorded run
	tensors []*Tensor
}

// shapeOf reads the results of a function; nil when they hold more than tensors,
// lists of them, numbers and texts.
func shapeOf(out []reflect.Value) *outShape {
	o := &outShape{}
	for _, v := range out {
		switch t := v.Type(); {
		case t == tensorType:
			o.tensors = append(o.tensors, (*Tensor)(v.UnsafePointer()))
		case t.Kind() == reflect.Slice && t.Elem() == tensorType:
			for i := range v.Len() {
				o.tensors = append(o.tensors, (*Tensor)(v.Index(i).UnsafePointer()))
			}
			if !v.IsNil() {
				v = reflect.MakeSlice(t, v.Len(), v.Len()) // only its length is kept
			}
		case v.Kind() == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat(), v.CanComplex(), v.Kind() == reflect.String:
		default:
			return nil
		}
		o.vals = append(o.vals, v)
	}
	return o
}

// fill makes results of the same shape of other tensors.
func (o *outShape) fill(tensor func(i int) *Tensor) []reflect.Value {
	out := make([]reflect.Value, len(o.vals))
	k := 0
	for i, v := range o.vals {
		switch t := v.Type(); {
		case t == tensorType:
			v = reflect.ValueOf(tensor(k))
			k++
		case t.Kind() == reflect.Slice && !v.IsNil():
			l := reflect.MakeSlice(t, v.Len(), v.Len())
			for j := range v.Len() {
				l.Index(j).Set(reflect.ValueOf(tensor(k)))
				k++
			}
			v = l
		}
		out[i] = v
	}
	return out
}
