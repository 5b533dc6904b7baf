package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// An IDXError says why bytes are no IDX file.
type IDXError struct{ Why string }

// Error gives the reason.
func (e *IDXError) Error() string { return "idx: " + e.Why }

// idxTypes are the element types by their code in the third byte.
var idxTypes = map[byte]dtype.DType{0x08: dtype.U8, 0x09: dtype.I8, 0x0b: dtype.I16, 0x0c: dtype.I32, 0x0d: dtype.F32, 0x0e: dtype.F64}

// IDX reads a file of the IDX format, that of MNIST, compressed or not.
func IDX(path string) *tpu.Tensor {
	f, err := os.Open(path)
	if err != nil {
		panic(&tpu.Error{Op: "idx", Err: err})
	}
	defer f.Close()
	t, err := ReadIDX(f)
	if err != nil {
		panic(&tpu.Error{Op: "idx", Err: err})
	}
	return t
}

// ReadIDX is IDX of a reader.
func ReadIDX(r io.Reader) (*tpu.Tensor, error) {
	b := bufio.NewReader(r)
	r = b
	if head, _ := b.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		r = z
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, &IDXError{"it is too short for its first four bytes"}
	}
	t, ok := idxTypes[head[2]]
	if head[0] != 0 || head[1] != 0 || !ok {
		return nil, &IDXError{fmt.Sprintf("it begins with %#x, not with two zeros and an element type", head[:3])}
	}
	dims := make([]int, head[3])
	for i := range dims {
		var n [4]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return nil, &IDXError{fmt.Sprintf("it is too short for its %d sizes", len(dims))}
		}
		dims[i] = int(binary.BigEndian.Uint32(n[:]))
	}
	if err := shape.CheckDims("idx", dims); err != nil {
		return nil, err
	}
	// Read what is there, not what the sizes promise.
	s := shape.Of(t, dims...)
	want := int64(s.HostBytes())
	var data bytes.Buffer
	if n, err := io.Copy(&data, io.LimitReader(r, want+1)); err != nil {
		return nil, err
	} else if n != want {
		return nil, &IDXError{fmt.Sprintf("%v needs %d bytes, there are %d", s, want, n)}
	}
	a := kernel.New(s)
	copy(a.Buf, data.Bytes())
	if w := t.HostBytes(); w > 1 { // big-endian
		for i := 0; i < len(a.Buf); i += w {
			for x, y := i, i+w-1; x < y; x, y = x+1, y-1 {
				a.Buf[x], a.Buf[y] = a.Buf[y], a.Buf[x]
			}
		}
	}
	return tpu.FromArray(a), nil
}
