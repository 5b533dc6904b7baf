package conformance

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

func read(t *testing.T, line string) Record {
	t.Helper()
	recs, err := Read(strings.NewReader(line+"\n"), "test")
	if err != nil || len(recs) != 1 {
		t.Fatalf("Read: %v, %d records", err, len(recs))
	}
	return recs[0]
}

func TestReadKeepsWhatJSONLoses(t *testing.T) {
	r := read(t, `{"id":"a","op":"f","inputs":[{"dtype":"i64","shape":[2],"data":[9007199254740993,-9223372036854775808]},{"dtype":"f32","shape":[4],"data":["NaN","-Infinity",-0.0,0.1]},{"scalar":"float","value":2},{"string":"ij"},[{"dtype":"bool","shape":[],"data":[1]}],null],"attrs":{"dim":-1,"p":"Infinity","dtype":"f32","x":1.0,"keepdim":true}}`)
	if got := kernel.Int64s(r.Inputs[0].Array); got[0] != 9007199254740993 || got[1] != math.MinInt64 {
		t.Errorf("integers read as %v", got)
	}
	f := kernel.Float32s(r.Inputs[1].Array)
	if f[0] == f[0] || f[1] != float32(math.Inf(-1)) || !math.Signbit(float64(f[2])) || f[3] != 0.1 {
		t.Errorf("floats read as %v", f)
	}
	if r.Inputs[2].Number != 2.0 || !r.Inputs[2].Array.Weak || r.Inputs[2].Array.DType != dtype.F64 {
		t.Errorf("scalar read as %+v", r.Inputs[2])
	}
	if r.Inputs[3].Kind != String || r.Inputs[4].Kind != List || r.Inputs[4].Items[0].Array.DType != dtype.Bool || r.Inputs[5].Kind != None {
		t.Errorf("kinds read as %+v", r.Inputs[3:])
	}
	if r.Attrs["dim"] != -1 || r.Attrs["p"] != math.Inf(1) || r.Attrs["x"] != 1.0 || r.Attrs["keepdim"] != true || r.Attrs["dtype"] != "f32" {
		t.Errorf("attributes read as %v", r.Attrs)
	}
}

func TestReadStrided(t *testing.T) {
	r := read(t, `{"id":"a","op":"f","inputs":[{"dtype":"bf16","shape":[2,2],"strides":[1,2],"offset":1,"storage":[9,1,2,3,4]}]}`)
	if got := kernel.Float32s(r.Inputs[0].Array); got[0] != 1 || got[1] != 3 || got[2] != 2 || got[3] != 4 {
		t.Errorf("strided input reads as %v, want [1 3 2 4]", got)
	}
}

func TestReadRefuses(t *testing.T) {
	_, err := Read(strings.NewReader("{}\n{\"inputs\":[{\"dtype\":\"i8\",\"shape\":[2],\"data\":[1]}]}\n"), "f")
	var fe *FormatError
	if !errors.As(err, &fe) || fe.Line != 2 {
		t.Errorf("error = %v, want a *FormatError at line 2", err)
	}
}

func TestCompare(t *testing.T) {
	f32 := func(xs ...float32) kernel.Array {
		a := kernel.New(shape.Of(dtype.F32, len(xs)))
		copy(kernel.As[float32](a.Buf), xs)
		return a
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	neg0 := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name      string
		got, want kernel.Array
		tol       Tol
		ok        bool
	}{
		{"equal", f32(1, nan, inf), f32(1, nan, inf), Tol{}, true},
		{"off", f32(1), f32(1.001), Tol{}, false},
		{"relative", f32(100), f32(100.1), Tol{RTol: 1e-2}, true},
		{"absolute", f32(0.001), f32(0), Tol{ATol: 1e-2}, true},
		{"number for NaN", f32(1), f32(nan), Tol{ATol: 1e9}, false},
		{"NaN for number", f32(nan), f32(1), Tol{ATol: 1e9}, false},
		{"infinity for number", f32(inf), f32(1), Tol{ATol: 1e9}, false},
		{"number for infinity", f32(1), f32(inf), Tol{RTol: 1}, false},
		{"signs of zero alike", f32(neg0), f32(0), Tol{}, true},
		{"signs of zero count", f32(neg0), f32(0), Tol{SignedZero: true}, false},
	} {
		if err := Compare(c.got, c.want, c.tol); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	var ve *ValueError
	if err := Compare(f32(1, 2, 3), f32(1, 5, 6), Tol{}); !errors.As(err, &ve) || ve.Wrong != 2 || ve.At[0] != 1 {
		t.Errorf("error = %v, want 2 wrong from [1]", err)
	}
	var se *SpecError
	if err := Compare(f32(1), kernel.Cast(f32(1), dtype.F64), Tol{}); !errors.As(err, &se) {
		t.Errorf("error = %v, want a *SpecError", err)
	}
}

// TestReadEverything reads all recordings, when they are there.
func TestReadEverything(t *testing.T) {
	for _, folder := range []string{"conformance", "conformance_opinfo"} {
		dir, ok := Find(".", folder)
		if !ok {
			t.Skip("no recordings beside this checkout")
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		total := 0
		for _, f := range files {
			recs, err := ReadFile(f)
			if err != nil {
				t.Error(err)
			}
			total += len(recs)
		}
		if total == 0 {
			t.Errorf("%s holds no records", dir)
		}
	}
}
