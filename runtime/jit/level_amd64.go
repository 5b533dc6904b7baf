package jit

import "golang.org/x/sys/cpu"

// Best is the highest level this processor has.
func Best() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasBMI2 || !x.HasOSXSAVE:
		return Tiles
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

// allowed says whether the system lets pages become executable.
func allowed() bool { return executable([]byte{0xC3}) != nil }

// native makes machine code of a plan; nil when its pages cannot be made.
func native(pl *plan, level Level, l layout) machine {
	if x := newX86(pl, level == AVX512, l); x != nil {
		return x
	}
	return nil
}
