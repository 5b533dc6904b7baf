package device

import "testing"

// TestExchangeMeasured compares with what was measured and published. The first
// three are what the constants were taken from, so they only show that the
// formula uses them; the last one was not used.
func TestExchangeMeasured(t *testing.T) {
	for _, tt := range []struct {
		chip, op string
		bytes    int64
		n        int
		us       float64 // measured
		within   float64 // of it
	}{
		{"v5e", "all-gather", 34 << 20, 4, 680, 0.15},            // a line of 4
		{"v6e", "collective-permute", 100_000_000, 2, 1155, 0.1}, // 86.8 GB/s
		{"v5p", "collective-permute", 1024, 2, 4.55, 0.2},
		{"v7x", "all-gather", 402_700_000, 2, 2252, 0.3}, // 178.8 GB/s over two axes
	} {
		c, err := LookupChip(tt.chip)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(c.ExchangeNS(tt.op, tt.bytes, tt.n)) / 1000; got < tt.us*(1-tt.within) || got > tt.us*(1+tt.within) {
			t.Errorf("%s of %d bytes among %d on %s takes %.1f us, measured %.1f", tt.op, tt.bytes, tt.n, tt.chip, got, tt.us)
		}
	}
	c, _ := LookupChip("v6e")
	if one, ring := c.ExchangeNS("all-reduce", 1<<30, 8), c.ExchangeNS("all-reduce", 1<<30, 16); ring >= one {
		t.Errorf("16 in a ring take %d ns, 8 in a line %d", ring, one)
	}
	if c.ExchangeNS("all-reduce", 1<<20, 1) != 0 || c.ExchangeNS("all-reduce", 0, 4) != 0 {
		t.Error("nothing costs something")
	}
}
