//go:build !purego

#include "textflag.h"

// Micro-kernels of the matrix product. All have the contract of microKernel:
//
//	c[i,j] = (c[i,j] +) Σ a[i*rowStrideA+p*kStrideA] · b[p*kStrideB+j]
//
// with the sum from zero, over p in order, the product rounded before it is
// added. So every one of them gives the bits of the portable kernel. A fused
// multiply-add would not, and on a core with separate adders (Zen 4, Golden
// Cove) it would gain little: the kernels are bound by two multiplications a cycle.
//
// A tile of c stays in registers; each step loads one row of b and broadcasts
// one element of each row of a. Strides are turned into bytes first. Row i of
// a is addressed from the nearest of the pointers to rows 0, 3 and 6.

// func tile6x16AVX2(k int, a *float32, rowStrideA, kStrideA int, b *float32, kStrideB int, c *float32, rowStrideC int, accumulate bool)
// Y0-Y11 hold the tile, Y12 and Y13 a row of b, Y14 an element of a, Y15 a product.
#define LOAD(SHIFT) \
	MOVQ k+0(FP), AX; \
	MOVQ a+8(FP), SI; \
	MOVQ rowStrideA+16(FP), R8; \
	MOVQ kStrideA+24(FP), R9; \
	MOVQ b+32(FP), DI; \
	MOVQ kStrideB+40(FP), R10; \
	MOVQ c+48(FP), DX; \
	MOVQ rowStrideC+56(FP), R11; \
	SHLQ $SHIFT, R8; \
	SHLQ $SHIFT, R9; \
	SHLQ $SHIFT, R10; \
	SHLQ $SHIFT, R11; \
	LEAQ (SI)(R8*2), R12; \
	ADDQ R8, R12

#define ZERO12 \
	VXORPS Y0, Y0, Y0; \
	VXORPS Y1, Y1, Y1; \
	VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; \
	VXORPS Y4, Y4, Y4; \
	VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; \
	VXORPS Y7, Y7, Y7; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
	VXORPS Y10, Y10, Y10; \
	VXORPS Y11, Y11, Y11

#define ROWPS(A, C0, C1) \
	VBROADCASTSS A, Y14; \
	VMULPS Y12, Y14, Y15; \
	VADDPS Y15, C0, C0; \
	VMULPS Y13, Y14, Y14; \
	VADDPS Y14, C1, C1

#define ROWPD(A, C0, C1) \
	VBROADCASTSD A, Y14; \
	VMULPD Y12, Y14, Y15; \
	VADDPD Y15, C0, C0; \
	VMULPD Y13, Y14, Y14; \
	VADDPD Y14, C1, C1

#define ADDPS(C0, C1) \
	VADDPS (DX), C0, C0; \
	VADDPS 32(DX), C1, C1

#define ADDPD(C0, C1) \
	VADDPD (DX), C0, C0; \
	VADDPD 32(DX), C1, C1

#define STORE(C0, C1) \
	VMOVUPS C0, (DX); \
	VMOVUPS C1, 32(DX); \
	ADDQ R11, DX

TEXT ·tile6x16AVX2(SB), NOSPLIT, $0-65
	LOAD(2)
	ZERO12
	TESTQ AX, AX
	JZ done32

loop32:
	VMOVUPS (DI), Y12
	VMOVUPS 32(DI), Y13
	ROWPS((SI), Y0, Y1)
	ROWPS((SI)(R8*1), Y2, Y3)
	ROWPS((SI)(R8*2), Y4, Y5)
	ROWPS((R12), Y6, Y7)
	ROWPS((R12)(R8*1), Y8, Y9)
	ROWPS((R12)(R8*2), Y10, Y11)
	ADDQ R9, SI
	ADDQ R9, R12
	ADDQ R10, DI
	DECQ AX
	JNZ loop32

done32:
	CMPB accumulate+64(FP), $0
	JEQ store32
	ADDPS(Y0, Y1)
	STORE(Y0, Y1)
	ADDPS(Y2, Y3)
	STORE(Y2, Y3)
	ADDPS(Y4, Y5)
	STORE(Y4, Y5)
	ADDPS(Y6, Y7)
	STORE(Y6, Y7)
	ADDPS(Y8, Y9)
	STORE(Y8, Y9)
	ADDPS(Y10, Y11)
	STORE(Y10, Y11)
	VZEROUPPER
	RET

store32:
	STORE(Y0, Y1)
	STORE(Y2, Y3)
	STORE(Y4, Y5)
	STORE(Y6, Y7)
	STORE(Y8, Y9)
	STORE(Y10, Y11)
	VZEROUPPER
	RET

// func tile6x8AVX2(k int, a *float64, rowStrideA, kStrideA int, b *float64, kStrideB int, c *float64, rowStrideC int, accumulate bool)
TEXT ·tile6x8AVX2(SB), NOSPLIT, $0-65
	LOAD(3)
	ZERO12
	TESTQ AX, AX
	JZ done64

loop64:
	VMOVUPD (DI), Y12
	VMOVUPD 32(DI), Y13
	ROWPD((SI), Y0, Y1)
	ROWPD((SI)(R8*1), Y2, Y3)
	ROWPD((SI)(R8*2), Y4, Y5)
	ROWPD((R12), Y6, Y7)
	ROWPD((R12)(R8*1), Y8, Y9)
	ROWPD((R12)(R8*2), Y10, Y11)
	ADDQ R9, SI
	ADDQ R9, R12
	ADDQ R10, DI
	DECQ AX
	JNZ loop64

