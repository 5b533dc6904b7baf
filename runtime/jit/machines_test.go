package jit

import "unsafe"

type named struct {
	name   string
	engine *Engine
}

// levels are the levels that this computer has.
func levels() []named {
	var list []named
	for level := Tiles; level <= Best(); level++ {
		list = append(list, named{level.String(), NewEngine(level)})
	}
	return list
}

// machines are the ways to run a program that this computer has.
func machines() []named {
	list := levels()
	for _, e := range levels() {
		e.engine.longRow, e.engine.stream = 3000, 1
		list = append(list, named{e.name + ", long rows, past the cache", e.engine})
	}
	return list
}

func address(b []byte) unsafe.Pointer { return unsafe.Pointer(&b[0]) }
