package shape

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
)

// layoutRecords finds the whole recording beside the checkout, else the sample.
func layoutRecords(t *testing.T) string {
	for dir := ".."; ; dir = filepath.Join("..", dir) {
		abs, err := filepath.Abs(dir)
		if err != nil || abs == "/" {
			return filepath.Join("testdata", "layouts.jsonl")
		}
		p := filepath.Join(dir, "shared", "calibration", "layouts.jsonl")
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
}

// TestLayoutIsTheCompilers compares text and bytes with what the TPU compiler reported.
func TestLayoutIsTheCompilers(t *testing.T) {
	bits := map[string]int{"s2": 2, "u2": 2, "f8e4m3b11fnuz": 8}
	for _, path := range []string{filepath.Join("testdata", "layouts.jsonl"), layoutRecords(t)} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n := 0
		for s := bufio.NewScanner(f); s.Scan(); n++ {
			var r struct {
				Gen, DType, Param, Output string
				Shape                     []int
				Bytes                     int64 `json:"argument_bytes"`
			}
			if err := json.Unmarshal(s.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			d, ok := dtype.Parse(r.DType)
			w := bits[r.DType]
			if ok {
				w = d.Bits()
			} else if w == 0 {
				t.Fatalf("element type %s", r.DType)
			}
			l := LayoutFor(r.DType, w, r.Shape)
			if l.String() != r.Param || l.Bytes != r.Bytes {
				t.Errorf("%s %s%v: %s %d bytes, compiler says %s %d", r.Gen, r.DType, r.Shape, l, l.Bytes, r.Param, r.Bytes)
			}
			if s := Of(d, r.Shape...); ok && s.PaddedBytes() != r.Bytes {
				t.Errorf("PaddedBytes(%v) = %d, compiler says %d", s, s.PaddedBytes(), r.Bytes)
			}
		}
		if n < 50 {
			t.Fatalf("%s: only %d rows", path, n)
		}
	}
}

func TestPinnedLayout(t *testing.T) {
	for _, c := range []struct {
		s     Spec
		text  string
		bytes int64
	}{
		{Of(dtype.F32, 1048576, 1), "f32[1048576,1]{1,0:T(8,128)}", 512 << 20},
		{Of(dtype.F32, 8192, 64), "f32[8192,64]{1,0:T(8,128)}", 8192 * 128 * 4},
		{Of(dtype.BF16, 3, 7), "bf16[3,7]{1,0:T(4,128)(2,1)}", 4 * 128 * 2},
		{Of(dtype.F32, 100), "f32[100]{0:T(128)}", 512},
		{Of(dtype.F32), "f32[]{:T(128)}", 512},
		{Of(dtype.F32, 0, 5), "f32[0,5]{1,0}", 0},
	} {
		l := PinnedLayout(c.s)
		if l.String() != c.text || l.Bytes != c.bytes || PaddedBytesPinned(c.s) != c.bytes {
			t.Errorf("%v: %s %d (%d), want %s %d", c.s, l, l.Bytes, PaddedBytesPinned(c.s), c.text, c.bytes)
		}
	}
}

func TestPaddedBytesSaturates(t *testing.T) {
	for _, dims := range [][]int{{1 << 40, 1 << 20}, {1 << 60}, {1 << 31, 1 << 31, 2}} {
		if n := Of(dtype.F32, dims...).PaddedBytes(); n != math.MaxInt64 {
			t.Errorf("%v: %d", dims, n)
		}
	}
}

func TestPaddedBytesAllocatesNothing(t *testing.T) {
	s := Of(dtype.BF16, 32, 12, 1024, 64)
	if n := testing.AllocsPerRun(10, func() { s.PaddedBytes() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPaddedBytes(b *testing.B) {
	s := Of(dtype.BF16, 32, 12, 1024, 64)
	for b.Loop() {
		s.PaddedBytes()
	}
}
