package command

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/bench"
	"github.com/tpush/tpush/runtime/exec"
)

const benchArgs = "[W...] [OPTION...]"

func benchCommand() Command {
	return Command{
		Name: "bench", Idle: true, Group: Time, Args: benchArgs,
		Doc: "measures workloads on the host CPU beside the simulated TPU",
		Help: "W1 to W9 and W11 can be named; without a name W1 runs. Options are --mode M (that of the session), --threads N and --budget SECONDS of sampling a case. Each case has a simulated TPU of its own. The host column is the least wall time of one unit, " +
			"the last one what the simulated TPU took. `tpush bench` does the same from a command line, and W10, which starts programs.",
		Example: ":bench W1 --budget 0.001", Run: runBench,
		Complete: func(_ *repl.Session, prefix string) (names []string) {
			for _, w := range bench.Workloads() {
				if strings.HasPrefix(w.Name, prefix) {
					names = append(names, w.Name)
				}
			}
			return names
		},
	}
}

func runBench(c *Call) (Answer, error) {
	o := bench.Options{Mode: c.Session.Dispatcher().Mode(), Threads: runtime.GOMAXPROCS(0)}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	mode := fs.String("mode", "", "")
	budget := fs.Float64("budget", 0.25, "")
	fs.IntVar(&o.Threads, "threads", o.Threads, "")
	var names []string
	for args := c.Args; len(args) > 0; {
		if err := fs.Parse(args); err != nil {
			return Answer{}, &UsageError{"bench", benchArgs, err.Error()}
		}
		if args = fs.Args(); len(args) > 0 {
			names, args = append(names, args[0]), args[1:]
		}
	}
	if *mode != "" {
		m, err := exec.LookupMode(*mode)
		if err != nil {
			return Answer{}, err
		}
		o.Mode = m
	}
	b, ok := bench.ParseBudget(*budget)
	if o.Threads < 1 || !ok {
		return Answer{}, &UsageError{"bench", benchArgs, fmt.Sprintf("threads and budget must be positive, the budget at most %d", bench.MaxBudgetSeconds)}
	}
	o.Budget = b
	if len(names) == 0 {
		names = []string{"W1"}
	}
	var results []bench.Result
	say := func(r bench.Result) {
		r.Case = r.Workload + " " + r.Case
		results = append(results, r)
	}
	for _, name := range names {
		run := func() error { return bench.Run(c.Ctx, name, o, say) }
		if name == "W11" {
			run = func() error { return bench.Ladder(c.Ctx, o, say) }
		}
		if err := run(); err != nil {
			return Answer{}, err
		}
	}
	return Answer{Text: picture(c.Session, width+20, bench.Table(results))}, nil
}
