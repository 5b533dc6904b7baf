// Package safetensors reads and writes the safetensors format: a length, a
// JSON header, the numbers.
//
// It knows bytes, names and sizes, not tensors, and imports nothing of this
// module. Invariant: a header that Parse accepts describes every byte of the
// data exactly once.
package safetensors

import (
	"fmt"
	"math"
	"math/bits"
)

// MaxHeader is the longest header the format allows, in bytes.
const MaxHeader = 100_000_000

// A Type is an element type of the format.
type Type struct {
	Name string
	Bits int
}

// types lists the element types in the order of the reference library, which
// sorts tensors by it.
var types = [...]Type{
	{"BOOL", 8},
	{"F4", 4},
	{"F6_E2M3", 6},
	{"F6_E3M2", 6},
	{"U8", 8},
	{"I8", 8},
	{"F8_E5M2", 8},
	{"F8_E4M3", 8},
	{"F8_E8M0", 8},
	{"F8_E4M3FNUZ", 8},
	{"F8_E5M2FNUZ", 8},
	{"I16", 16},
	{"U16", 16},
	{"F16", 16},
	{"BF16", 16},
	{"I32", 32},
	{"U32", 32},
	{"F32", 32},
	{"C64", 64},
	{"F64", 64},
	{"I64", 64},
	{"U64", 64},
}

// rankOf gives the position of an element type, -1 for one the format does not have.
func rankOf(name string) int {
	for i, t := range types {
		if t.Name == name {
			return i
		}
	}
	return -1
}

// An Entry describes one tensor. Begin and End count bytes of the data part.
type Entry struct {
	Name       string
	Type       string
	Dims       []int
	Begin, End int64
}

// A Header is what stands before the data.
type Header struct {
	Entries  []Entry           // in the order of the data
	Metadata map[string]string // nil when there is none
	Start    int64             // of the data, in the file
}

// Find gives the entry of a name, nil when there is none.
func (h *Header) Find(name string) *Entry {
	for i := range h.Entries {
		if h.Entries[i].Name == name {
			return &h.Entries[i]
		}
	}
	return nil
}

// A FormatError says why bytes are no safetensors file.
type FormatError struct {
	Tensor string // "" when it is the header itself
	Why    string
}

// Error names the tensor.
func (e *FormatError) Error() string {
	if e.Tensor == "" {
		return "safetensors: " + e.Why
	}
	return fmt.Sprintf("safetensors: tensor %q: %s", e.Tensor, e.Why)
}

func bad(tensor, format string, args ...any) error {
	return &FormatError{Tensor: tensor, Why: fmt.Sprintf(format, args...)}
}

// Bytes is what the numbers of a tensor take: the sizes times the bits, which
// must be whole bytes that an int64 counts.
func Bytes(name, typ string, dims []int) (int64, error) {
	r := rankOf(typ)
	if r < 0 {
		return 0, bad(name, "no element type %q", typ)
	}
	n := uint64(1)
	for _, d := range dims {
		if d < 0 {
			return 0, bad(name, "a size is negative: %d", d)
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 {
			return 0, bad(name, "the sizes have more elements than 64 bits count")
		}
		n = lo
	}
	hi, lo := bits.Mul64(n, uint64(types[r].Bits))
	if hi != 0 || lo/8 > math.MaxInt64 {
		return 0, bad(name, "the sizes have more bytes than 64 bits count")
	}
	if lo%8 != 0 {
		return 0, bad(name, "%d elements of %d bits are no whole bytes", n, types[r].Bits)
	}
	return int64(lo / 8), nil
}
