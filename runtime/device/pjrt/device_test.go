package pjrt_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/devicetest"
	"github.com/tpush/tpush/runtime/device/pjrt"
	"github.com/tpush/tpush/runtime/device/pjrt/plugintest"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// TestMain is the plug-in process too.
func TestMain(m *testing.M) { plugintest.Main(m) }

func options(t testing.TB) pjrt.Options {
	t.Helper()
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	return pjrt.Options{Worker: plugintest.CPU(t, 1), Chip: chip}
}

func open(t testing.TB, o pjrt.Options) *pjrt.Device {
	t.Helper()
	d, err := pjrt.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestDevice: the plug-in does what every device must do. XLA sums in another
// order and has its own exp.
func TestDevice(t *testing.T) {
	o := options(t)
	o.Cache = &pjrt.Cache{Folders: []string{t.TempDir()}}
	devicetest.RunWithin(t, func(t *testing.T) device.Device { return open(t, o) }, 1e-5)
}

func graphOf(t *testing.T, n int) (*devicetest.Builder, shape.Spec) {
	return devicetest.NewBuilder(t), shape.Of(dtype.F32, n)
}

// double compiles x+x on d.
func double(t *testing.T, d device.Device, n int) device.Executable {
	t.Helper()
	b, s := graphOf(t, n)
	x := b.In(s)
	e, err := d.Compile(b.Out(b.Do("add", nil, x, x)), device.FastRun)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func numbers(t *testing.T, d device.Device, x ...float32) device.Buffer {
	t.Helper()
	a := kernel.New(shape.Of(dtype.F32, len(x)))
	copy(kernel.As[float32](a.Buf), x)
	b, err := d.Upload(a.Spec(), a.Buf, device.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func run(e device.Executable, in ...device.Buffer) (device.Buffer, error) {
	l := &device.Launch{In: in, Owners: make([]device.Owner, 1), Donate: make([]bool, len(in))}
	if err := e.Run(l); err != nil {
		return nil, err
	}
	return l.Out[0], nil
}

func TestCache(t *testing.T) {
	o := options(t)
	near, far := t.TempDir(), t.TempDir()
	use := func(folders ...string) (*pjrt.Cache, float32) {
		o.Cache = &pjrt.Cache{Folders: folders, Library: "L"}
		d := open(t, o)
		out, err := run(double(t, d, 3), numbers(t, d, 1, 2, 3))
		if err != nil {
			t.Fatal(err)
		}
		return o.Cache, kernel.As[float32](out.Host().Buf)[2]
	}
	check := func(name string, c *pjrt.Cache, got float32, hits, misses int64) {
		t.Helper()
		if s := c.Stats(); got != 6 || s.Hits != hits || s.Misses != misses {
			t.Errorf("%s: %v, %d hits, %d misses", name, got, s.Hits, s.Misses)
		}
	}
	c, got := use(near, far)
	check("empty", c, got, 0, 1)
	c, got = use(near, far)
	check("filled", c, got, 1, 0)
	files, _ := filepath.Glob(filepath.Join(near, "*", "*.bin"))
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	for name, spoil := range map[string]func() error{
		"cut":     func() error { return os.Truncate(files[0], 100) },
		"emptied": func() error { return os.Truncate(files[0], 0) },
		"flipped": func() error {
			b, err := os.ReadFile(files[0])
			if err != nil {
				return err
			}
			b[len(b)-1] ^= 1
			return os.WriteFile(files[0], b, 0o644)
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		c, got = use(near)
		check(name, c, got, 0, 1)
		c, got = use(near)
		check(name+", written anew", c, got, 1, 0)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	c, got = use(near, far)
	check("from the shared folder", c, got, 1, 0)
	c, got = use(near)
	check("copied from it", c, got, 1, 0)
	c, got = use("/proc/no/such/folder")
	check("a folder that cannot be used", c, got, 0, 1)
}

func TestInterrupt(t *testing.T) {
	d := open(t, options(t))
	d.Interrupt() // nothing runs: nothing happens
	if _, err := run(double(t, d, 2), numbers(t, d, 1, 2)); err != nil {
		t.Error(err)
	}
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
}

// TestHostStage: what XLA has no operation for runs on the host, between two programs.
func TestHostStage(t *testing.T) {
	d := open(t, options(t))
	b, s := devicetest.NewBuilder(t), shape.Of(dtype.F32, 2, 2)
	x := b.In(s)
	double := b.Do("add", nil, x, x)
	inv := b.Do("inv", nil, double)
	e, err := d.Compile(b.Out(b.Do("add", nil, inv, x)), device.FastRun)
	if err != nil {
		t.Fatal(err)
	}
	in := kernel.New(s)
	copy(kernel.As[float32](in.Buf), []float32{1, 0, 0, 2})
	buf, err := d.Upload(s, in.Buf, device.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(e, buf)
	if err != nil {
		t.Fatal(err)
	}
	if got := kernel.As[float32](out.Host().Buf); got[0] != 1.5 || got[3] != 2.25 {
		t.Errorf("got %v", got)
	}
}

// TestMeasure: a launch that asks for it is timed by the process.
func TestMeasure(t *testing.T) {
	d := open(t, options(t))
	l := &device.Launch{In: []device.Buffer{numbers(t, d, 1, 2)}, Owners: make([]device.Owner, 1), Donate: make([]bool, 1), Measure: true}
	if err := double(t, d, 2).Run(l); err != nil {
		t.Fatal(err)
	}
	if l.RealNS <= 0 {
		t.Errorf("it took %d ns", l.RealNS)
	}
}

// TestCacheShared: devices that compile the same programs at the same time, in
// one folder, all get right numbers and leave whole files.
func TestCacheShared(t *testing.T) {
	o := options(t)
	o.Fast = true
	dir := t.TempDir()
	t.Run("together", func(t *testing.T) {
		for range 3 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				o := o
				o.Cache = &pjrt.Cache{Folders: []string{dir}, Library: "L"}
				d := open(t, o)
				for n := 1; n < 6; n++ {
					out, err := run(double(t, d, n), numbers(t, d, make([]float32, n)...))
					if err != nil {
						t.Fatal(err)
					}
					if err := out.(device.Waiter).Wait(); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
	o.Cache = &pjrt.Cache{Folders: []string{dir}, Library: "L"}
	d := open(t, o)
	for n := 1; n < 6; n++ {
		double(t, d, n)
	}
	if s := o.Cache.Stats(); s.Hits != 5 || s.Misses != 0 {
		t.Errorf("afterwards %d hits, %d misses", s.Hits, s.Misses)
	}
}
