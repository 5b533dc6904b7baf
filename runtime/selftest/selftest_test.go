package selftest

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/conformance"
)

// TestRecorded runs every recording beside the checkout, else the samples.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		folder  string
		ceiling int // how many records may differ; it only falls
	}{{"conformance", 0}, {"conformance_opinfo", 1}} {
		t.Run(c.folder, func(t *testing.T) { runRecorded(t, c.folder, c.ceiling) })
	}
}

func runRecorded(t *testing.T, folder string, ceiling int) {
	dir, ok := conformance.Find(".", folder)
	if !ok {
		if folder != "conformance" {
			t.Skip("no recordings beside the checkout")
		}
		dir = "testdata"
	}
	var o Options
	if f := os.Getenv("SELFTEST_FILES"); f != "" {
		o.Files = strings.Split(f, ",")
	}
	if m := os.Getenv("SELFTEST_MATCH"); m != "" {
		o.Match = func(id string) bool { return strings.Contains(id, m) }
	}
	rs, err := Run(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	type count struct{ pass, fail, skip int }
	byFile := map[string]*count{}
	skips := map[string]int{}
	failed := map[string][]string{}
	for _, r := range rs {
		c := byFile[r.File]
		if c == nil {
			c = &count{}
			byFile[r.File] = c
		}
		switch {
		case r.Skipped != "":
			c.skip++
			skips[r.Skipped]++
		case r.Err != nil:
			c.fail++
			k := r.ID + ": " + r.Err.Error()
			failed[k] = append(failed[k], r.Mode)
		default:
			c.pass++
		}
	}
	var keys []string
	for k := range failed {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	report := t.Errorf
	if len(keys) <= ceiling {
		report = t.Logf
	}
	for _, k := range keys {
		report("%s %v", k, failed[k])
	}
	var lines []string
	for f, c := range byFile {
		lines = append(lines, fmt.Sprintf("%-18s pass %5d fail %4d skip %4d", f, c.pass, c.fail, c.skip))
	}
	sort.Strings(lines)
	t.Log("\n" + strings.Join(lines, "\n"))
	p, f, s := Summary(rs)
	t.Logf("%d passed, %d failed, %d skipped %v", p, f, s, skips)
}

// TestSample runs the records in the program: they are all there is in a fresh clone.
func TestSample(t *testing.T) {
	rs, err := RunAny("", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs {
		if r.Err != nil || r.Skipped != "" {
			t.Errorf("%s in mode %s: %v%s", r.ID, r.Mode, r.Err, r.Skipped)
		}
	}
	if len(rs) < 1000 {
		t.Errorf("%d results: the sample is not there", len(rs))
	}
}
