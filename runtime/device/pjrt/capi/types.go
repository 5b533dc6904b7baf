package capi

import "fmt"

// A Type is an element type as PJRT numbers them.
type Type int32

// A typeRow is what is known of an element type.
type typeRow struct {
	name      string // in StableHLO text
	hostBytes int    // of an element; types below a byte travel one an element
}

// types is indexed by Type (PJRT_Buffer_Type). Names without bytes cannot be passed.
var types = [...]typeRow{
	{"", 0}, {"i1", 1}, {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"ui8", 1}, {"ui16", 2}, {"ui32", 4}, {"ui64", 8},
	{"f16", 2}, {"f32", 4}, {"f64", 8}, {"bf16", 2}, {"complex<f32>", 8}, {"complex<f64>", 16},
	{"f8E5M2", 1}, {"f8E4M3FN", 1}, {"f8E4M3B11FNUZ", 1}, {"f8E5M2FNUZ", 1}, {"f8E4M3FNUZ", 1},
	{"i4", 1}, {"ui4", 1}, {"token", 0}, {"i2", 1}, {"ui2", 1}, {"f8E4M3", 1}, {"f8E3M4", 1}, {"f8E8M0FNU", 1}, {"f4E2M1FN", 1},
}

// String is the name that StableHLO text gives the type.
func (t Type) String() string {
	if t > 0 && int(t) < len(types) {
		return types[t].name
	}
	return fmt.Sprintf("type(%d)", int32(t))
}

// HostBytes is the width of an element on the host, 0 for what cannot be passed.
func (t Type) HostBytes() int {
	if t > 0 && int(t) < len(types) {
		return types[t].hostBytes
	}
	return 0
}

// A TypeError is the name of an element type that PJRT does not know.
type TypeError struct{ Name string }

// Error names it.
func (e *TypeError) Error() string { return "no element type " + e.Name }

// ParseType finds a type by its StableHLO name.
func ParseType(name string) (Type, error) {
	for t := range types {
		if types[t].name == name && types[t].hostBytes > 0 {
			return Type(t), nil
		}
	}
	return 0, &TypeError{name}
}
