package dtype

import (
	"bufio"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
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
			if strings.Contains(s.Text(), "_quantize") || strings.Contains(s.Text(), "pack_nibbles") {
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
				if !ok || want == "c128" || right == F64 && left == C64 || left == F64 && right == C64 {
					continue // c128 is not in the table
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
