package interp

import (
	"fmt"
	"testing"
)

func TestPrecheck(t *testing.T) {
	s := newSession(t, Options{Universe: TPU()})
	if _, err := s.try("x, w := 1, tpu.Ones(2, 3)\ntype P struct{}"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // asking changes nothing
		for _, tt := range []struct{ src, want string }{
			{"x + 1", ""},
			{"w @ w.T() + x", ""},
			{"y := nope", "type 1:6 undefined: nope"},
			{"y := 2\nx = \"a\"", "type 2:5"},
			{"x := (", "syntax 1:7"},
			{"const c = 1 << 500 >> 430\nc", "type 2:1 cannot show c (untyped int constant 1180591620717411303424) as int value (overflows)"},
			{"1<<64 - 1", "type 1:1 cannot show 1 << 64 - 1 (untyped int constant 18446744073709551615) as int value (overflows)"},
			{"'a' << 40", "type 1:1 cannot show 'a' << 40"},
			{"1e400", "type 1:1 cannot show 1e400"},
			{"1e400i", "type 1:1 cannot show 1e400i"},
			{"-1 << 63", ""},
			{"1e308", ""},
			{"uint64(1<<64 - 1)", ""},
			{"func f() int { return x }\nf()", ""},
			{"func (P) M() {}", ""},
			{"x := 2.5\nx / 2", ""},
			{"type Q struct{ n int }\nQ{n: x}", ""},
		} {
			got := ""
			if list := s.in.Precheck(tt.src); len(list) > 0 {
				got = fmt.Sprintf("%s %d:%d %s", list[0].Kind, list[0].Line, list[0].Column, list[0].Msg)
			}
			if len(got) < len(tt.want) || got[:len(tt.want)] != tt.want || tt.want == "" && got != "" {
				t.Errorf("%q: %q, want %q", tt.src, got, tt.want)
			}
		}
	}
	res, err := s.try("x")
	if err != nil || fmt.Sprint(res.Values[0].Value) != "1" {
		t.Errorf("x is %v %v", res.Values, err)
	}
}
