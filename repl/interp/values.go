package interp

import (
	"go/types"
	"reflect"
	"unsafe"
)

// A box is what an interface holds of a type that Go itself does not know: its
// number and its memory's value. Two boxes are == when Go's values would be.
type box struct {
	ID int
	V  any
}

// A slc is a slice header.
type slc struct {
	p        unsafe.Pointer
	len, cap int
}

// A closure is a function value.
type closure struct {
	code   *code
	caps   []unsafe.Pointer // variables of the functions around it
	sig    *typ
	native reflect.Value                                // of a function of Go
	policy goPolicy                                     // how its arguments are handed over
	turn   func(*fr, []unsafe.Pointer) bool             // the body of a loop over a function
	method func(*fr, []unsafe.Pointer) []unsafe.Pointer // a method value
	recv   held                                         // of a method value, for who looks for roots
}

// held is a value in memory that something keeps.
type held struct {
	t *typ
	p unsafe.Pointer
}

// alloc makes zeroed memory.
func (t *typ) alloc() unsafe.Pointer {
	switch t.class {
	case clsInt:
		if t.bits == 64 {
			return unsafe.Pointer(new(int64))
		}
		return unsafe.Pointer(new(int64)) // large enough, aligned
	case clsFloat:
		return unsafe.Pointer(new(float64))
	case clsString:
		return unsafe.Pointer(new(string))
	case clsBool:
		return unsafe.Pointer(new(bool))
	case clsPtr:
		return unsafe.Pointer(new(unsafe.Pointer))
	case clsSlice:
		return unsafe.Pointer(new(slc))
	case clsIface:
		return unsafe.Pointer(new(any))
	case clsComplex:
		return unsafe.Pointer(new(complex128))
	}
	return reflect.New(t.rt).UnsafePointer()
}

// at gives memory as an addressable value.
func (t *typ) at(p unsafe.Pointer) reflect.Value { return reflect.NewAt(t.rt, p).Elem() }

// copyTo copies a value.
func (t *typ) copyTo(dst, src unsafe.Pointer) {
	switch t.class {
	case clsInt, clsFloat:
		switch t.rt.Size() {
		case 8:
			*(*int64)(dst) = *(*int64)(src)
		case 4:
			*(*int32)(dst) = *(*int32)(src)
		case 2:
			*(*int16)(dst) = *(*int16)(src)
		case 1:
			*(*int8)(dst) = *(*int8)(src)
		}
	case clsString:
		*(*string)(dst) = *(*string)(src)
	case clsBool:
		*(*bool)(dst) = *(*bool)(src)
	case clsPtr:
		*(*unsafe.Pointer)(dst) = *(*unsafe.Pointer)(src)
	case clsSlice:
		*(*slc)(dst) = *(*slc)(src)
	case clsIface:
		*(*any)(dst) = *(*any)(src)
	case clsComplex:
		if t.kind == types.Complex64 {
			*(*complex64)(dst) = *(*complex64)(src)
		} else {
			*(*complex128)(dst) = *(*complex128)(src)
		}
	default:
		t.at(dst).Set(t.at(src))
	}
}

// zero clears memory.
func (t *typ) zero(p unsafe.Pointer) {
	switch t.class {
	case clsInt, clsFloat:
		switch t.rt.Size() {
		case 8:
			*(*int64)(p) = 0
		case 4:
			*(*int32)(p) = 0
		case 2:
			*(*int16)(p) = 0
		case 1:
			*(*int8)(p) = 0
		}
	case clsString:
		*(*string)(p) = ""
	case clsPtr:
		*(*unsafe.Pointer)(p) = nil
	case clsSlice:
		*(*slc)(p) = slc{}
	case clsIface:
		*(*any)(p) = nil
	default:
		t.at(p).SetZero()
	}
}

// clone gives a copy of a value in memory of its own.
func (t *typ) clone(p unsafe.Pointer) unsafe.Pointer {
	q := t.alloc()
	t.copyTo(q, p)
	return q
}

