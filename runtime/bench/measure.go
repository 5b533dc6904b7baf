package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sort"
	"time"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// MaxBudgetSeconds bounds the budget that a user can ask for.
const MaxBudgetSeconds = 3600

// ParseBudget turns seconds into a budget; false when they are none, too many,
// or no number.
func ParseBudget(seconds float64) (time.Duration, bool) {
	if !(seconds > 0 && seconds <= MaxBudgetSeconds) { // a NaN is no budget either
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// Options of a measurement.
type Options struct {
	Mode    *exec.Mode    // Strict when nil
	Threads int           // GOMAXPROCS while measuring; 1 when 0
	Budget  time.Duration // of sampling a case in a round; a quarter of a second when 0
}

func (o Options) filled() Options {
	if o.Mode == nil {
		o.Mode = exec.Strict
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	if o.Budget == 0 {
		o.Budget = 250 * time.Millisecond
	}
	return o
}

// A Result is one line of the protocol: the least time of one unit on the
// host, and beside it the time that the simulated TPU took for one.
type Result struct {
	Workload string `json:"workload"`
	Case     string `json:"case"`
	DType    string `json:"dtype"`
	Threads  int    `json:"threads"`
	Mode     string `json:"mode"`

	Seconds    float64   `json:"seconds"` // host, wall, least
	Median     float64   `json:"median,omitempty"`
	CPU        float64   `json:"cpu,omitempty"` // host, all threads, least
	TPUSeconds float64   `json:"tpu_seconds_simulated"`
	Samples    int       `json:"samples,omitempty"`
	Work       float64   `json:"work"`
	Unit       string    `json:"unit"`
	Check      []float64 `json:"check,omitempty"`
	Setup      float64   `json:"setup,omitempty"`
	Gain       float64   `json:"gain,omitempty"` // W11: how many times faster than strict
	Error      string    `json:"error,omitempty"`
}

// The policy of the protocol.
const (
	leastSample  = 500 * time.Microsecond // a sample repeats the unit for so long
	aimedSample  = 700 * time.Microsecond
	warmFor      = 200 * time.Millisecond
	longUnit     = 3 * time.Second // one such run is warm-up enough
	leastSamples = 3
	longBudgets  = 4 // a unit of so many budgets is sampled once a round
)

// A Prepared is a case that was set up, checked and warmed.
type Prepared struct {
	Case
	o      Options
	d      *exec.Dispatcher
	u      unit
	values []float64
	setup  time.Duration
	repeat int // units in a sample
}

// Prepare sets a case up on a simulated TPU of its own and computes its check.
// The error is that of the first operation that was refused.
func Prepare(c Case, o Options) (p *Prepared, err error) {
	o = o.filled()
	p = &Prepared{Case: c, o: o, d: newDispatcher(o.Mode)}
	t := time.Now()
	err = p.with(func() {
		p.u = c.build(o.Mode)
		p.values = p.u.check()
	})
	p.setup = time.Since(t)
	return p, err
}

// with runs f on the dispatcher and threads of p.
func (p *Prepared) with(f func()) error {
	defer tpu.Use(p.d)()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(p.o.Threads))
	return tpu.Try(f)
}

// sample is the wall and processor time of n units.
func (p *Prepared) sample(n int) (wall, cpu time.Duration) {
	c, t := processorTime(), time.Now()
	p.u.run(n)
	return time.Since(t), processorTime() - c
}

// warm runs the unit twice at least and finds how many make a sample.
func (p *Prepared) warm() {
	began := time.Now()
	t, _ := p.sample(1)
	if t < longUnit {
		again, _ := p.sample(1)
		t = min(t, again)
	}
	for time.Since(began) < warmFor {
		again, _ := p.sample(1)
		t = min(t, again)
	}
	p.repeat = 1
	for t < leastSample {
		want := int(float64(p.repeat) * float64(aimedSample) / float64(max(t, 1)))
		p.repeat = min(10*p.repeat, max(p.repeat+1, want))
		t, _ = p.sample(p.repeat)
	}
}

// Measure takes samples for the budget and gives the least times. It stops
// early, with what it has, when the context ends.
func (p *Prepared) Measure(ctx context.Context) (r Result, err error) {
	r = Result{Workload: p.Workload, Case: p.Name, DType: p.DType.String(), Threads: p.o.Threads, Mode: p.o.Mode.Name,
		Work: p.Work, Unit: p.Unit, Check: p.values, Setup: p.setup.Seconds()}
	err = p.with(func() {
		if p.once {
			p.repeat = 1
		} else if p.repeat == 0 {
			p.warm()
		}
		before := p.d.Stats().DeviceNS
		var walls []float64
		cpu, units := math.Inf(1), 0
		for end := time.Now().Add(p.o.Budget); len(walls) < leastSamples || time.Now().Before(end); {
			w, c := p.sample(p.repeat)
			units += p.repeat
			walls = append(walls, w.Seconds()/float64(p.repeat))
			cpu = min(cpu, c.Seconds()/float64(p.repeat))
			if p.once || w > longBudgets*p.o.Budget || ctx.Err() != nil {
				break
			}
		}
		sort.Float64s(walls)
		r.Seconds, r.Median, r.CPU, r.Samples = walls[0], walls[len(walls)/2], cpu, len(walls)
		r.TPUSeconds = float64(p.d.Stats().DeviceNS-before) / 1e9 / float64(units)
	})
	return r, err
}

// failed is the line of a case that could not be done.
func failed(c Case, o Options, err error) Result {
	o = o.filled()
	return Result{Workload: c.Workload, Case: c.Name, DType: c.DType.String(), Threads: o.Threads, Mode: o.Mode.Name,
		Work: c.Work, Unit: c.Unit, Error: err.Error()}
}

// Run measures the cases of a workload one after the other and hands each
// line over. It returns *UnknownError, and the context's error when that ends.
func Run(ctx context.Context, workload string, o Options, say func(Result)) error {
	o = o.filled()
	cases, err := Cases(workload, o.Mode)
	if err != nil {
		return err
	}
	for _, c := range cases {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		say(one(ctx, c, o))
		runtime.GC() // what the case held is not the next one's
	}
	return ctx.Err()
}

func one(ctx context.Context, c Case, o Options) Result {
	p, err := Prepare(c, o)
	if err != nil {
		return failed(c, o, err)
	}
	return p.round(ctx)
}

// round is Measure with the failure in the line.
func (p *Prepared) round(ctx context.Context) Result {
	r, err := p.Measure(ctx)
	if err != nil {
		return failed(p.Case, p.o, err)
	}
	return r
}

// Ladder is W11: the chains, the steps and the storm in Strict, DeferAndFuse and
// Compiled, with what each mode gains over Strict.
func Ladder(ctx context.Context, o Options, say func(Result)) error {
	for _, w := range []string{"W3", "W5", "W6", "W7", "W8", "W9"} {
		cases, err := Cases(w, exec.Strict)
		if err != nil {
			return err
		}
		for _, c := range cases {
			var strict float64
			for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled} {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				o.Mode = m
				r := one(ctx, c, o)
				r.Workload, r.Case = "W11", fmt.Sprintf("%s/%s", w, c.Name)
				switch {
				case m == exec.Strict:
					strict = r.Seconds
				case r.Seconds > 0:
					r.Gain = strict / r.Seconds
				}
				say(r)
				runtime.GC()
			}
		}
	}
	return nil
}
