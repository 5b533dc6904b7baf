package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/repl/kernel"
)

// program builds tpush as users do.
func program(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "tpush")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func run(b *testing.B, p *kernel.Process, code string) {
	b.Helper()
	rep, err := p.Execute(context.Background(), kernel.ExecuteRequest{Code: code}, kernel.Events{})
	if err != nil || rep.Status != "ok" {
		b.Fatalf("%s: %+v %v", code, rep, err)
	}
}

// BenchmarkPrompt is the time from the start of a kernel to its first answer.
func BenchmarkPrompt(b *testing.B) {
	bin := program(b)
	for b.Loop() {
		p, err := kernel.Start(bin, "kernel")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Info(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.Stop()
		b.StartTimer()
	}
}

// BenchmarkCell is one cell of one line through the kernel process and back.
func BenchmarkCell(b *testing.B) {
	bin := program(b)
	for _, bb := range []struct{ name, setup, cell string }{
		{"number", "", "1 + 1"},
		{"tensor", "x := tpu.Ones(4)", "y := x*2 + 1"},
		{"shown tensor", "x := tpu.Ones(4)", "x + 1"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			p, err := kernel.Start(bin, "kernel")
			if err != nil {
				b.Fatal(err)
			}
			defer p.Stop()
			if bb.setup != "" {
				run(b, p, bb.setup)
			}
			run(b, p, bb.cell)
			for b.Loop() {
				run(b, p, bb.cell)
			}
		})
	}
}
