package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/plugin"
)

func options(t testing.TB, path string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Command: []string{self, ProcessName}, Plugin: path, Create: map[string]any{"cpu_device_count": 2}}
}

// pluginPath is the CPU plug-in's library; without one the test is skipped.
func pluginPath(t testing.TB) string {
	t.Helper()
	in, err := plugin.Here(os.Getenv).Find("cpu")
	if err != nil {
		t.Skip(err)
	}
	return in.Path
}

// start starts the CPU plug-in.
func start(t testing.TB) *Worker {
	t.Helper()
	w, err := Start(context.Background(), options(t, pluginPath(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	return w
}

const addText = `module @add {
  func.func public @main(%%a: tensor<%[1]dxf32>, %%b: tensor<%[1]dxf32>) -> tensor<%[1]dxf32> {
    %%0 = "stablehlo.add"(%%a, %%b) : (tensor<%[1]dxf32>, tensor<%[1]dxf32>) -> tensor<%[1]dxf32>
    return %%0 : tensor<%[1]dxf32>
  }
}`

func floats(n int, f func(i int) float32) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f(i)))
	}
	return b
}

func TestExecute(t *testing.T) {
	ctx, w := context.Background(), start(t)
	for _, n := range []int{4, 1 << 20} { // inline and through the shared memory
		p, err := w.Compile(ctx, capi.MLIR, fmt.Appendf(nil, addText, n), capi.CompileOptions{}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Outputs) != 1 || p.Outputs[0].Type.String() != "f32" || p.Outputs[0].Dims[0] != int64(n) {
			t.Errorf("outputs %v", p.Outputs)
		}
		f32, _ := capi.ParseType("f32")
		a, err := w.Put(0, f32, []int64{int64(n)}, floats(n, func(i int) float32 { return float32(i) }))
		if err != nil {
			t.Fatal(err)
		}
		sum := a
		for range 3 { // results are inputs at once
			out, err := p.Execute([]*Buffer{sum, a})
			if err != nil {
				t.Fatal(err)
			}
			sum = out[0]
		}
		got := make([]byte, 4*n)
		if err := sum.Get(ctx, got); err != nil {
			t.Fatal(err)
		}
		if want := floats(n, func(i int) float32 { return 4 * float32(i) }); !bytes.Equal(got, want) {
			t.Errorf("n = %d: wrong numbers", n)
		}
		code, err := p.Serialize(ctx)
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.Load(ctx, code)
		if err != nil {
			t.Fatal(err)
		}
		out, err := again.Execute([]*Buffer{a, a})
		if err != nil {
			t.Fatal(err)
		}
		if err := out[0].Get(ctx, got); err != nil || !bytes.Equal(got, floats(n, func(i int) float32 { return 2 * float32(i) })) {
			t.Errorf("n = %d: a loaded program gives wrong numbers (%v)", n, err)
		}
		w.Free(a, sum, out[0])
	}
}

