package cell

import "testing"

func TestRewriteTokens(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"x[:, 0]", "x[ʹitems(ʹslice(nil, nil, nil), 0)]"},
		{"x[1:3, 0]", "x[ʹitems(ʹslice(1, 3, nil), 0)]"},
		{"x[..., 0]", "x[ʹitems(ʹellipsis, 0)]"},
		{"x[::2]", "x[ʹslice(nil, nil, 2)]"},
		{"x[1::2]", "x[ʹslice(1, nil, 2)]"},
		{"x[0, 1:]", "x[ʹitems(0, ʹslice(1, nil, nil))]"},
		{"x[0, :n+1]", "x[ʹitems(0, ʹslice(nil, n+1, nil))]"},
		{"x[1:3]", "x[1:3]"},
		{"x[1:3:2]", "x[1:3:2]"},
		{"x[1:3:]", "x[ʹslice(1, 3, nil)]"},
		{"x[y[:, 0], 1:]", "x[ʹitems(y[ʹitems(ʹslice(nil, nil, nil), 0)], ʹslice(1, nil, nil))]"},
		{"x[1, 2]", "x[ʹitems(1, 2)]"},
		{"x[i, j]", "x[i, j]"},
		{"x[i, f(j)]", "x[ʹitems(i, f(j))]"},
		{"f[int, []string](a)", "f[int, []string](a)"},
		{"x[0, nil]", "x[ʹitems(0, nil)]"},
		{"a @ b", "a &^ b"},
		{"a@b @ c", "a&^b &^ c"},
		{"f()[:, -1]", "f()[ʹitems(ʹslice(nil, nil, nil), -1)]"},
		{"[...]int{1, 2}", "[...]int{1, 2}"},
		{"m := map[string]int{\"a\": 1, \"b\": 2}", "m := map[string]int{\"a\": 1, \"b\": 2}"},
		{"s := \"x[:, 0] @\"", "s := \"x[:, 0] @\""},
		{"x[f(1, 2):3]", "x[f(1, 2):3]"},
		{"x[f(1, 2):3, 0]", "x[ʹitems(ʹslice(f(1, 2), 3, nil), 0)]"},
		{"f[int, string](a)", "f[int, string](a)"},
		{"type M[T N, R interface{ ~[]T }] []R", "type M[T N, R interface{ ~[]T }] []R"},
		{"type (\n\tA[K ~int | ~string, V any] map[K]V\n)", "type (\n\tA[K ~int | ~string, V any] map[K]V\n)"},
		{"func f[A interface{ ~[]E }, E any](a A) {}", "func f[A interface{ ~[]E }, E any](a A) {}"},
		{"P[int, [2]int]{}", "P[int, [2]int]{}"},
		{"P[int, map[string]func(...int) (int, error)]{}", "P[int, map[string]func(...int) (int, error)]{}"},
		{"P[int, struct{ N int `json:\"n\"` }]{}", "P[int, struct{ N int `json:\"n\"` }]{}"},
		{"x[i, a[1]]", "x[ʹitems(i, a[1])]"},
	} {
		got, _, _ := rewriteTokens(tt.in)
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestOffsetMap(t *testing.T) {
	src := "y := a @ x[:, 0] + bad"
	out, m, mm := rewriteTokens(src)
	at := len(out) - 3
	if got := m.source(at); src[got:] != "bad" {
		t.Errorf("bad at %d", got)
	}
	for off := range mm {
		if src[m.source(off)] != '@' {
			t.Errorf("@ at %d", m.source(off))
		}
	}
	if len(mm) != 1 {
		t.Errorf("%d matmuls, want 1", len(mm))
	}
}
