package op_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/par"
	"github.com/tpush/tpush/runtime/simd"
	"github.com/tpush/tpush/runtime/simd/simdtest"
	"github.com/tpush/tpush/runtime/tpu"
)

// TestRowsGiveTheSameBits runs every row of the table amid others that fuse with
// it, small and large, in several element types. At every level of the processor,
// and without machine code made at run time, strict mode and a compiled function,
// as it is recorded and as it is replayed, give the bits of the lowest level. At
// the highest level so do the other modes, one thread, several, a collector that
// runs all the time, and a closed pool.
func TestRowsGiveTheSameBits(t *testing.T) {
	simdtest.Everywhere(t, func(t *testing.T, w simdtest.Way, found simdtest.Found) {
		var m *modes
		high := w == simdtest.Ways()[simd.Detected()]
		rows := map[op.Name]bool{}
		cases := op.Cases()
		for i := range cases {
			if i%renewed == 0 {
				m = newModes(t)
			}
			c := &cases[i]
			for _, f := range identityTypes(c) {
				in, typed := c.Typed(f)
				if !typed && f != dtype.F32 {
					continue
				}
				label := fmt.Sprintf("%s %v", c.Label, f)
				digest, ok := m.compare(t, label, c, in, high && f == dtype.F32)
				found(label, digest)
				if ok {
					rows[c.Def.Name] = true
				}
			}
		}
		for _, table := range op.All() {
			for i := range table {
				if d := &table[i]; !rows[d.Name] && d.Class != op.Collective {
					t.Errorf("no case of %s ran", d.Name)
				}
			}
		}
		if high {
			m.together(t, cases)
		}
	})
}

// renewed is after how many cases the dispatchers, with all they remember, are new ones.
const renewed = 50

// identityTypes are the types a case runs in: every kind where it costs little.
func identityTypes(c *op.Case) []dtype.DType {
	switch element := c.Def.Class == op.Elementwise; {
	case element && strings.HasSuffix(c.Label, "grown 1"):
		return []dtype.DType{dtype.F32, dtype.BF16, dtype.F16, dtype.F64, dtype.I32, dtype.F8E4M3}
	case element && c.Grown:
		return []dtype.DType{dtype.F32}
	}
	return []dtype.DType{dtype.F32, dtype.BF16}
}

// modes holds a dispatcher for each mode.
type modes struct{ d []*exec.Dispatcher }

func newModes(t *testing.T) *modes {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	m := &modes{}
	for _, mode := range []*exec.Mode{exec.Strict, exec.Debug, exec.DeferAndFuse, exec.Compiled} {
		m.d = append(m.d, exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: mode}))
	}
	return m
}

// program calls the row of a case amid elementwise operations that fuse with it,
// and with its gradient.
func program(c *op.Case, weak []any, in []*tpu.Tensor) (out []*tpu.Tensor) {
	apply := func(in []*tpu.Tensor) []*tpu.Tensor {
		args := make([]any, len(weak))
		for i, w := range weak {
			if args[i] = w; in[i] != nil {
				args[i] = in[i]
			}
		}
		return tpu.Apply(string(c.Def.Name), c.Attrs, args...)
	}
	amid := make([]*tpu.Tensor, len(in))
	for i, x := range in {
		if amid[i] = x; x != nil && x.DType().IsFloat() {
			amid[i] = x.Neg().Neg()
		}
	}
	for _, y := range apply(amid) {
		if y.DType().IsFloat() {
			y = y.Mul(0.75).Add(y)
		}
		out = append(out, y)
	}
	if c.Def.Grad == nil || len(c.Diff) == 0 || c.Grown && c.Def.Class == op.Elementwise && !strings.HasSuffix(c.Label, "1") {
		return out
	}
	leaves := make([]*tpu.Tensor, len(in))
	copy(leaves, in)
	var xs []*tpu.Tensor
	for _, i := range c.Diff {
		if in[i] != nil && in[i].DType().IsFloat() {
			leaves[i] = in[i].Detach().Clone().RequireGrad()
			xs = append(xs, leaves[i])
		}
	}
	var loss *tpu.Tensor
	for _, y := range apply(leaves) {
		if !y.DType().IsFloat() || !y.RequiresGrad() {
			continue
		}
		if s := y.Mul(y).Sum(); loss == nil {
			loss = s
		} else {
			loss = loss.Add(s)
		}
	}
	if loss == nil {
		return out
	}
	for _, g := range tpu.GradWith(loss, tpu.GradOptions{AllowUnused: true}, xs...) {
		if g != nil {
			out = append(out, g)
		}
	}
	return out
}

