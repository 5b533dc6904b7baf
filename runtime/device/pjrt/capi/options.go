package capi

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// CompileOptions are the part of XLA's CompileOptionsProto that is used.
type CompileOptions struct {
	Replicas, Partitions int   // 0 is 1
	Devices              []int // their ids, replica by replica; nil is 0, 1, 2, …
	NoShardy             bool  // shardings are GSPMD's
	// FreeOutputs is how many results the compiler may place as it likes; else
	// every device gets all of them.
	FreeOutputs int
	// Flags are xla_ options of this compilation: string, bool or int64.
	Flags map[string]any
}

// Field numbers (openxla/xla, xla/pjrt/proto/compile_options.proto).
const (
	optBuild     = 3
	optOverrides = 7

	buildOrdinal    = 1
	buildReplicas   = 4
	buildPartitions = 5
	buildSPMD       = 6
	buildAssignment = 9
	buildFreeOutput = 12
	buildShardy     = 19
)

// Encode writes the message. It is never empty: an empty one aborts XLA.
func (o CompileOptions) Encode() []byte {
	r, p := max(o.Replicas, 1), max(o.Partitions, 1)
	var b []byte
	b = varint(b, buildOrdinal, ^uint64(0)) // -1: any
	b = varint(b, buildReplicas, uint64(r))
	b = varint(b, buildPartitions, uint64(p))
	if r*p > 1 || len(o.Devices) > 0 {
		b = varint(b, buildSPMD, 1)
		if !o.NoShardy {
			b = varint(b, buildShardy, 1)
		}
		b = field(b, buildAssignment, o.assignment(r, p))
		if o.FreeOutputs > 0 {
			b = field(b, buildFreeOutput, bytes.Repeat([]byte{1}, o.FreeOutputs))
		}
	}
	all := field(nil, optBuild, b)
	names := make([]string, 0, len(o.Flags))
	for k := range o.Flags {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		var v []byte // OptionOverrideProto
		switch x := o.Flags[k].(type) {
		case string:
			v = field(nil, 1, []byte(x))
		case bool:
			v = varint(nil, 2, protowire.EncodeBool(x))
		case int64:
			v = varint(nil, 3, uint64(x))
		}
		all = field(all, optOverrides, field(field(nil, 1, []byte(k)), 2, v))
	}
	return all
}

// assignment is the DeviceAssignmentProto: for each partition the devices of its replicas.
func (o CompileOptions) assignment(r, p int) []byte {
	b := varint(varint(nil, 1, uint64(r)), 2, uint64(p))
	for j := range p {
		var ids []byte
		for i := range r {
			id := i*p + j
			if id < len(o.Devices) {
				id = o.Devices[id]
			}
			ids = protowire.AppendVarint(ids, uint64(id))
		}
		b = field(b, 3, field(nil, 1, ids))
	}
	return b
}

func varint(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func field(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}
