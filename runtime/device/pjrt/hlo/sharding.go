package hlo

import (
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/shape"
)

// OutputShardings says where the results of a partitioned program are, one for
// each of the given ranks: a copy on every device where the program says
// nothing; nil where it says what is not read here.
func (m *Module) OutputShardings(ranks []int, devices int) []*shape.Sharding {
	all := make([]*shape.Sharding, len(ranks))
	s := m.withConfig.sub(1).sub(12)
	parts := []wire{s}
	if s.int(1) == shardTuple {
		parts = s.subs(5)
	}
	for i := range all {
		if i < len(parts) {
			all[i] = sharding(parts[i], ranks[i], devices)
		}
	}
	return all
}

// The types of OpSharding.
const (
	shardReplicated = 0
	shardTuple      = 2
	shardTiled      = 3
)

// sharding reads an OpSharding (xla/xla_data.proto).
func sharding(b wire, rank, devices int) *shape.Sharding {
	s := &shape.Sharding{Tiles: slices.Repeat([]int{1}, rank)}
	for d := range devices {
		s.Devices = append(s.Devices, d)
	}
	switch b.int(1) {
	case shardReplicated:
		return s
	case shardTiled:
	default:
		return nil
	}
	tiles := b.ints(3)
	if len(tiles) < rank || shape.Size(s.Tiles) != 1 {
		return nil
	}
	n := 1
	for i, t := range tiles {
		if i < rank {
			s.Tiles[i] = int(t)
		}
		n *= int(t)
	}
	if list := b.ints(4); len(list) == devices {
		for i, d := range list {
			s.Devices[i] = int(d)
		}
	} else {
		s.Devices = iota(b.ints(9), b.ints(10))
	}
	if n != devices || len(s.Devices) != devices {
		return nil
	}
	return s
}

// iota numbers a grid and reads it in another order of its axes.
func iota(dims, perm []int64) []int {
	if len(perm) != len(dims) {
		perm = nil
		for i := range dims {
			perm = append(perm, int64(i))
		}
	}
	stride := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		stride[i] = n
		n *= int(dims[i])
	}
	all := []int{0}
	for _, p := range perm {
		if p < 0 || int(p) >= len(dims) {
			return nil
		}
		var next []int
		for _, at := range all {
			for k := range int(dims[p]) {
				next = append(next, at+k*stride[p])
			}
		}
		all = next
	}
	return all
}

// Collectives lists the instructions that talk to other devices, in the order
// of the program, those of called computations too.
func (m *Module) Collectives() []*Instruction {
	var all []*Instruction
	seen := map[int64]bool{}
	for _, in := range m.Entry.Instructions {
		for _, k := range m.Inside(in) {
			if k.Collective() && !strings.HasSuffix(k.Opcode, "-done") && !seen[k.ID] {
				seen[k.ID] = true
				all = append(all, k)
			}
		}
	}
	return all
}
