package interp

import (
	"fmt"
	"reflect"
)

// plainPanic gives the Go value of what the interpreter panicked with.
func plainPanic(v any) any {
	if rv, ok := v.(reflect.Value); ok {
		if !rv.IsValid() {
			return nil
		}
		return rv.Interface()
	}
	return v
}

// panicText writes a panic's value as Go does when a program dies.
func panicText(v any) string {
	switch v := v.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	case string:
		return v
	}
	return fmt.Sprint(v)
}
