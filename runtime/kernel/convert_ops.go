package kernel

import "github.com/tpush/tpush/runtime/dtype"

// To converts to the type of the result.
func To(c *Call) error {
	if c.In[0].DType.IsComplex() || c.Out[0].DType.IsComplex() {
		Convert(c.Out[0], c.In[0])
		return nil
	}
	return toOp.run(c)
}

// Bitcast takes the bytes of the input, in row-major order, as elements of the
// result; bytes other than zero become true.
func Bitcast(c *Call) error {
	src := Contiguous(c.In[0])
	out := &c.Out[0]
	n := copy(out.Buf, src.Buf[:src.Size()*src.DType.HostBytes()])
	switch out.DType {
	case dtype.Bool:
		for i, b := range out.Buf[:n] {
			out.Buf[i] = bit(b != 0)
		}
	case dtype.I4: // the host keeps the sign in the whole byte
		for i, b := range out.Buf[:n] {
			out.Buf[i] = uint8(int8(b<<4) >> 4)
		}
	case dtype.U4, dtype.F4E2M1:
		for i, b := range out.Buf[:n] {
			out.Buf[i] = b & 0xf
		}
	}
	return nil
}
