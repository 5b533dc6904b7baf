package command

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/viz"
)

func timeCommands() []Command {
	return []Command{
		{
			Name: "time", Idle: true, Replay: true, Group: Time, Args: "STATEMENT",
			Doc:     "runs a statement and shows host time, simulated TPU time, launches and HBM",
			Example: "x := tpu.Ones(64, 64)\n:time x.MatMul(x)", Run: timeOnce,
		},
		{
			Name: "timeit", Idle: true, Group: Time, Args: "[-n N] STATEMENT",
			Doc:     "runs a statement many times after a warm-up and shows the median host time and its spread",
			Help:    "Without -n it runs for about half a second, 5 times at least. The host computes real numbers; the TPU time beside it is simulated.",
			Example: "x := tpu.Ones(4)\n:timeit -n 10 x.Add(x)", Run: timeit,
		},
		benchCommand(),
		{
			Name: "top", Group: Time, Args: "[N]",
			Doc:     "shows the N most expensive source lines of the session by simulated TPU time",
			Example: "x := tpu.Ones(64, 64)\ny := x.MatMul(x)\n:top 5", Run: top,
		},
	}
}

// failed turns the reports of a cell into an answer that shows them.
type cellError struct{ cell *repl.Cell }

// Error is the first line of the first report.
func (e *cellError) Error() string {
	r := e.cell.Reports[0]
	return r.Kind + ": " + r.Message
}

// Reports gives what the cell reported.
func (e *cellError) Reports() []*repl.Report { return e.cell.Reports }

func runStatement(c *Call, src string) (*repl.Cell, error) {
	x := c.Session.Run(c.Ctx, src, "", 1, c.Out)
	if x == nil {
		return nil, &UsageError{"time", "STATEMENT", "a statement is wanted"}
	}
	if len(x.Reports) > 0 {
		return x, &cellError{x}
	}
	return x, nil
}

func timeOnce(c *Call) (Answer, error) {
	x, err := runStatement(c, c.Rest)
	if err != nil {
		return Answer{}, err
	}
	cs := c.Session.Dispatcher().CacheStats()
	a, err := text("host %s   TPU %s (simulated)   %d ops in %d launches   HBM %+d B, peak %s   cache %d hits of %d",
		viz.DurationNS(x.Wall.Nanoseconds()), viz.DurationNS(x.Stats.DeviceNS), x.Stats.Ops, x.Stats.Launches, x.HBMDelta,
		viz.Bytes(c.Session.Device().HBM().Peak()), cs.Hits, cs.Requests)
	a.Cell = x
	return a, err
}

// timeitBudget is how long :timeit runs when no count is given.
const timeitBudget = 500 * time.Millisecond

func timeit(c *Call) (Answer, error) {
	n, src := 0, c.Rest
	if rest, ok := strings.CutPrefix(src, "-n"); ok {
		var used string
		if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%d", &n); err != nil || n < 1 {
			return Answer{}, &UsageError{"timeit", "[-n N] STATEMENT", "-n wants a count"}
		}
		used = fmt.Sprint(n)
		src = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), used))
	}
	if strings.TrimSpace(src) == "" {
		return Answer{}, &UsageError{"timeit", "[-n N] STATEMENT", "a statement is wanted"}
	}
	src = strings.TrimSuffix(strings.TrimSpace(src), ";")
	// The statement becomes the body of a function, so that it is compiled once.
	// It stands on a line of its own, where its columns are the user's.
	x, err := runStatement(c, "func ʹtimeit() {\n"+discard(c, src)+"\n}\nʹtimeit();")
	if x != nil {
		x.Command = ":timeit " + c.Rest
	}
	if err != nil {
		return Answer{}, err
	}
	var times []float64
	var device int64
	began := time.Now()
	for i := 0; (n > 0 && i < n) || n == 0 && (i < 5 || time.Since(began) < timeitBudget); i++ {
		x := c.Session.Aside(c.Ctx, "ʹtimeit();", c.Out)
		if len(x.Reports) > 0 {
			return Answer{}, &cellError{x}
		}
		times = append(times, float64(x.Wall.Nanoseconds()))
		device = x.Stats.DeviceNS
	}
	sort.Float64s(times)
	mid := times[len(times)/2]
	return text("host %s a run, median of %d (%s to %s)   TPU %s (simulated)", viz.DurationNS(int64(mid)), len(times),
		viz.DurationNS(int64(times[0])), viz.DurationNS(int64(times[len(times)-1])), viz.DurationNS(device))
}

// discard makes a statement of an expression that Go would not take as one.
func discard(c *Call, src string) string {
	if t, err := c.Session.Interp().TypeOf(src); err == nil && t != "" && !strings.HasPrefix(t, "(") {
		return "_ = " + src
	}
	return src
}

func top(c *Call) (Answer, error) {
	n, err := optionalCount(c, "top", "[N]", 5)
	if err != nil {
		return Answer{}, err
	}
	lines := expensiveLines(c.Session, n)
	if len(lines.Rows) == 0 {
		return text("nothing ran on the device yet")
	}
	return Answer{Text: picture(c.Session, width+20, lines.Drawing())}, nil
}
