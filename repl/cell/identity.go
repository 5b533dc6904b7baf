package cell

import "go/types"

// TypeTag is the key of the struct tag that holds a type's number: by it viewers
// know the types of cells inside other values.
const TypeTag = "cell"

// Stand-in types are Go types of their own for the named basic types of cells.
var standIns = map[types.BasicKind]string{
	types.Bool: "Bool", types.String: "String", types.Int: "Int", types.Int8: "Int8", types.Int16: "Int16", types.Int32: "Int32", types.Int64: "Int64",
	types.Uint: "Uint", types.Uint8: "Uint8", types.Uint16: "Uint16", types.Uint32: "Uint32", types.Uint64: "Uint64", types.Float32: "Float32", types.Float64: "Float64",
}

// StandInName gives the name of the stand-in types of a basic kind, "" if there
// are none.
func StandInName(k types.BasicKind) string { return standIns[k] }
