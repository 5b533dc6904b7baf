package repl

import (
	"context"
	"strings"
	"testing"
)

// Complaints quote expressions as the user wrote them, and say what would fit.
func TestComplaintsQuoteTheUser(t *testing.T) {
	s, err := NewSession(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Run(context.Background(), "x := tpu.Ones(5, 5)\nf := func(n int) int { return n }", "", 1, discarded{})
	for _, tt := range []struct{ text, want string }{
		{"var b bool = tpu.Ones(5) > 7", "cannot use tpu.Ones(5) > 7 (value of type *tpu.Tensor) as bool value in variable declaration (here: (tpu.Ones(5) > 7).Bool())"},
		{"var z string = -x", "cannot use -x (value"}, {"var z string = x @ x", "cannot use x @ x (value"}, {"var z string = 7 - x", "cannot use 7 - x (value"},
		{"var z string = 7 < x", "cannot use 7 < x (value"}, {"x[0:2, 1] + \"a\"", "invalid operation: x[0:2, 1] + \"a\" (mismatched"}, {"var z string = x[..., nil, ::2]", "cannot use x[..., nil, ::2] (value"},
		{"var z string = (7 - x[0:2].T) @ x * 2", "cannot use (7 - x[0:2].T) @ x * 2 (value"}, {"(x + 1).Foo()", "(x + 1).Foo undefined"}, {"x.Add(1).Foo()", "x.Add(1).Foo undefined"},
		{"f(x * 2)", "cannot use x * 2 (value of type *tpu.Tensor) as int value in argument to f (here: (x * 2).Int())"},
		{"int(x[0])", "cannot convert x[0] (value of type *tpu.Tensor) to type int (here: x[0].Int())"}, {"for range x + 1 { }", "cannot range over x + 1 (value"},
		{"func g() string { return x + 1 }", "cannot use x + 1 (value"}, {"h := func() string { y := x * 3; return y[0] - 1 }", "cannot use y[0] - 1 (value"},
		{"tpu.FFT(x)", "(here: tpu.RFFT takes *tpu.Tensor, tpu.Complex{Re: x}, tpu.ComplexOf(x))"}, {"strings.Contains(\"a\", 'b')", "(here: strings.ContainsRune takes rune)"},
		{"math.Sqrt(x.Sum())", "(here: x.Sum().Item())"}, {"!x > 3", "a tensor is no condition for !"},
	} {
		c := s.Run(context.Background(), "import (\"strings\"; \"math\")\n_ = strings.ToUpper; _ = math.Pi\n"+tt.text, "", 1, discarded{})
		if len(c.Reports) != 1 || !strings.Contains(c.Reports[0].Message, tt.want) {
			t.Errorf("%s: %v, want %s", tt.text, messages(c), tt.want)
		}
	}
	// At a stop, too.
	if _, err := s.Debugger().Eval(-1, "f(x + 1)"); err == nil || !strings.Contains(err.Error(), "cannot use x + 1 (value") {
		t.Errorf("evaluated: %v", err)
	}
}

func messages(c *Cell) (list []string) {
	for _, r := range c.Reports {
		list = append(list, r.Message)
	}
	return list
}
