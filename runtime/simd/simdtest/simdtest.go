// Package simdtest runs a test once for each way this computer can compute, in
// a process of its own, and compares what the processes found: the level of the
// processor and the leave to make machine code are settled when a process
// starts.
//
// It is for tests only, never decides what is right, and imports simd and
// x/sys. Invariant: a way is compared with the first one line by line, and a
// line that only one of them has is a difference.
package simdtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tpush/tpush/runtime/simd"
)

// A Way is how a process computes.
type Way struct {
	Name  string
	Level simd.Level
	Tiles bool // no page may become executable: programs run as loops over tiles
}

// Ways lists the ways of this computer: each level, the lowest first, and the
// highest one without machine code made at run time where a process can have
// that refused to itself.
func Ways() (all []Way) {
	for _, l := range simd.Available() {
		all = append(all, Way{Name: l.String(), Level: l})
	}
	if high := simd.Detected(); high > simd.Generic && canRefuse() {
		all = append(all, Way{Name: high.String() + " without machine code", Level: high, Tiles: true})
	}
	return all
}

const (
	wayVariable = "TPUSH_TEST_WAY" // the name of the way of a child
	outVariable = "TPUSH_TEST_OUT" // the file a child writes to
)

// A Found takes what a process found under a name, which must be its only one.
type Found func(name string, digest uint64)

// Everywhere calls find in a process for each way, with the test binary run
// again for this test alone, and reports which names differ. What find reports
// to t fails the test.
func Everywhere(t *testing.T, find func(t *testing.T, w Way, found Found)) {
	t.Helper()
	ways := Ways()
	if name := os.Getenv(wayVariable); name != "" {
		for _, w := range ways {
			if w.Name == name {
				child(t, w, find)
				return
			}
		}
		t.Fatalf("no way named %s", name)
	}
	dir := t.TempDir()
	lines := make([]map[string]string, len(ways))
	var group sync.WaitGroup
	free := make(chan struct{}, 2)
	for i, w := range ways {
		group.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			lines[i] = parent(t, w, filepath.Join(dir, fmt.Sprint(i)))
		})
	}
	group.Wait()
	for i, w := range ways[1:] {
		compare(t, ways[0].Name, w.Name, lines[0], lines[i+1])
	}
	t.Logf("%d results in %d ways", len(lines[0]), len(ways))
}

// parent runs the child of a way and reads what it found.
func parent(t *testing.T, w Way, path string) map[string]string {
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=5m", fmt.Sprintf("-test.short=%v", testing.Short()))
	c.Env = append(os.Environ(), wayVariable+"="+w.Name, outVariable+"="+path, "TPUSH_CPU="+w.Level.String(), "TPUSH_THREADS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", w.Name, err, out)
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%s: %v", w.Name, err)
		return nil
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, digest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all[name] = digest
	}
	return all
}

// child finds, and writes what it found.
func child(t *testing.T, w Way, find func(t *testing.T, w Way, found Found)) {
	if w.Tiles {
		refuse(t)
	}
	if simd.Chosen() != w.Level {
		t.Fatalf("computes at level %v, not %v", simd.Chosen(), w.Level)
	}
	var text bytes.Buffer
	seen := map[string]bool{}
	find(t, w, func(name string, digest uint64) {
		if seen[name] {
			t.Errorf("%s was found twice", name)
		}
		seen[name] = true
		fmt.Fprintf(&text, "%s\t%016x\n", name, digest)
	})
	if err := os.WriteFile(os.Getenv(outVariable), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// most is how many differences are printed.
const most = 20

// compare reports the names whose digests differ.
func compare(t *testing.T, a, b string, x, y map[string]string) {
	t.Helper()
	if x == nil || y == nil {
		return // reported already
	}
	var differ []string
	for name, digest := range x {
		if y[name] != digest {
			differ = append(differ, name)
		}
	}
	for name := range y {
		if _, ok := x[name]; !ok {
			differ = append(differ, name)
		}
	}
	for i, name := range differ {
		if i == most {
			t.Errorf("%s and %s differ in %d more", a, b, len(differ)-i)
			return
		}
		t.Errorf("%s and %s differ: %s", a, b, name)
	}
}
