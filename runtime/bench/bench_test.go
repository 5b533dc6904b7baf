package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// TestInputs compares the generator with numbers computed by NumPy.
func TestInputs(t *testing.T) {
	for _, c := range []struct {
		seed, i int
		want    uint32
	}{{0, 0, 0}, {0, 1, 1364076727}, {1, 0, 2462723854}, {5, 1000, 701411645}} {
		got := word(c.seed, c.i)
		if got != c.want {
			t.Errorf("word(%d, %d) = %d, want %d", c.seed, c.i, got, c.want)
		}
		if x := numbers(c.seed, 2, c.i+1)[c.i]; !(x >= -2 && x < 2) {
			t.Errorf("numbers(%d)[%d] = %v outside [-2, 2)", c.seed, c.i, x)
		}
	}
}

// checks are what the cases must come to, as the peers compute them. Slow
// cases are left to the program.
func TestModesAgree(t *testing.T) {
	small := map[string]bool{"add4": true, "add1024": true, "64": true, "128": true, "sgd": true}
	values := map[string][]float64{}
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled, exec.Debug} {
		for _, w := range []string{"W1", "W2", "W5"} {
			cases, err := Cases(w, m)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				if !small[c.Name] {
					continue
				}
				p, err := Prepare(c, Options{Mode: m})
				if err != nil {
					t.Errorf("%s %s %s: %v", m.Name, w, c.Name, err)
					continue
				}
				key := w + c.Name + c.DType.String()
				want, ok := values[key]
				if !ok {
					values[key] = p.values
					continue
				}
				for i, x := range p.values {
					if math.Float64bits(x) != math.Float64bits(want[i]) {
						t.Errorf("%s %s %s: check %d is %v, strict has %v", m.Name, w, c.Name, i, x, want[i])
					}
				}
			}
		}
	}
}

// TestUnitsAreComputed counts the operations that units of a case launch: many
// launch as many times what one does, whatever the mode leaves out otherwise.
func TestUnitsAreComputed(t *testing.T) {
	const units = 6
	small := map[string]bool{"add4": true, "add1024": true, "64": true, "128": true, "arith1M": true, "sum1": true, "sgd": true, "fwd": true}
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled} {
		for _, w := range []string{"W1", "W2", "W3", "W4", "W5", "W8"} {
			cases, err := Cases(w, m)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				if !small[c.Name] || c.DType != tpu.F32 {
					continue
				}
				p, err := Prepare(c, Options{Mode: m})
				if err != nil {
					t.Fatal(err)
				}
				launched := func(n int) (ops int) {
					before := p.d.Stats().Launches
					if err := p.with(func() { p.u.run(n) }); err != nil {
						t.Fatal(err)
					}
					for _, g := range p.d.Groups() {
						if g.Number > before {
							ops += len(g.Ops)
						}
					}
					return ops
				}
				launched(1) // frees what the one before left, and has gradients to add to
				if one, all := launched(1), launched(units); one == 0 || all < units*one {
					t.Errorf("%s %s %s: one unit launches %d operations, %d of them %d", m.Name, w, c.Name, one, units, all)
				}
			}
		}
	}
}

func TestServe(t *testing.T) {
	in := "add4 f32\nadd4 f33\nnonsense\n\nadd4 f32\ndrop add4 f32\n"
	var out bytes.Buffer
	if err := Serve(context.Background(), "W1", Options{Budget: 1}, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&out)
	var ready struct{ Ready [][2]string }
	if err := dec.Decode(&ready); err != nil || len(ready.Ready) != 4 {
		t.Fatalf("ready %v, %v", ready, err)
	}
	n := 0
	for ; dec.More(); n++ {
		var r Result
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Error != "" || r.Seconds <= 0 || r.TPUSeconds <= 0 || len(r.Check) != 4 || r.Unit != "op" {
			t.Errorf("round %d: %+v", n, r)
		}
	}
	if n != 2 {
		t.Errorf("%d rounds, want 2", n)
	}
}

func TestUnknownWorkload(t *testing.T) {
	err := Run(context.Background(), "W99", Options{}, func(Result) {})
	if _, ok := err.(*UnknownError); !ok {
		t.Errorf("got %v", err)
	}
}

// TestCasesOfAMode looks at what each mode offers.
func TestCasesOfAMode(t *testing.T) {
	for _, c := range []struct {
		mode *exec.Mode
		want string
	}{{exec.Strict, "storm"}, {exec.DeferAndFuse, "storm"}, {exec.Compiled, "storm compile1k compile10k run10k"}} {
		cases, err := Cases("W9", c.mode)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range cases {
			names = append(names, c.Name)
			if c.DType != tpu.F32 || c.Work == 0 || c.Unit == "" {
				t.Errorf("%+v", c)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.mode.Name, got, c.want)
		}
	}
}

func TestTableTellsHostAndTPUApart(t *testing.T) {
	tb := Table([]Result{{Case: "add4", DType: "f32", Mode: "strict", Threads: 1, Seconds: 1e-7, TPUSeconds: 2e-6, Work: 1, Unit: "op"}})
	titles := ""
	for _, c := range tb.Columns {
		titles += c.Title + " "
	}
	if !strings.Contains(titles, "host") || !strings.Contains(titles, "TPU (simulated)") {
		t.Error(titles)
	}
	if r := tb.Rows[0]; r[4] != "100 ns" || r[7] != "10 Mop/s" || r[9] != "2 µs" {
		t.Error(r)
	}
}

// BenchmarkCases is for profiles: -bench 'Cases/W6/adamw/f32/strict' -cpuprofile.
func BenchmarkCases(b *testing.B) {
	for _, w := range Workloads() {
		for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled} {
			cases, err := Cases(w.Name, m)
			if err != nil {
				b.Fatal(err)
			}
			for _, c := range cases {
				b.Run(strings.Join([]string{w.Name, c.Name, c.DType.String(), m.Name}, "/"), func(b *testing.B) {
					p, err := Prepare(c, Options{Mode: m})
					if err != nil {
						b.Fatal(err)
					}
					if err := p.with(func() { p.u.run(b.N) }); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

func TestParseBudget(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    time.Duration
		ok      bool
	}{
		{0.25, 250 * time.Millisecond, true}, {3600, time.Hour, true},
		{0, 0, false}, {-1, 0, false}, {3601, 0, false}, {math.NaN(), 0, false}, {math.Inf(1), 0, false},
	} {
		if got, ok := ParseBudget(c.seconds); got != c.want || ok != c.ok {
			t.Errorf("%v: %v %v, want %v %v", c.seconds, got, ok, c.want, c.ok)
		}
	}
}
