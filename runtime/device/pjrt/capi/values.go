package capi

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"
)

// The kinds of named values.
const (
	valueString = iota
	valueInt
	valueInts
	valueFloat
	valueBool
)

// decodeValues reads named values: string, int64, []int64, float32 or bool.
func decodeValues(p unsafe.Pointer, n uintptr) map[string]any {
	all := make(map[string]any, n)
	for i := range n {
		v := (*namedValue)(unsafe.Add(p, i*unsafe.Sizeof(namedValue{})))
		at := unsafe.Pointer(&v.value)
		var x any
		switch v.typ {
		case valueString:
			x = goString(*(*unsafe.Pointer)(at), v.n)
		case valueInt:
			x = int64(v.value)
		case valueInts:
			x = append([]int64(nil), unsafe.Slice(*(**int64)(at), v.n)...)
		case valueFloat:
			x = *(*float32)(at)
		case valueBool:
			x = *(*bool)(at)
		}
		all[goString(v.name, v.nname)] = x
	}
	return all
}

// encodeValues writes named values in the order of their names; they stay
// pinned until pin is undone.
func encodeValues(pin *runtime.Pinner, values map[string]any) (unsafe.Pointer, uintptr, error) {
	if len(values) == 0 {
		return nil, 0, nil
	}
	names := make([]string, 0, len(values))
	for k := range values {
		names = append(names, k)
	}
	slices.Sort(names)
	list := make([]namedValue, len(names))
	for i, k := range names {
		nv := &list[i]
		nv.size, nv.n = unsafe.Sizeof(*nv), 1
		nv.name, nv.nname = pinBytes(pin, []byte(k))
		at := unsafe.Pointer(&nv.value)
		switch v := values[k].(type) {
		case string:
			b := append([]byte(v), 0)
			pin.Pin(&b[0])
			nv.typ, nv.n = valueString, uintptr(len(v))
			*(*unsafe.Pointer)(at) = unsafe.Pointer(&b[0])
		case int64:
			nv.typ, nv.value = valueInt, uint64(v)
		case []int64:
			v = append(slices.Clone(v), 0)
			pin.Pin(&v[0])
			nv.typ, nv.n = valueInts, uintptr(len(v)-1)
			*(*unsafe.Pointer)(at) = unsafe.Pointer(&v[0])
		case float32:
			nv.typ = valueFloat
			*(*float32)(at) = v
		case bool:
			nv.typ = valueBool
			*(*bool)(at) = v
		default:
			return nil, 0, fmt.Errorf("option %s: a %T cannot be passed", k, v)
		}
	}
	pin.Pin(&list[0])
	return unsafe.Pointer(&list[0]), uintptr(len(list)), nil
}
