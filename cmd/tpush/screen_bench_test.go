//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// These benchmarks drive the real program on a real pseudo terminal. What is
// wanted of them stands with each.

// seen waits until the program has written text since it was asked last, and
// gives the time and the bytes that took.
func (s *terminal) seen(text string) (time.Duration, int) {
	began := time.Now()
	s.mu.Lock()
	from := s.mark
	s.mu.Unlock()
	s.wait(text)
	return time.Since(began), s.mark - from
}

// milliseconds gives a part of a sorted list of times.
func milliseconds(list []time.Duration, part float64) float64 {
	slices.Sort(list)
	return float64(list[min(int(part*float64(len(list))), len(list)-1)].Microseconds()) / 1e3
}

// BenchmarkStart is the time from the start of the program to its first frame
// (50 ms at most), to a prompt that takes keys (100 ms) and to the first answer.
func BenchmarkStart(b *testing.B) {
	bin := program(b)
	var paint, prompt, answer []time.Duration
	for b.Loop() {
		began := time.Now()
		s := openTerminalWith(b, bin, b.TempDir(), true)
		s.wait("Four things to try")
		paint = append(paint, time.Since(began))
		s.skip()
		s.keys("9")
		s.wait("9")
		prompt = append(prompt, time.Since(began))
		s.keys("*111" + enter)
		s.wait("999")
		answer = append(answer, time.Since(began))
		b.StopTimer()
		s.keys("\x04")
		_ = s.cmd.Wait()
		b.StartTimer()
	}
	b.ReportMetric(milliseconds(paint, 0.5), "paint-ms")
	b.ReportMetric(milliseconds(prompt, 0.5), "prompt-ms")
	b.ReportMetric(milliseconds(answer, 0.5), "answer-ms")
}

// BenchmarkKeyOnTerminal is the time from a key to the bytes that show it, at 60
// frames a second and keys at random: 9 of 10 at most 17 ms. A key is shown at once,
// not with the next frame.
func BenchmarkKeyOnTerminal(b *testing.B) {
	bin := program(b)
	for _, c := range []struct {
		name, line string
		cells      int
	}{
		{"0 cells", "", 0},
		{"1000 cells", "a line of output\n", 1000},
		{"1000 cells of wide letters", "日本語\n", 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			manyCells(b, dir, c.cells, c.line)
			s := openTerminalWith(b, bin, dir, true, "n.tpu")
			s.wait("kernel ")
			r := rand.New(rand.NewPCG(1, 2))
			var times []time.Duration
			sent := 0
			for b.Loop() {
				time.Sleep(time.Duration(20+r.IntN(17)) * time.Millisecond)
				letter := string(rune('a' + len(times)%20))
				s.skip()
				s.keys(letter)
				d, n := s.seen(letter)
				times, sent = append(times, d), sent+n
				if len(times)%60 == 0 {
					s.keys("\x15")
					time.Sleep(50 * time.Millisecond)
				}
			}
			b.ReportMetric(milliseconds(times, 0.5), "p50-ms")
			b.ReportMetric(milliseconds(times, 0.9), "p90-ms")
			b.ReportMetric(float64(sent)/float64(len(times)), "B/key")
			b.ReportMetric(s.residentMB(), "RSS-MB")
		})
	}
}

// skip forgets what was written so far.
func (s *terminal) skip() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark = len(s.out)
}

// residentMB is the memory of the screen's process: 60 MB at most at 1,000 cells.
func (s *terminal) residentMB() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return float64(kb) / 1024
}

// manyCells writes a notebook of cells of nine lines, with outputs beside it.
func manyCells(tb testing.TB, dir string, n int, line string) {
	tb.Helper()
	var text, outs bytes.Buffer
	outs.WriteString(`{"version":1,"outputs":[`)
	for i := range n {
		source := fmt.Sprintf("x%d := tpu.Randn(64, 64)\nfor i := range 3 {\n\ty := x%d @ x%d // a product\n\tif i > 1 {\n\t\tfmt.Println(\"turn\", i, \"of cell %d\")\n\t}\n\t_ = y\n}\nx%d.Sum()", i, i, i, i, i)
		text.WriteString("// %%\n" + source + "\n\n")
		if i > 0 {
			outs.WriteByte(',')
		}
		fmt.Fprintf(&outs, `{"source":%q,"execution_count":%d,"status":"ok","stdout":%q,"wall_ns":1000}`, source, i+1, strings.Repeat(line, 11))
	}
	outs.WriteString("]}")
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	write("n.tpu", text.Bytes())
	write("n.tpu.out", outs.Bytes())
}

// BenchmarkIdle is the processor time of a screen on which nothing happens, 0.8
// of a hundred at most, and how often its threads wake.
func BenchmarkIdle(b *testing.B) {
	s := openTerminalWith(b, program(b), b.TempDir(), true)
	s.wait("Four things to try")
	time.Sleep(time.Second)
	const tick = 10 * time.Millisecond // of /proc
	used := func() time.Duration {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
		if err != nil {
			b.Fatal(err)
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))
		user, _ := strconv.Atoi(f[12])
		system, _ := strconv.Atoi(f[13])
		return time.Duration(user+system) * tick
	}
	woken := func() (n int) {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", s.cmd.Process.Pid))
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range tasks {
			text, _ := os.ReadFile(f)
			_, rest, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
			k, _ := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
			n += k
		}
		return n
	}
	began, before, wakes := time.Now(), used(), woken()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	b.ReportMetric(100*float64(used()-before)/float64(time.Since(began)), "%CPU")
	b.ReportMetric(float64(woken()-wakes)/time.Since(began).Seconds(), "wakes/s")
}

// BenchmarkFlood types while a cell prints a million lines as fast as it can:
// keys are shown in 50 ms at most, and memory is bounded.
func BenchmarkFlood(b *testing.B) {
	bin := program(b)
	for b.Loop() {
		s := openTerminalWith(b, bin, b.TempDir(), true)
		s.wait("Four things to try")
		s.keys("for i := range 1_000_000 { fmt.Println(\"a line of output, and its number is\", i) }; \"all\" + \"done\"" + enter)
		s.wait("running")
		began := time.Now()
		var times []time.Duration
		for i := 0; !s.has("alldone"); i++ {
			time.Sleep(30 * time.Millisecond)
			letter := string(rune('A' + i%20))
			s.skip()
			d := time.Now()
			s.keys(letter)
			s.wait(letter)
			times = append(times, time.Since(d))
			if i%60 == 59 {
				s.keys("\x15")
			}
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/flood")
		b.ReportMetric(milliseconds(times, 0.5), "p50-ms")
		b.ReportMetric(milliseconds(times, 0.9), "p90-ms")
		b.ReportMetric(milliseconds(times, 1), "max-ms")
		b.ReportMetric(s.residentMB(), "RSS-MB")
	}
}

// has says whether the program has written text.
func (s *terminal) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.out, []byte(text))
}
