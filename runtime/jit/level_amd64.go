package jit

// allowed says whether the system lets pages become executable.
func allowed() bool { return executable([]byte{0xC3}) != nil }

// native makes machine code of a plan; nil when its pages cannot be made.
func native(pl *plan, level Level, l layout) machine {
	if x := newX86(pl, level == AVX512, l); x != nil {
		return x
	}
	return nil
}