func loadInt(t *typ) func(unsafe.Pointer) int64 {
	switch t.kind {
	case types.Int8:
		return func(p unsafe.Pointer) int64 { return int64(*(*int8)(p)) }
	case types.Int16:
		return func(p unsafe.Pointer) int64 { return int64(*(*int16)(p)) }
	case types.Int32:
		return func(p unsafe.Pointer) int64 { return int64(*(*int32)(p)) }
	case types.Uint8:
		return func(p unsafe.Pointer) int64 { return int64(*(*uint8)(p)) }
	case types.Uint16:
		return func(p unsafe.Pointer) int64 { return int64(*(*uint16)(p)) }
	case types.Uint32:
		return func(p unsafe.Pointer) int64 { return int64(*(*uint32)(p)) }
	}
	return func(p unsafe.Pointer) int64 { return *(*int64)(p) }
}

// wrap brings a result into the range of an integer type.
func (t *typ) wrap(x int64) int64 {
	switch t.kind {
	case types.Int8:
		return int64(int8(x))
	case types.Int16:
		return int64(int16(x))
	case types.Int32, types.UntypedRune:
		return int64(int32(x))
	case types.Uint8:
		return int64(uint8(x))
	case types.Uint16:
		return int64(uint16(x))
	case types.Uint32:
		return int64(uint32(x))
	}
	return x
}

// iface makes an interface of the value in memory.
func (m *machine) iface(t *typ, p unsafe.Pointer) any {
	if t.class == clsIface {
		return *(*any)(p)
	}
	if t.plain {
		switch t.rt {
		case intType:
			return *(*int)(p)
		case stringType:
			return *(*string)(p)
		}
		return t.at(p).Interface()
	}
	return box{t.id, t.raw(p)}
}

var (
	intType    = reflect.TypeFor[int]()
	stringType = reflect.TypeFor[string]()
)

// raw gives the value in memory as a Go value of the memory's type.
func (t *typ) raw(p unsafe.Pointer) any {
	if t.rt == funcType {
		return *(**closure)(p)
	}
	return reflect.NewAt(t.rt, p).Elem().Interface()
}

// put stores what iface made of a value of type t.
func (t *typ) put(dst unsafe.Pointer, x any) {
	if t.class == clsIface {
		*(*any)(dst) = x
		return
	}
	if b, ok := x.(box); ok {
		x = b.V
	}
	if t.rt == funcType {
		*(**closure)(dst) = x.(*closure)
		return
	}
	t.at(dst).Set(reflect.ValueOf(x))
}

// equal is == on interfaces.
func (m *machine) equal(x, y any) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	if a, ok := x.(box); ok {
		if b, ok := y.(box); ok && a.ID == b.ID {
			if t := m.types.byID(a.ID); !t.comparable {
				panic(goError{"runtime error: comparing uncomparable type " + m.types.name(t.t)})
			}
		}
	}
	return x == y
}

// equalMem is == on two values of one type.
func (m *machine) equalMem(t *typ, p, q unsafe.Pointer) bool {
	switch t.class {
	case clsInt, clsPtr, clsBool:
		return t.rt.Size() == 8 && *(*int64)(p) == *(*int64)(q) || t.rt.Size() != 8 && t.at(p).Equal(t.at(q))
	case clsString:
		return *(*string)(p) == *(*string)(q)
	case clsIface:
		return m.equal(*(*any)(p), *(*any)(q))
	}
	switch u := t.u.(type) {
	case *types.Struct:
		if t.plain && !hasInterface(u) {
			return t.at(p).Equal(t.at(q))
		}
		for i := range u.NumFields() {
			if u.Field(i).Name() == "_" {
				continue
			}
			off := t.rt.Field(i).Offset
			if !m.equalMem(m.types.of(u.Field(i).Type()), unsafe.Add(p, off), unsafe.Add(q, off)) {
				return false
			}
		}
		return true
	case *types.Array:
		e := m.types.of(u.Elem())
		for i := range int(u.Len()) {
			off := uintptr(i) * e.rt.Size()
			if !m.equalMem(e, unsafe.Add(p, off), unsafe.Add(q, off)) {
				return false
			}
		}
		return true
	}
	return t.at(p).Equal(t.at(q))
}

func hasInterface(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Struct:
		for f := range t.Fields() {
			if hasInterface(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return hasInterface(t.Elem())
	}
	return false
}
