package worker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// jaxScript answers each line "MODE N" with the nanoseconds that N calls of a
// jitted addition took: dispatched, or each waited for.
const jaxScript = `
import sys, time, jax, jax.numpy as jnp
f = jax.jit(lambda a, b: a + b)
x = jnp.zeros(4, jnp.float32)
f(x, x).block_until_ready()
for line in sys.stdin:
    mode, n = line.split()
    t = time.perf_counter_ns()
    if mode == "dispatch":
        for _ in range(int(n)): y = f(x, x)
        y.block_until_ready()
    else:
        for _ in range(int(n)): f(x, x).block_until_ready()
    print(time.perf_counter_ns() - t, flush=True)
`

// BenchmarkAgainstJAX runs the same addition here and in jax.jit, by turns so
// that both see the same machine, and reports the medians, their ratio, and the
// ratio of the best: the other work of a busy machine is not in that.
// TPUSH_JAX_PYTHON names a Python that has jax; without it nothing runs.
func BenchmarkAgainstJAX(b *testing.B) {
	python := os.Getenv("TPUSH_JAX_PYTHON")
	if python == "" {
		b.Skip("TPUSH_JAX_PYTHON names no Python with jax")
	}
	ctx, w := context.Background(), start(b)
	p, err := w.Compile(ctx, capi.MLIR, fmt.Appendf(nil, addText, 4), capi.CompileOptions{}.Encode())
	if err != nil {
		b.Fatal(err)
	}
	f32, _ := capi.ParseType("f32")
	x, _ := w.Put(0, f32, []int64{4}, make([]byte, 16))
	cmd := exec.Command(python, "-c", jaxScript)
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	answers := bufio.NewScanner(out)
	jax := func(mode string, n int) float64 {
		fmt.Fprintln(in, mode, n)
		if !answers.Scan() {
			b.Fatal("jax said nothing")
		}
		ns, err := strconv.ParseFloat(strings.TrimSpace(answers.Text()), 64)
		if err != nil {
			b.Fatal(err)
		}
		return ns / float64(n)
	}
	own := func(mode string, n int) float64 {
		t := time.Now()
		for range n {
			out, err := p.Execute([]*Buffer{x, x})
			if err != nil {
				b.Fatal(err)
			}
			if mode == "wait" {
				if err := w.Sync(ctx); err != nil {
					b.Fatal(err)
				}
			}
			w.Free(out...)
		}
		if err := w.Sync(ctx); err != nil {
			b.Fatal(err)
		}
		return float64(time.Since(t).Nanoseconds()) / float64(n)
	}
	for _, mode := range []string{"dispatch", "wait"} {
		b.Run(mode, func(b *testing.B) {
			const calls = 500
			var ours, theirs []float64
			for b.Loop() {
				ours, theirs = append(ours, own(mode, calls)), append(theirs, jax(mode, calls))
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			o, j := ours[len(ours)/2], theirs[len(theirs)/2]
			b.ReportMetric(o, "ns/call")
			b.ReportMetric(j, "jax-ns/call")
			b.ReportMetric(o/j, "ratio")
			b.ReportMetric(ours[0]/theirs[0], "best-ratio")
		})
	}
}

// BenchmarkReady is the time until a plug-in process answers.
func BenchmarkReady(b *testing.B) {
	in := pluginPath(b)
	for b.Loop() {
		w, err := Start(context.Background(), options(b, in))
		if err != nil {
			b.Fatal(err)
		}
		w.Kill()
	}
}
