package interp

import "unsafe"

// directCall gives what calls a function of a package without package reflect,
// nil when it has none of the frequent signatures. The memory of an argument of
// these types is what Go's own is.
func directCall(fn any) func(args []unsafe.Pointer) []unsafe.Pointer {
	switch fn := fn.(type) {
	case func(string) string:
		return call1(fn)
	case func(string) bool:
		return call1(fn)
	case func(string) int:
		return call1(fn)
	case func(string) []string:
		return call1(fn)
	case func(int) string:
		return call1(fn)
	case func(int) int:
		return call1(fn)
	case func(uint) int:
		return call1(fn)
	case func(uint64) int:
		return call1(fn)
	case func(float64) float64:
		return call1(fn)
	case func(float64) bool:
		return call1(fn)
	case func(rune) bool:
		return call1(fn)
	case func(rune) rune:
		return call1(fn)
	case func(string, string) bool:
		return call2(fn)
	case func(string, string) int:
		return call2(fn)
	case func(string, string) string:
		return call2(fn)
	case func(string, string) []string:
		return call2(fn)
	case func(string, rune) bool:
		return call2(fn)
	case func(string, rune) int:
		return call2(fn)
	case func(string, int) string:
		return call2(fn)
	case func([]string, string) string:
		return call2(fn)
	case func(float64, float64) float64:
		return call2(fn)
	case func(float64, int) bool:
		return call2(fn)
	case func(uint, int) uint:
		return call2(fn)
	case func(uint64, int) uint64:
		return call2(fn)
	case func(string, string, string) string:
		return call3(fn)
	}
	return nil
}

func call1[A, R any](fn func(A) R) func([]unsafe.Pointer) []unsafe.Pointer {
	return func(args []unsafe.Pointer) []unsafe.Pointer {
		r := fn(*(*A)(args[0]))
		return []unsafe.Pointer{unsafe.Pointer(&r)}
	}
}

func call2[A, B, R any](fn func(A, B) R) func([]unsafe.Pointer) []unsafe.Pointer {
	return func(args []unsafe.Pointer) []unsafe.Pointer {
		r := fn(*(*A)(args[0]), *(*B)(args[1]))
		return []unsafe.Pointer{unsafe.Pointer(&r)}
	}
}

func call3[A, B, C, R any](fn func(A, B, C) R) func([]unsafe.Pointer) []unsafe.Pointer {
	return func(args []unsafe.Pointer) []unsafe.Pointer {
		r := fn(*(*A)(args[0]), *(*B)(args[1]), *(*C)(args[2]))
		return []unsafe.Pointer{unsafe.Pointer(&r)}
	}
}
