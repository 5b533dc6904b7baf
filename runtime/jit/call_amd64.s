#include "textflag.h"

// func call(fn uintptr, frame *uint64)
TEXT ·call(SB), NOSPLIT, $64-16
	MOVQ fn+0(FP), AX
	MOVQ frame+8(FP), DI
	CALL AX
	RET
