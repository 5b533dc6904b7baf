package tpu

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
)

// host reads the numbers: it cuts the queue and waits. The array may be
// strided and must not be written to.
func (t *Tensor) host(name string, why exec.Reason) kernel.Array {
	if t.s.freed {
		t.engine().fail(name, &FreedError{t.Spec()})
	}
	a, err := t.engine().d.ReadPart(t.s.value, why, t.Spec())
	if err != nil {
		t.engine().fail(name, err)
	}
	return seen(a, t.layout())
}

// Array reads the numbers as a dense host array, which the caller must not write to.
func (t *Tensor) Array() kernel.Array {
	t.engine()
	return kernel.Contiguous(t.host("array", exec.ReasonHostCopy))
}

// Peek gives the numbers when they are known already, and changes nothing.
func (t *Tensor) Peek() (kernel.Array, bool) {
	t.engine()
	if t.s.freed {
		return kernel.Array{}, false
	}
	a, ok := t.engine().d.Peek(t.s.value)
	if !ok {
		return a, false
	}
	return seen(a, t.layout()), true
}

// only checks that there is one element and reads it.
func (t *Tensor) only(name string) kernel.Array {
	if t.Size() != 1 {
		t.engine().fail(name, &ScalarError{t.Spec()})
	}
	return t.host(name, exec.ReasonScalar)
}

// Item reads the only element.
func (t *Tensor) Item() float64 {
	t.engine()
	return kernel.Float64s(t.only("item"))[0]
}

// Int reads the only element as an integer; a fraction is cut off.
func (t *Tensor) Int() int {
	t.engine()
	return int(kernel.Int64s(t.only("int"))[0])
}

// Bool reads whether the only element is not zero.
func (t *Tensor) Bool() bool {
	t.engine()
	return kernel.Bools(t.only("bool"))[0] != 0
}

// Float32s reads all elements in row-major order.
func (t *Tensor) Float32s() []float32 {
	t.engine()
	return append([]float32{}, kernel.Float32s(t.host("float32s", exec.ReasonHostCopy))...)
}

// Float64s reads all elements in row-major order.
func (t *Tensor) Float64s() []float64 {
	t.engine()
	return append([]float64{}, kernel.Float64s(t.host("float64s", exec.ReasonHostCopy))...)
}

// Ints reads all elements in row-major order; fractions are cut off.
func (t *Tensor) Ints() []int {
	t.engine()
	v := kernel.Int64s(t.host("ints", exec.ReasonHostCopy))
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// Bools reads for all elements whether they are not zero.
func (t *Tensor) Bools() []bool {
	t.engine()
	v := kernel.Bools(t.host("bools", exec.ReasonHostCopy))
	out := make([]bool, len(v))
	for i, x := range v {
		out[i] = x != 0
	}
	return out
}

// Values reads nested slices of float64, int64 or bool; a tensor without axes gives the number.
func (t *Tensor) Values() any {
	t.engine()
	a := t.host("values", exec.ReasonHostCopy)
	var at func(i int) any
	switch kernel.Class(a.DType) {
	case dtype.I64:
		v := kernel.Int64s(a)
		at = func(i int) any { return v[i] }
	case dtype.U64:
		if a.DType == dtype.Bool {
			v := kernel.Bools(a)
			at = func(i int) any { return v[i] != 0 }
			break
		}
		v := kernel.Uint64s(a)
		at = func(i int) any { return v[i] }
	default:
		v := kernel.Float64s(a)
		at = func(i int) any { return v[i] }
	}
	i := 0
	return nest(a.Dims, &i, at)
}

func nest(dims []int, i *int, at func(int) any) any {
	if len(dims) == 0 {
		x := at(*i)
		*i++
		return x
	}
	out := make([]any, dims[0])
	for k := range out {
		out[k] = nest(dims[1:], i, at)
	}
	return out
}

// A SaveTypeError says that NumPy's format has no such element type.
type SaveTypeError struct{ DType dtype.DType }

// Error names the type.
func (e *SaveTypeError) Error() string { return fmt.Sprintf("the npy format has no %v", e.DType) }

// npy are NumPy's names of the element types it has.
var npy = map[dtype.DType]string{
	dtype.Bool: "|b1", dtype.U8: "|u1", dtype.I8: "|i1", dtype.U16: "<u2", dtype.I16: "<i2", dtype.U32: "<u4", dtype.I32: "<i4",
	dtype.U64: "<u8", dtype.I64: "<i8", dtype.F16: "<f2", dtype.F32: "<f4", dtype.F64: "<f8", dtype.C64: "<c8",
}

// Save reads the tensor and writes it to a file in NumPy's npy format.
func (t *Tensor) Save(path string) {
	t.engine()
	a := kernel.Contiguous(t.host("save", exec.ReasonHostCopy))
	name, ok := npy[a.DType]
	if !ok {
		t.engine().fail("save", &SaveTypeError{a.DType})
	}
	f, err := os.Create(path)
	if err == nil {
		err = writeNPY(f, a, name)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		t.engine().fail("save", err)
	}
}

// writeNPY writes version 1.0 of the format: magic, header padded to 64 bytes, numbers.
func writeNPY(w io.Writer, a kernel.Array, name string) error {
	var dims strings.Builder
	for _, d := range a.Dims {
		fmt.Fprintf(&dims, "%d,", d)
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", name, dims.String())
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	b := bufio.NewWriter(w)
	b.WriteString("\x93NUMPY\x01\x00")
	b.WriteByte(byte(len(head)))
	b.WriteByte(byte(len(head) >> 8))
	b.WriteString(head)
	b.Write(a.Buf[:a.Size()*a.DType.HostBytes()])
	return b.Flush()
}
