package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"fusion", "fusion", 0}, {"fuson", "fusion", 1}, {"v5", "v5e", 1}, {"", "hbm", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 2},
	} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
