package tui

import (
	"strings"
	"testing"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// TestStatusBar: what is extra goes first, then what is at the right.
func TestStatusBar(t *testing.T) {
	s := newScreen(t, 200, 36)
	s.status = inspect.Status{Mode: "fuse", QueuedOps: 18, HBMUsedBytes: 6 << 30, HBMPeakBytes: 9 << 30, HBMLimitBytes: 16 << 30,
		Steps: 40, StepNS: 3_200_000, StepP95NS: 4_100_000, CacheHits: 41, CacheMisses: 3}
	for _, tt := range []struct {
		w         int
		has, lack []string
	}{
		{200, []string{"FUSE", "6.0G/9.0G/16.0G", "step 3.2 ms", "p95 4.1 ms", "queue 18 ops", "cache 41 hits 3 misses", "In[1]"}, nil},
		{100, []string{"FUSE", "step 3.2 ms", "queue 18 ops", "In[1]"}, []string{"cache"}},
		{60, []string{"FUSE", "16.0G"}, []string{"cache", "p95", "In[1]"}},
	} {
		s.resize(tt.w, 36)
		bar := glyph.Strip(s.statusBar())
		for _, x := range tt.has {
			if !strings.Contains(bar, x) {
				t.Errorf("%d columns: no %q in %q", tt.w, x, bar)
			}
		}
		for _, x := range tt.lack {
			if strings.Contains(bar, x) {
				t.Errorf("%d columns: %q in %q", tt.w, x, bar)
			}
		}
	}
}
