package dtype

import (
	"bufio"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A number reads a JSON number or one of the strings NaN, Infinity, -Infinity.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	switch s := strings.Trim(string(b), `"`); s {
	case "NaN":
		*n = number(math.NaN())
	case "Infinity":
		*n = number(math.Inf(1))
	case "-Infinity":
		*n = number(math.Inf(-1))
	default:
		var x float64
		if err := json.Unmarshal(b, &x); err != nil {
			return err
		}
		*n = number(x)
	}
	return nil
}

type array struct {
	DType string
	Data  []number
}

type record struct {
	ID, Op  string
	Inputs  []array
	Outputs []array
	Attrs   struct {
		DType, Of, Left string
		Block           int
		LeftKind        string `json:"left_kind"`
		RightKind       string `json:"right_kind"`
	}
	Results    map[string]any
	SignedZero bool `json:"signed_zero"`
}

// records reads testdata/name and, when it is there, the whole recording of
// which that is a sample.
func records(t *testing.T, name string) []record {
	t.Helper()
	paths := []string{filepath.Join("testdata", name)}
	for dir := ".."; ; dir = filepath.Join("..", dir) {
		abs, err := filepath.Abs(dir)
		if err != nil || abs == "/" {
			break
		}
		if p := filepath.Join(dir, "shared", "conformance", name); exists(p) {
			paths = []string{p}
			break
		}
	}
	var all []record
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<24)
		for s.Scan() {
			if name == "promotion.jsonl" && !strings.Contains(s.Text(), `"of":"promote_types"`) &&
				!strings.Contains(s.Text(), `"of":"result_type"`) && !strings.Contains(s.Text(), `"of":"can_cast"`) {
				continue
			}
			var r record
			if name == "cast.jsonl" && !strings.Contains(s.Text(), `"dtype":"f32"`) {
				continue
			}
			if err := json.Unmarshal(s.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatal("no records")
	}
	return all
}

func exists(p string) bool { _, err := os.Stat(p); return err == nil }

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestPromotionIsPyTorchs(t *testing.T) {
	python := map[string]DType{"bool": Bool, "int": I64, "float": F64, "complex": C64}
	category := map[string]Category{"dim": Dim, "0d": ZeroDim, "python": Number}
	for _, r := range records(t, "promotion.jsonl") {
		t.Run(r.ID, func(t *testing.T) {
			left, ok := Parse(r.Attrs.Left)
			if !ok {
				t.Skip(r.Attrs.Left)
			}
			for name, want := range r.Results {
				right, ok := Parse(name)
				if r.Attrs.RightKind == "python" {
					right, ok = python[name]
				}
				if !ok {
					t.Errorf("no type %s", name)
					continue
				}
				var got DType
				var err error
				switch r.Attrs.Of {
				case "can_cast":
					if got := CanCast(left, right); got != want {
						t.Errorf("CanCast(%v, %v) = %v, want %v", left, right, got, want)
					}
					continue
				case "promote_types":
					got, err = Promote(left, right)
				case "result_type":
					got, err = ResultType(Operand{left, category[r.Attrs.LeftKind]}, Operand{right, category[r.Attrs.RightKind]})
				}
				if want == "error:dtype_not_supported" {
					var pe *PromotionError
					if !errors.As(err, &pe) {
						t.Errorf("%v with %v = %v, %v; want a PromotionError", left, right, got, err)
					}
					continue
				}
				if w, _ := Parse(want.(string)); err != nil || got != w {
					t.Errorf("%v with %v = %v, %v; want %v", left, right, got, err, want)
				}
			}
		})
	}
}

