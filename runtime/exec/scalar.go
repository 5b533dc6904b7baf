package exec

import (
	"math"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// maxScalars bounds the memo of Go numbers; it is emptied when full.
const maxScalars = 4096

// Scalar gives the value of a Go number used as an operand: a 0-d argument of
// the executable, memoised, that promotes weakly. x is a float64, an int64, a
// complex128 or a bool.
func (d *Dispatcher) Scalar(x any) *Value {
	d.mu.Lock()
	defer d.mu.Unlock()
	var k scalarKey
	switch x := x.(type) {
	case float64:
		k.bits, k.dtype = math.Float64bits(x), dtype.F64
	case int64:
		k.bits, k.dtype = uint64(x), dtype.I64
	case complex128:
		k.bits, k.im, k.dtype = math.Float64bits(real(x)), math.Float64bits(imag(x)), dtype.C128
	case bool:
		k.dtype = dtype.Bool
		if x {
			k.bits = 1
		}
	default:
		panic("exec: Scalar of a type that is no number")
	}
	if v := d.scalars[k]; v != nil {
		return v
	}
	if len(d.scalars) >= maxScalars {
		clear(d.scalars)
	}
	v := d.number(k)
	d.scalars[k] = v
	return v
}

// LiveScalar is Scalar of a number that will be another one in the next launch
// of the same program: it shares its value with no equal number.
func (d *Dispatcher) LiveScalar(x float64) *Value {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.number(scalarKey{bits: math.Float64bits(x), dtype: dtype.F64})
}

// number makes the value of a Go number.
func (d *Dispatcher) number(k scalarKey) *Value {
	s := shape.Spec{DType: k.dtype, Weak: true}
	a := kernel.New(s)
	switch k.dtype {
	case dtype.Bool:
		a.Buf[0] = byte(k.bits)
	case dtype.C128:
		copy(kernel.As[uint64](a.Buf), []uint64{k.bits, k.im})
	default:
		kernel.As[uint64](a.Buf)[0] = k.bits
	}
	d.nextID++
	return &Value{typ: typeOf(s, d.called), id: d.nextID, state: Constant, place: -1, depth: settled, buf: hostBuffer{s, a}}
}

// hostBuffer is a number on the host, passed as an argument: it takes no HBM.
type hostBuffer struct {
	spec shape.Spec
	arr  kernel.Array
}

func (b hostBuffer) Spec() shape.Spec          { return b.spec }
func (b hostBuffer) Host() kernel.Array        { return b.arr }
func (b hostBuffer) PaddedBytes() int64        { return 0 }
func (b hostBuffer) Free()                     {}
func (b hostBuffer) Freed() bool               { return false }
func (b hostBuffer) Revive(device.Owner) error { return nil }
