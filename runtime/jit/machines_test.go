package jit

import "unsafe"

type named struct {
	name   string
	engine *Engine
}

// machines are the ways to run a program that this computer has.
func machines() []named {
	var list []named
	for level := Tiles; level <= Best(); level++ {
		list = append(list, named{level.String(), NewEngine(level)}, named{level.String() + ", long rows", NewEngine(level)})
		list[len(list)-1].engine.longRow = 3000
	}
	return list
}

func pointer(a []uint64) unsafe.Pointer { return unsafe.Pointer(&a[0]) }