func TestSmallFormats(t *testing.T) {
	for _, r := range records(t, "small_formats.jsonl") {
		t.Run(r.ID, func(t *testing.T) {
			switch r.Op {
			case "mx_quantize":
				testBlock(t, r, Block{Element: r.Attrs.DType, Scale: F8E8M0, Size: r.Attrs.Block})
				return
			case "nvfp4_quantize":
				b, _ := BlockByName("nvfp4")
				testBlock(t, r, b)
				return
			case "pack_nibbles":
				testNibbles(t, r)
				return
			}
			f, ok := FormatByName(r.Attrs.DType)
			if !ok {
				t.Fatal(r.Attrs.DType)
			}
			for i, x := range r.Inputs[0].Data {
				want := float64(r.Outputs[0].Data[i])
				if r.Inputs[0].DType == "f32" {
					x = number(float32(x))
				}
				var got float64
				switch r.Op {
				case "small_decode":
					got = f.Decode(uint64(x))
				case "small_code":
					got = float64(f.Encode(float64(x), Overflows))
				case "small_cast":
					if f.Special == Scale && x <= 0 {
						continue // ml_dtypes refuses these with NaN, PyTorch takes the magnitude
					}
					got = f.Decode(f.Encode(float64(x), Overflows))
				}
				if !r.SignedZero && got == 0 && want == 0 {
					continue
				}
				if !same(float64(float32(got)), float64(float32(want))) {
					t.Errorf("%s of %v = %v, want %v", r.Op, x, got, want)
				}
			}
		})
	}
}

func TestCastRounding(t *testing.T) {
	for _, r := range records(t, "cast.jsonl") {
		if r.Inputs[0].DType != "f32" {
			continue
		}
		d, ok := Parse(r.Attrs.DType)
		if !ok || !d.IsFloat() {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			for i, x := range r.Inputs[0].Data {
				x := float32(x)
				want := float64(float32(r.Outputs[0].Data[i]))
				if got := d.Round(float64(x)); !same(got, want) && got != want {
					t.Errorf("%v of %v = %v, want %v", d, x, got, want)
				}
				if got := float64(d.RoundF32(x)); d != F64 && !same(got, want) && got != want {
					t.Errorf("RoundF32 to %v of %v = %v, want %v", d, x, got, want)
				}
			}
		})
	}
}

// testBlock compares scales, elements and the values back with the recorded ones.
func testBlock(t *testing.T, r record, b Block) {
	f, ok := FormatByName(b.Element)
	if !ok {
		t.Fatal(b.Element)
	}
	for k := range len(r.Inputs[0].Data) / b.Size {
		x, codes, back := make([]float32, b.Size), make([]uint8, b.Size), make([]float32, b.Size)
		for i := range x {
			x[i] = float32(r.Inputs[0].Data[k*b.Size+i])
		}
		scale := b.Quantize(x, codes)
		b.Dequantize(scale, codes, back)
		got, want := float64(scale), float64(r.Outputs[0].Data[k])
		if r.Outputs[0].DType != "u8" {
			got = b.Scale.Decode(uint64(scale))
		}
		if got != want {
			t.Errorf("block %d: scale %v, want %v", k, got, want)
		}
		for i := range x {
			if got, want := f.Decode(uint64(codes[i])), float64(r.Outputs[1].Data[k*b.Size+i]); got != want {
				t.Errorf("block %d: %v becomes %v, want %v", k, x[i], got, want)
			}
			if got, want := back[i], float32(r.Outputs[2].Data[k*b.Size+i]); got != want {
				t.Errorf("block %d: %v comes back as %v, want %v", k, x[i], got, want)
			}
		}
	}
}

func testNibbles(t *testing.T, r record) {
	var codes, want []uint8
	for _, x := range r.Inputs[0].Data {
		codes = append(codes, uint8(x))
	}
	for _, x := range r.Outputs[0].Data {
		want = append(want, uint8(x))
	}
	if got := PackNibbles(codes); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := UnpackNibbles(want, len(codes)); !slices.Equal(got, codes) {
		t.Errorf("unpacked %v, want %v", got, codes)
	}
}

func TestBlocksOfZerosAndNaN(t *testing.T) {
	nan := float32(math.NaN())
	for _, b := range Blocks() {
		codes, back := make([]uint8, 2), make([]float32, 2)
		b.Dequantize(b.Quantize([]float32{0, 0}, codes), codes, back)
		if back[0] != 0 || back[1] != 0 {
			t.Errorf("%s: zeros come back as %v", b.Name, back)
		}
		b.Dequantize(b.Quantize([]float32{1, nan}, codes), codes, back)
		if back[0] == back[0] || back[1] == back[1] {
			t.Errorf("%s: a block with NaN comes back as %v", b.Name, back)
		}
	}
}
