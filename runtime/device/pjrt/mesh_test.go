package pjrt_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/devicetest"
	"github.com/tpush/tpush/runtime/device/pjrt"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// place compiles and runs distribute.
func place(t *testing.T, d device.Device, x device.Buffer, mesh, placements string) device.Buffer {
	t.Helper()
	b := devicetest.NewBuilder(t)
	in := b.In(x.Spec())
	e, err := d.Compile(b.Out(b.Do("distribute", op.Attrs{{Name: "mesh", Value: mesh}, {Name: "placements", Value: placements}}, in)), device.FastRun)
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(e, x)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// meshed opens a plug-in with n devices.
func meshed(t *testing.T, n int) *pjrt.Device {
	o := options(t)
	o.Fast = true
	o.Worker.Create = map[string]any{"cpu_device_count": n}
	return open(t, o)
}

func upload(t *testing.T, d device.Device, f func(i int) float32, dims ...int) device.Buffer {
	t.Helper()
	a := kernel.New(shape.Of(dtype.F32, dims...))
	for i, x := 0, kernel.As[float32](a.Buf); i < len(x); i++ {
		x[i] = f(i)
	}
	b, err := d.Upload(a.Spec(), a.Buf, device.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMesh multiplies matrices that lie on four devices in several ways: the
// numbers are always those of one device, and what the devices tell each other
// is the known exchange.
func TestMesh(t *testing.T) {
	d := meshed(t, 4)
	x := upload(t, d, func(i int) float32 { return float32(i%7) - 3 }, 8, 12)
	y := upload(t, d, func(i int) float32 { return float32(i%5) - 2 }, 12, 4)
	b := devicetest.NewBuilder(t)
	g := b.Out(b.Do("matmul", nil, b.In(x.Spec()), b.In(y.Spec())))
	e, err := d.Compile(g, device.FastRun)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := run(e, x, y)
	if err != nil {
		t.Fatal(err)
	}
	want := kernel.As[float32](alone.Host().Buf)
	for _, tt := range []struct {
		x, y    string
		op      string // of the exchange, "" for none
		bytes   int64
		answers string // where the product is, "" when any place will do
	}{
		{"S(0),R", "R,R", "", 0, "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"},
		{"S(0),R", "R,S(1)", "", 0, "{devices=[2,2]0,1,2,3}"},
		{"S(1),R", "S(0),R", "all-reduce", 8 * 4 * 4, ""},
		{"S(1),S(1)", "S(0),S(0)", "all-reduce", 8 * 4 * 4, ""},
	} {
		t.Run(tt.x+" times "+tt.y, func(t *testing.T) {
			l := &device.Launch{
				In:     []device.Buffer{place(t, d, x, "dp=2,tp=2", tt.x), place(t, d, y, "dp=2,tp=2", tt.y)},
				Owners: make([]device.Owner, 1), Donate: make([]bool, 2),
			}
			if err := e.Run(l); err != nil {
				t.Fatal(err)
			}
			for i, v := range kernel.As[float32](l.Out[0].Host().Buf) {
				if v != want[i] {
					t.Fatalf("number %d is %v, want %v", i, v, want[i])
				}
			}
			if got := l.Out[0].(device.Placed).Sharding().String(); tt.answers != "" && got != tt.answers {
				t.Errorf("the product is at %s, want %s", got, tt.answers)
			}
			switch {
			case tt.op == "" && len(l.Collectives) > 0:
				t.Errorf("exchanges %v, want none", l.Collectives)
			case tt.op != "" && (len(l.Collectives) != 1 || l.Collectives[0].Op != tt.op || l.Collectives[0].Bytes != tt.bytes || l.Collectives[0].Groups == ""):
				t.Errorf("exchanges %v, want one %s of %d bytes", l.Collectives, tt.op, tt.bytes)
			}
		})
	}
	whole := place(t, d, place(t, d, x, "dp=2,tp=2", "S(0),S(1)"), "dp=2,tp=2", "R,R")
	if got := kernel.As[float32](whole.Host().Buf); got[95] != float32(95%7)-3 {
		t.Errorf("gathered: %v", got)
	}
}

func TestMeshErrors(t *testing.T) {
	d := meshed(t, 2)
	x := upload(t, d, func(int) float32 { return 1 }, 4, 4)
	b := devicetest.NewBuilder(t)
	e, err := d.Compile(b.Out(b.Do("distribute", op.Attrs{{Name: "mesh", Value: "x=4"}, {Name: "placements", Value: "S(0)"}}, b.In(x.Spec()))), device.FastRun)
	if err != nil {
		t.Fatal(err)
	}
	var me *pjrt.MeshSizeError
	if _, err := run(e, x); !errors.As(err, &me) || me.Want != 4 || me.Have != 2 {
		t.Errorf("got %v, want a MeshSizeError", err)
	}
}

// TestUneven cuts axes that do not divide: what is put together again is the
// tensor, and so is what is computed of the parts.
func TestUneven(t *testing.T) {
	d := meshed(t, 4)
	for _, dims := range [][2]int{{5, 3}, {7, 6}, {1, 9}, {2, 2}, {9, 1}} {
		x := upload(t, d, func(i int) float32 { return float32(i) + 1 }, dims[0], dims[1])
		for _, where := range []string{"S(0),S(1)", "S(0),S(0)", "S(1),R", "R,S(0)", "S(1),S(1)", "S(0)", "S(1)"} {
			t.Run(fmt.Sprint(dims, where), func(t *testing.T) {
				mesh := "dp=2,tp=2"
				if !strings.Contains(where, ",") {
					mesh = "x=3"
				}
				cut := place(t, d, x, mesh, where)
				b := devicetest.NewBuilder(t)
				in := b.In(x.Spec())
				e, err := d.Compile(b.Out(b.Do("matmul", nil, in, b.Do("transpose", op.Attrs{{Name: "dim0", Value: 0}, {Name: "dim1", Value: 1}}, in)),
					b.Do("sum", nil, in), b.Do("flip", op.Attrs{{Name: "dims", Value: []int{0, 1}}}, in)), device.FastRun)
				if err != nil {
					t.Fatal(err)
				}
				got, want := all(t, e, cut), all(t, e, x)
				for i := range want {
					if !bytes.Equal(got[i].Host().Buf, want[i].Host().Buf) {
						t.Errorf("result %d is %v, want %v", i, kernel.As[float32](got[i].Host().Buf), kernel.As[float32](want[i].Host().Buf))
					}
				}
				if !bytes.Equal(cut.Host().Buf, x.Host().Buf) {
					t.Errorf("put together: %v", kernel.As[float32](cut.Host().Buf))
				}
			})
		}
	}
}

func all(t *testing.T, e device.Executable, in ...device.Buffer) []device.Buffer {
	t.Helper()
	l := &device.Launch{In: in, Owners: make([]device.Owner, 3), Donate: make([]bool, len(in))}
	if err := e.Run(l); err != nil {
		t.Fatal(err)
	}
	return l.Out
}