// compare runs a case in strict mode and compiled twice, and where wide in every
// mode; it gives the digest of what strict mode computes. No when the row refuses.
func (m *modes) compare(t *testing.T, label string, c *op.Case, in []kernel.Array, wide bool) (uint64, bool) {
	first, err := m.run(0, c, in, nil)
	others, compiled := []int(nil), []int{2}
	if wide {
		others, compiled = []int{1, 2, 3}, []int{0, 2}
	}
	for _, i := range others {
		got, other := m.run(i, c, in, nil)
		same(t, label, m.d[i].Mode().Name, first, got, err, other)
	}
	if err != nil {
		return 0, false
	}
	for _, i := range compiled {
		var f func([]*tpu.Tensor) []*tpu.Tensor
		for _, what := range []string{"first run", "replay"} {
			got, other := m.run(i, c, in, &f)
			var reads *exec.ReadWhileTracingError
			if errors.As(other, &reads) {
				break // its sizes are found on the host
			}
			same(t, label, m.d[i].Mode().Name+", compiled, "+what, first, got, err, other)
		}
	}
	h := fnv.New64a()
	for _, b := range first {
		h.Write(b)
	}
	return h.Sum64(), true
}

// run gives type and bits of each result in a mode. compiled is nil, or where
// the compiled function is kept between runs.
func (m *modes) run(mode int, c *op.Case, in []kernel.Array, compiled *func([]*tpu.Tensor) []*tpu.Tensor) (bits [][]byte, err error) {
	defer tpu.Use(m.d[mode])()
	err = tpu.Try(func() {
		weak := make([]any, len(in))
		ts := make([]*tpu.Tensor, len(in))
		for i, a := range in {
			switch {
			case !a.Valid():
			case a.Weak:
				weak[i] = kernel.Float64s(a)[0]
			default:
				ts[i] = tpu.FromArray(a)
			}
		}
		var out []*tpu.Tensor
		if compiled == nil {
			out = program(c, weak, ts)
		} else {
			if *compiled == nil {
				*compiled = tpu.Compile(func(in []*tpu.Tensor) []*tpu.Tensor { return program(c, weak, in) }).(func([]*tpu.Tensor) []*tpu.Tensor)
			}
			out = (*compiled)(ts)
		}
		for _, y := range out {
			a := y.Array()
			bits = append(bits, append([]byte(y.Spec().String()), a.Buf[:a.Size()*a.DType.HostBytes()]...))
		}
	})
	return bits, err
}

// same reports a difference.
func same(t *testing.T, label, how string, want, got [][]byte, wantErr, gotErr error) {
	t.Helper()
	var outside *exec.BoundsError // the other modes do not check
	if errors.As(gotErr, &outside) && how == exec.Debug.Name {
		return
	}
	if (wantErr == nil) != (gotErr == nil) {
		t.Errorf("%s: strict %v, %s %v", label, wantErr, how, gotErr)
		return
	}
	if wantErr != nil {
		return
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d results in strict, %d in %s", label, len(want), len(got), how)
		return
	}
	for i := range want {
		if string(want[i]) == string(got[i]) {
			continue
		}
		for j := range min(len(want[i]), len(got[i])) {
			if want[i][j] != got[i][j] {
				lo, hi := max(0, j-8), min(j+8, len(want[i]), len(got[i]))
				t.Errorf("%s: result %d differs in byte %d: strict % x, %s % x", label, i, j, want[i][lo:hi], how, got[i][lo:hi])
				break
			}
		}
	}
}

// together runs what is large again on other numbers of threads, with the
// collector running all the time, and with the pool closed.
func (m *modes) together(t *testing.T, cases []op.Case) {
	type one struct {
		c    *op.Case
		in   []kernel.Array
		bits [][]byte
		err  error
	}
	var all []one
	pool := par.Default()
	pool.SetThreads(1)
	for i := range cases {
		c := &cases[i]
		if !c.Grown {
			continue
		}
		if in, ok := c.Typed(dtype.F32); ok {
			bits, err := m.run(2, c, in, nil)
			all = append(all, one{c, in, bits, err})
		}
	}
	again := func(what string, every int) {
		for i := 0; i < len(all); i += every {
			o := &all[i]
			got, err := m.run(2, o.c, o.in, nil)
			same(t, o.c.Label, what, o.bits, got, o.err, err)
		}
	}
	pool.SetThreads(0)
	again("on all threads", 1)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	again("collecting", 16)
	debug.SetGCPercent(100)
	pool.Close()
	again("with the pool closed", 16)
}