func TestErrors(t *testing.T) {
	ctx, w := context.Background(), start(t)
	var ce *capi.Error
	if _, err := w.Compile(ctx, capi.MLIR, []byte("nonsense"), capi.CompileOptions{}.Encode()); !errors.As(err, &ce) {
		t.Errorf("nonsense: %v", err)
	}
	if _, err := w.Compile(ctx, "klingon", []byte("x"), capi.CompileOptions{}.Encode()); !errors.As(err, &ce) || ce.Code != capi.InvalidArgument {
		t.Errorf("format: %v", err)
	}
	p, err := w.Compile(ctx, capi.MLIR, fmt.Appendf(nil, addText, 4), capi.CompileOptions{}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	f32, _ := capi.ParseType("f32")
	a, _ := w.Put(0, f32, []int64{4}, make([]byte, 16))
	short, _ := w.Put(0, f32, []int64{3}, make([]byte, 16))
	for name, in := range map[string][]*Buffer{"one input": {a}, "a bad array": {a, short}} {
		out, err := p.Execute(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := out[0].Get(ctx, make([]byte, 16)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w.Free(a)
	out, _ := p.Execute([]*Buffer{a, a})
	if err := out[0].Get(ctx, make([]byte, 16)); err == nil {
		t.Error("a freed input: no error")
	}
	if err := w.Dead(); err != nil {
		t.Errorf("the worker died of errors: %v", err)
	}
}

func TestKilled(t *testing.T) {
	ctx, w := context.Background(), start(t)
	w.Kill()
	var de *DiedError
	if err := w.Sync(ctx); !errors.As(err, &de) || !strings.Contains(de.Status, "killed") {
		t.Errorf("got %v, want a DiedError", err)
	}
}

func TestCancelKillsWhatHangs(t *testing.T) {
	w := start(t)
	const endless = `module @endless {
  func.func public @main(%a: tensor<i32>) -> tensor<i32> {
    %0 = "stablehlo.while"(%a) ({
    ^bb0(%x: tensor<i32>):
      %t = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%t) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<i32>):
      %y = "stablehlo.add"(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%y) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
}`
	ctx, cancel := context.WithCancelCause(context.Background())
	p, err := w.Compile(ctx, capi.MLIR, []byte(endless), capi.CompileOptions{}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	i32, _ := capi.ParseType("i32")
	a, _ := w.Put(0, i32, nil, make([]byte, 4))
	if _, err := p.Execute([]*Buffer{a}); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("interrupted")
	go cancel(cause)
	if err := w.Sync(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	var de *DiedError
	if err := w.Dead(); !errors.As(err, &de) {
		t.Errorf("the worker lives on: %v", err)
	}
}

func TestNoPlugin(t *testing.T) {
	for _, path := range []string{"/no/such/plugin.so", os.Args[0]} {
		if _, err := Start(context.Background(), options(t, path)); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

// TestServeTakesAnyBytes: a broken peer gets errors or an end, never a panic.
func TestServeTakesAnyBytes(t *testing.T) {
	for _, in := range []string{"", "\x01\x00\x00\x00\x63", "\x00\x00\x00\x00", "\xff\xff\xff\xff\x01", "\x05\x00\x00\x00\x07abcd", "\x02"} {
		_ = Serve(strings.NewReader(in), io.Discard, nil, "/no/such/plugin.so", nil)
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte("\x05\x00\x00\x00\x07abcd"))
	f.Fuzz(func(_ *testing.T, in []byte) {
		if len(in) < 1<<16 {
			s := &server{buffers: map[uint64]held{}, programs: map[uint64]*capi.Executable{}}
			s.about.NoClient = "no client"
			for v := put; v < aot; v++ {
				if do := verbs[v]; do.f != nil {
					_, _ = do.f(s, &cursor{b: in})
				}
			}
		}
	})
}

func BenchmarkExecute(b *testing.B) {
	ctx, w := context.Background(), start(b)
	p, err := w.Compile(ctx, capi.MLIR, fmt.Appendf(nil, addText, 4), capi.CompileOptions{}.Encode())
	if err != nil {
		b.Fatal(err)
	}
	f32, _ := capi.ParseType("f32")
	x, _ := w.Put(0, f32, []int64{4}, make([]byte, 16))
	b.Run("dispatch", func(b *testing.B) {
		for b.Loop() {
			out, err := p.Execute([]*Buffer{x, x})
			if err != nil {
				b.Fatal(err)
			}
			w.Free(out...)
		}
		_ = w.Sync(ctx)
	})
	b.Run("and wait", func(b *testing.B) {
		for b.Loop() {
			out, err := p.Execute([]*Buffer{x, x})
			if err != nil {
				b.Fatal(err)
			}
			if err := w.Sync(ctx); err != nil {
				b.Fatal(err)
			}
			w.Free(out...)
		}
	})
}
