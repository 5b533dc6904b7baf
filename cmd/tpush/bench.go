package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/runtime/bench"
	tpuexec "github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/viz"
)

// benchFlags are those of tpush bench.
type benchFlags struct {
	json, serve bool
	budget      float64
	mode        string
	threads     int
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use: "bench [W...]", Short: "Measure workloads on the host CPU",
		Long: "Measure how fast the host computes, beside the time that the simulated TPU takes.\nWithout a name all workloads run:\n\n" + workloadList() + `
Each line has the least wall time of one unit on the host. With --json a line is
an object. With --serve rounds are measured on demand: each line "CASE DTYPE" of
standard input is answered with one line, "drop CASE DTYPE" frees a case.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.bench(args, f) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "one object a case on a line")
	cmd.Flags().BoolVar(&f.serve, "serve", false, "measure the rounds that standard input asks for; one workload")
	cmd.Flags().Float64Var(&f.budget, "budget", 0.25, "`SECONDS` of sampling a case")
	cmd.Flags().StringVar(&f.mode, "mode", "strict", "`MODE`: debug, strict, fuse or compiled")
	cmd.Flags().IntVar(&f.threads, "threads", 1, "how many `N` threads compute")
	return cmd
}

func workloadList() string {
	var b strings.Builder
	for _, w := range bench.Workloads() {
		fmt.Fprintf(&b, "  %-4s %s\n", w.Name, w.Doc)
	}
	b.WriteString("  W10  the start of tpush to its first result, and a cell of a running one\n")
	b.WriteString("  W11  what the modes gain over strict on W3 and W5 to W9\n")
	return b.String()
}

// benchOrder are all workloads.
func benchOrder() []string {
	var names []string
	for _, w := range bench.Workloads() {
		names = append(names, w.Name)
	}
	return append(names, "W10", "W11")
}

func (a *app) bench(names []string, f benchFlags) error {
	m, err := tpuexec.LookupMode(f.mode)
	if err != nil {
		return a.fail("bench: %v", err)
	}
	budget, ok := bench.ParseBudget(f.budget)
	if f.threads < 1 || !ok {
		return a.fail("bench: --threads and --budget must be positive, --budget at most %d", bench.MaxBudgetSeconds)
	}
	o := bench.Options{Mode: m, Threads: f.threads, Budget: budget}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if f.serve {
		if len(names) != 1 {
			return a.fail("bench: --serve wants one workload")
		}
		if err := bench.Serve(ctx, names[0], o, a.stdin, a.stdout); err != nil {
			return a.fail("bench: %v", err)
		}
		return nil
	}
	if len(names) == 0 {
		names = benchOrder()
	}
	bad := false
	for _, name := range names {
		var results []bench.Result
		say := func(r bench.Result) {
			bad = bad || r.Error != ""
			if f.json {
				b, err := json.Marshal(r)
				if err == nil {
					fmt.Fprintf(a.stdout, "%s\n", b)
				}
				return
			}
			results = append(results, r)
		}
		if err := measure(ctx, name, o, say); err != nil && ctx.Err() == nil {
			return a.fail("bench: %v", err)
		}
		if !f.json && len(results) > 0 {
			fmt.Fprintf(a.stdout, "%s\n%s\n\n", name, viz.Text(viz.Plain(), 120, bench.Table(results)))
		}
		if ctx.Err() != nil {
			return exitError(plain.ExitInterrupted)
		}
	}
	if bad {
		return exitError(plain.ExitFailed)
	}
	return nil
}

func measure(ctx context.Context, name string, o bench.Options, say func(bench.Result)) error {
	switch name {
	case "W10":
		return startup(ctx, o, say)
	case "W11":
		return bench.Ladder(ctx, o, say)
	}
	return bench.Run(ctx, name, o, say)
}

// The rounds of W10: starts of a process, and cells of one process.
const startRounds, cellRounds = 7, 50

// startup is W10: this program from its start to the first result, and the
// round trip of a cell in one that runs.
func startup(ctx context.Context, o bench.Options, say func(bench.Result)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	line := func(name, unit string, seconds float64, check float64) {
		say(bench.Result{Workload: "W10", Case: name, DType: "-", Threads: o.Threads, Mode: o.Mode.Name, Seconds: seconds, Work: 1, Unit: unit, Check: []float64{check}})
	}
	var best time.Duration
	for i := range startRounds {
		t := time.Now()
		c := exec.CommandContext(ctx, self, "eval", "3.0+3.0")
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("tpush eval: %w", err)
		}
		if !strings.HasPrefix(string(out), "6") {
			return fmt.Errorf("tpush eval: 3.0+3.0 is %q", out)
		}
		if d := time.Since(t); i == 0 || d < best {
			best = d
		}
	}
	line("start", "start", best.Seconds(), 6)
	c := exec.CommandContext(ctx, self, "repl", "--plain")
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	best, err = cells(in, bufio.NewReader(out))
	in.Close()
	if e := c.Wait(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("tpush repl: %w", err)
	}
	line("cell", "cell", best.Seconds(), 2)
	return nil
}

// cells gives the least round trip of the cell 1+1.
func cells(in io.Writer, out *bufio.Reader) (best time.Duration, err error) {
	for i := range cellRounds {
		t := time.Now()
		if _, err := io.WriteString(in, "1+1\n"); err != nil {
			return 0, err
		}
		for {
			text, err := out.ReadString('\n')
			if err != nil {
				return 0, err
			}
			if strings.Contains(text, "2") {
				break
			}
		}
		if d := time.Since(t); i == 0 || d < best {
			best = d
		}
	}
	return best, nil
}
