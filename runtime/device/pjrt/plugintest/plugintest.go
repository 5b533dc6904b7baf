// Package plugintest starts plug-in processes for tests: the process is the
// test's own program, run again.
//
// It tests nothing itself. It imports plugin and worker. Invariant: without a
// plug-in a test that asks for one is skipped, by name.
package plugintest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/device/pjrt/plugin"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
)

// Main is the TestMain of a package whose tests start plug-in processes.
func Main(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == worker.ProcessName {
		if err := worker.Child(strings.TrimPrefix(os.Args[2], "--plugin="), strings.TrimPrefix(os.Args[3], "--create=")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Options say how to start a library in a process of its own.
func Options(library string) (worker.Options, error) {
	self, err := os.Executable()
	return worker.Options{Command: []string{self, worker.ProcessName}, Plugin: library}, err
}

// CPU says how to start the CPU plug-in with n devices; without one the test is skipped.
func CPU(t testing.TB, n int) worker.Options {
	t.Helper()
	in, err := plugin.Here(os.Getenv).Find("cpu")
	if err != nil {
		t.Skip(err)
	}
	o, err := Options(in.Path)
	if err != nil {
		t.Fatal(err)
	}
	o.Create = map[string]any{"cpu_device_count": n}
	return o
}

// TPU gives what starts the TPU compiler that TPUSH_XLA_TPU names; nil when it
// names none.
func TPU() func(ctx context.Context, env ...string) (*worker.Worker, error) {
	library := os.Getenv("TPUSH_XLA_TPU")
	if library == "" {
		return nil
	}
	return func(ctx context.Context, env ...string) (*worker.Worker, error) {
		o, err := Options(library)
		if err != nil {
			return nil, err
		}
		o.Env = env
		return worker.Start(ctx, o)
	}
}