done64:
	CMPB accumulate+64(FP), $0
	JEQ store64
	ADDPD(Y0, Y1)
	STORE(Y0, Y1)
	ADDPD(Y2, Y3)
	STORE(Y2, Y3)
	ADDPD(Y4, Y5)
	STORE(Y4, Y5)
	ADDPD(Y6, Y7)
	STORE(Y6, Y7)
	ADDPD(Y8, Y9)
	STORE(Y8, Y9)
	ADDPD(Y10, Y11)
	STORE(Y10, Y11)
	VZEROUPPER
	RET

store64:
	STORE(Y0, Y1)
	STORE(Y2, Y3)
	STORE(Y4, Y5)
	STORE(Y6, Y7)
	STORE(Y8, Y9)
	STORE(Y10, Y11)
	VZEROUPPER
	RET

// func tile8x32AVX512(k int, a *float32, rowStrideA, kStrideA int, b *float32, kStrideB int, c *float32, rowStrideC int, accumulate bool)
// Z0-Z15 hold the tile, Z16 and Z17 a row of b, Z18 an element of a, Z19 and Z20 products.
#define ROWZ(A, C0, C1) \
	VBROADCASTSS A, Z18; \
	VMULPS Z16, Z18, Z19; \
	VMULPS Z17, Z18, Z20; \
	VADDPS Z19, C0, C0; \
	VADDPS Z20, C1, C1

#define ADDZ(C0, C1) \
	VADDPS (DX), C0, C0; \
	VADDPS 64(DX), C1, C1

#define STOREZ(C0, C1) \
	VMOVUPS C0, (DX); \
	VMOVUPS C1, 64(DX); \
	ADDQ R11, DX

TEXT ·tile8x32AVX512(SB), NOSPLIT, $0-65
	LOAD(2)
	LEAQ (R12)(R8*2), R13
	ADDQ R8, R13
	VPXORQ Z0, Z0, Z0
	VMOVAPS Z0, Z1
	VMOVAPS Z0, Z2
	VMOVAPS Z0, Z3
	VMOVAPS Z0, Z4
	VMOVAPS Z0, Z5
	VMOVAPS Z0, Z6
	VMOVAPS Z0, Z7
	VMOVAPS Z0, Z8
	VMOVAPS Z0, Z9
	VMOVAPS Z0, Z10
	VMOVAPS Z0, Z11
	VMOVAPS Z0, Z12
	VMOVAPS Z0, Z13
	VMOVAPS Z0, Z14
	VMOVAPS Z0, Z15
	TESTQ AX, AX
	JZ doneZ

loopZ:
	VMOVUPS (DI), Z16
	VMOVUPS 64(DI), Z17
	ROWZ((SI), Z0, Z1)
	ROWZ((SI)(R8*1), Z2, Z3)
	ROWZ((SI)(R8*2), Z4, Z5)
	ROWZ((R12), Z6, Z7)
	ROWZ((R12)(R8*1), Z8, Z9)
	ROWZ((R12)(R8*2), Z10, Z11)
	ROWZ((R13), Z12, Z13)
	ROWZ((R13)(R8*1), Z14, Z15)
	ADDQ R9, SI
	ADDQ R9, R12
	ADDQ R9, R13
	ADDQ R10, DI
	DECQ AX
	JNZ loopZ

doneZ:
	CMPB accumulate+64(FP), $0
	JEQ storeZ
	ADDZ(Z0, Z1)
	STOREZ(Z0, Z1)
	ADDZ(Z2, Z3)
	STOREZ(Z2, Z3)
	ADDZ(Z4, Z5)
	STOREZ(Z4, Z5)
	ADDZ(Z6, Z7)
	STOREZ(Z6, Z7)
	ADDZ(Z8, Z9)
	STOREZ(Z8, Z9)
	ADDZ(Z10, Z11)
	STOREZ(Z10, Z11)
	ADDZ(Z12, Z13)
	STOREZ(Z12, Z13)
	ADDZ(Z14, Z15)
	STOREZ(Z14, Z15)
	VZEROUPPER
	RET

storeZ:
	STOREZ(Z0, Z1)
	STOREZ(Z2, Z3)
	STOREZ(Z4, Z5)
	STOREZ(Z6, Z7)
	STOREZ(Z8, Z9)
	STOREZ(Z10, Z11)
	STOREZ(Z12, Z13)
	STOREZ(Z14, Z15)
	VZEROUPPER
	RET

// func axpyAVX2(n int, x float32, src, dst *float32)
// dst[i] += x·src[i] for n a multiple of 16, each product rounded before it is added.
TEXT ·axpyAVX2(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), AX
	VBROADCASTSS x+8(FP), Y0
	MOVQ src+16(FP), SI
	MOVQ dst+24(FP), DI

loopA:
	CMPQ AX, $16
	JLT doneA
	VMULPS (SI), Y0, Y1
	VMULPS 32(SI), Y0, Y2
	VADDPS (DI), Y1, Y1
	VADDPS 32(DI), Y2, Y2
	VMOVUPS Y1, (DI)
	VMOVUPS Y2, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, AX
	JMP loopA

doneA:
	VZEROUPPER
	RET
