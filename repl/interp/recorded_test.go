package interp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tpush/tpush/repl/interp/programs"
)

// forms are the ways in which cells are compiled.
var forms = []struct {
	name string
	set  func(*Options)
}{
	{"markers", func(*Options) {}},
	{"hooks", func(o *Options) { o.Armed = true }},
	{"neither", func(o *Options) { o.Bare = true }},
}

// TestRecorded runs the recorded programs in cells, whole and cut at random, in
// each form: they must print what Go printed.
func TestRecorded(t *testing.T) {
	list, err := programs.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			checkProgram(t, p, exceptions[p.Name])
		})
	}
}

func checkProgram(t *testing.T, p programs.Program, excepted string) {
	h := fnv.New64()
	h.Write([]byte(p.Name))
	ways := map[string][]string{"whole": {p.Source}, "split": programs.Split(p.Source, h.Sum64())}
	bad := false
	for _, form := range forms {
		for _, way := range []string{"whole", "split"} {
			cells := ways[way]
			if cells == nil {
				continue
			}
			o := Options{}
			form.set(&o)
			got := runCells(o, cells)
			if got == p.Output {
				continue
			}
			if bad = true; excepted == "" {
				t.Errorf("%s, %s:\n got %s\nwant %s", form.name, way, got, p.Output)
				if way == "split" && testing.Verbose() {
					t.Logf("cells:\n%s", strings.Join(cells, "\n-----\n"))
				}
				return
			}
		}
	}
	if excepted != "" && !bad {
		t.Errorf("runs right now: take it out of the exceptions (%s)", excepted)
	}
}

// runCells gives what cells print; a panic ends them with its message.
func runCells(o Options, cells []string) string {
	var out bytes.Buffer
	o.Stdout = &out
	in, err := New(o)
	if err != nil {
		return err.Error()
	}
	for i, src := range cells {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_, err := in.Run(ctx, Source{Cell: i + 1, Text: src})
		cancel()
		var p *PanicError
		var g *GoroutineError
		switch {
		case errors.As(err, &p):
			fmt.Fprintf(&out, "panic: %s\n", p.Text)
			return out.String()
		case errors.As(err, &g):
			fmt.Fprintf(&out, "panic: %s\n", g.Panic.Text)
			return out.String()
		case err != nil:
			fmt.Fprintf(&out, "cell %d: %v\n", i+1, err)
			return out.String()
		}
	}
	return out.String()
}

// TestNative runs a few of the recorded programs with Go again.
func TestNative(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	list, err := programs.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	var sample []programs.Program
	for i := 0; i < len(list); i += 1 + len(list)/12 {
		sample = append(sample, list[i])
	}
	got, err := programs.Native(sample)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range sample {
		if got[i] != p.Output {
			t.Errorf("%s: recorded output is stale:\n got %s\nwant %s", p.Name, got[i], p.Output)
		}
	}
}

// TestPrograms checks programs that are not part of the suite: those of the
// archive that TPUSH_PROGRAMS names.
func TestPrograms(t *testing.T) {
	path := os.Getenv("TPUSH_PROGRAMS")
	if path == "" {
		t.Skip("TPUSH_PROGRAMS names no archive")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := programs.ParseArchive(filepath.Base(path), text)
	if err != nil {
		t.Fatal(err)
	}
	outs, err := programs.Native(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			if outs[i] == programs.Endless {
				t.Skip("does not end")
			}
			p.Output = outs[i]
			checkProgram(t, p, "")
		})
	}
}

// TestRandom checks programs that are made now: TPUSH_RANDOM is FIRST:COUNT of
// their seeds.
func TestRandom(t *testing.T) {
	var from, n uint64
	if _, err := fmt.Sscanf(os.Getenv("TPUSH_RANDOM"), "%d:%d", &from, &n); err != nil {
		t.Skip("TPUSH_RANDOM names no seeds")
	}
	var list []programs.Program
	for i := range n {
		list = append(list, programs.Program{Name: fmt.Sprint("random/", from+i), Source: programs.Random(from + i)})
	}
	outs, err := programs.Native(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			if outs[i] == programs.Endless {
				t.Skip("does not end")
			}
			p.Output = outs[i]
			checkProgram(t, p, "")
		})
	}
}
