package kernel

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
)

// An Attr is one named attribute of an operation: int, []int, float64, bool,
// string or dtype.DType.
type Attr struct {
	Name  string
	Value any
}

// Attrs are the attributes of one call, in the order of the row's parameters,
// defaults filled in. They are few: a scan is faster than a map.
type Attrs []Attr

// Is says whether a and b are one list.
func (a Attrs) Is(b Attrs) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// Get gives the attribute, nil when absent.
func (a Attrs) Get(name string) any {
	for i := range a {
		if a[i].Name == name {
			return a[i].Value
		}
	}
	return nil
}

// Int gives an int attribute, 0 when absent.
func (a Attrs) Int(name string) int { v, _ := a.Get(name).(int); return v }

// Ints gives an []int attribute, nil when absent.
func (a Attrs) Ints(name string) []int { v, _ := a.Get(name).([]int); return v }

// Float gives a float64 attribute (an int is converted), 0 when absent.
func (a Attrs) Float(name string) float64 {
	switch v := a.Get(name).(type) {
	case float64:
		return v
	case int:
		return float64(v)
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// Bool gives a bool attribute, false when absent.
func (a Attrs) Bool(name string) bool { v, _ := a.Get(name).(bool); return v }

// Str gives a string attribute, "" when absent.
func (a Attrs) Str(name string) string { v, _ := a.Get(name).(string); return v }

// DType gives a dtype attribute, Invalid when absent.
func (a Attrs) DType(name string) dtype.DType { v, _ := a.Get(name).(dtype.DType); return v }

// Has says whether the attribute is present and not nil.
func (a Attrs) Has(name string) bool { return a.Get(name) != nil }
