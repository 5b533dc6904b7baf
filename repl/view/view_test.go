package view_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
)

type discard struct{}

func (discard) Stream(string, string)  {}
func (discard) Input() (string, error) { return "", io.EOF }

func session(t testing.TB, mode *exec.Mode, cells ...string) *repl.Session {
	t.Helper()
	s, err := repl.NewSession(repl.Options{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, text := range cells {
		if c := s.Run(context.Background(), text, "", 1, discard{}); c != nil && len(c.Reports) > 0 {
			t.Fatalf("%s: %s", text, c.Reports[0].Message)
		}
	}
	return s
}

// Every view is taken over and over while cells run: the race detector is the judge.
func TestViewsWhileACellRuns(t *testing.T) {
	for _, mode := range []*exec.Mode{exec.Debug, exec.DeferAndFuse} {
		s := session(t, mode, "x := tpu.Ones(16, 16)\ns := \"a\"\nm := map[string]*tpu.Tensor{}")
		v := view.New(s)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 3 {
				s.Run(context.Background(), "for i := range 60 {\n\tx = x.Mul(0.5).Add(float64(i)).Tanh()\n\tm[fmt.Sprint(i%7)] = x\n\ts += \"b\"\n\tif i%20 == 19 {\n\t\tfmt.Println(x.Sum().Item())\n\t}\n}", "", 1, discard{})
			}
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			for _, row := range view.All() {
				var busy *view.BusyError // this machine may be slow
				if _, err := v.Take(row.Name, nil); err != nil && !errors.As(err, &busy) {
					t.Fatalf("%s: %v", row.Name, err)
				}
			}
		}
		if c := s.LastError(); c != nil {
			t.Fatalf("the cell failed: %v", c.Reports[0].Message)
		}
	}
}

func TestUnknownViewsAndArguments(t *testing.T) {
	v := view.New(session(t, nil))
	var unknown *view.UnknownError
	if _, err := v.Take("nothing", nil); !errors.As(err, &unknown) || unknown.Name != "nothing" {
		t.Errorf("got %v", err)
	}
	var args *view.ArgsError
	if _, err := v.Take("vars", json.RawMessage(`{"detail": 3}`)); !errors.As(err, &args) {
		t.Errorf("got %v", err)
	}
	seen := map[string]bool{}
	for _, row := range view.All() {
		if row.Name == "" || row.Doc == "" || seen[row.Name] {
			t.Errorf("row %+v", row)
		}
		seen[row.Name] = true
	}
}

func TestMemoryKnowsNames(t *testing.T) {
	s := session(t, nil, "a := tpu.Ones(100, 128)\nb := a\nc := []*tpu.Tensor{tpu.Zeros(256), a}\nd := tpu.Ones(64, 8)")
	m := view.New(s).Memory()
	if !m.NamesKnown || len(m.Blocks) != 3 || len(m.Names) != 4 {
		t.Fatalf("%+v", m)
	}
	var sum int64
	for i := range m.Blocks {
		b := &m.Blocks[i]
		sum += b.Size
		if want := []string{"a", "b", "c"}; b.Line == 1 && !slices.Equal(b.Names, want) {
			t.Errorf("the block of a is held by %v, want %v", b.Names, want)
		}
		if b.Op == 0 || b.Group == 0 || b.Value == 0 || b.Cell != 1 {
			t.Errorf("block %+v does not say what made it", b)
		}
	}
	if sum != m.UsedBytes {
		t.Errorf("the blocks add up to %d, used are %d", sum, m.UsedBytes)
	}
	for _, n := range m.Names {
		want := map[string]int64{"c": 1024, "d": 4096}[n.Name]
		if n.OnlyHere != want {
			t.Errorf("freeing %s gives %d, want %d", n.Name, n.OnlyHere, want)
		}
	}
	if len(m.Points) == 0 || m.Points[len(m.Points)-1].Bytes != m.UsedBytes {
		t.Errorf("history %v, used %d", m.Points, m.UsedBytes)
	}
}

func TestVariables(t *testing.T) {
	s := session(t, exec.DeferAndFuse, "type P struct{ A int }\nfunc (p P) String() string { panic(\"not to be called\") }", "x := tpu.Arange(6).Reshape(2, 3)\nn := 42\np := P{7}\nempty := tpu.Zeros(0)", "x;")
	v := view.New(s)
	vars, err := v.Variables(inspect.VariablesArgs{Detail: "x"})
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for i := range vars.Rows {
		text[vars.Rows[i].Name] = vars.Rows[i].What()
	}
	if text["n"] != "42" || !strings.Contains(text["p"], "A: 7") || text["x"] != "pending in g1" {
		t.Errorf("%v", text)
	}
	if vars.Detail == nil || vars.Detail.Known {
		t.Errorf("looking computed x: %+v", vars.Detail)
	}
	s.Run(context.Background(), "fmt.Println(x)", "", 1, discard{})
	vars, _ = v.Variables(inspect.VariablesArgs{Detail: "x", Slice: ":, 1:"})
	d := vars.Detail
	if d == nil || !d.Known || d.Stats.Elements != 6 || d.Stats.Max != 5 || d.Stats.Mean != 2.5 || !slices.Equal(d.Slice.Values, inspect.Floats{1, 2, 4, 5}) {
		t.Errorf("%+v", d)
	}
}

func TestCut(t *testing.T) {
	v := shape.View{Dims: []int{4, 5, 6}, Strides: []int{30, 6, 1}, Offset: 7}
	for text, want := range map[string]shape.View{
		"":             {Dims: []int{4, 5, 6}, Strides: []int{30, 6, 1}, Offset: 7},
		"1":            {Dims: []int{5, 6}, Strides: []int{6, 1}, Offset: 37},
		"-1, :, 2:4":   {Dims: []int{5, 2}, Strides: []int{6, 1}, Offset: 99},
		"[:2, -3:, 0]": {Dims: []int{2, 3}, Strides: []int{30, 6}, Offset: 19},
		"3, 4, 5":      {Offset: 7 + 90 + 24 + 5},
		":, 9:2":       {Dims: []int{4, 0, 6}, Strides: []int{30, 6, 1}, Offset: 7 + 30},
	} {
		got, err := view.Cut(v, text)
		if err != nil || !slices.Equal(got.Dims, want.Dims) || !slices.Equal(got.Strides, want.Strides) || got.Offset != want.Offset {
			t.Errorf("[%s]: got %+v %v, want %+v", text, got, err, want)
		}
	}
	var bad *view.SliceError
	for _, text := range []string{"4", "-5", "x", "0,0,0,0", "1:b"} {
		if _, err := view.Cut(v, text); !errors.As(err, &bad) {
			t.Errorf("[%s] is taken: %v", text, err)
		}
	}
}

// What the snapshot says that freeing a name gives is what freeing it gives.
func TestFreeGivesWhatMemorySays(t *testing.T) {
	s := session(t, nil, "a := tpu.Ones(100, 128)\nb := a\nc := []*tpu.Tensor{tpu.Zeros(256), a}\nd := tpu.Ones(64, 8)", "tpu.Ones(300, 128)", "tpu.Ones(20, 128)")
	for _, names := range [][]string{{"d"}, {"a"}, {"c"}, {"b"}, s.Outputs()} {
		m := view.New(s).Memory()
		want := int64(0)
		for _, n := range m.Names {
			if n.Name == names[0] {
				want = n.OnlyHere
			}
		}
		if len(names) > 1 {
			if want = m.OutputBytes; want == 0 {
				t.Error("results of cells hold nothing")
			}
		}
		if got, err := s.Free(names...); err != nil || got != want {
			t.Errorf("freeing %v gives %d (%v), the snapshot says %d", names, got, err, want)
		}
	}
	if used := s.Device().HBM().Used(); used != 0 {
		t.Errorf("%d bytes are left", used)
	}
	var unknown *repl.UnknownNamesError
	if _, err := s.Free("nothing"); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}
