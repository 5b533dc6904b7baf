// Package selftest runs recordings of other implementations through the
// tensor layer, in every mode, and says where results differ.
//
// It never decides what is right: the recordings do. It imports conformance,
// tpu, exec, sim and optim. Invariant: a record's answer does not depend on
// what ran before it.
package selftest

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// Options choose what runs. The zero value runs every record in every mode.
type Options struct {
	Modes []*exec.Mode
	Files []string             // names without .jsonl
	Match func(id string) bool // nil: all
	Each  func(r *Result)      // called as results come; may be nil
	Open  func() device.Device // nil: the simulator
	XLA   bool                 // Open gives real XLA: what the recordings grant it is granted
}

// A Result is what became of one record in one mode.
type Result struct {
	ID, File, Op, Mode string
	Err                error  // nil: as recorded
	Skipped            string // why it did not run
}

//go:embed testdata/*.jsonl
var recorded embed.FS

// RunAny runs the records of a folder, or the sample in the program when dir is "".
func RunAny(dir string, o Options) ([]Result, error) {
	if dir != "" {
		return Run(dir, o)
	}
	tmp, err := os.MkdirTemp("", "tpush-selftest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(tmp, recorded); err != nil {
		return nil, err
	}
	return Run(filepath.Join(tmp, "testdata"), o)
}

// Run runs the records of a folder.
func Run(dir string, o Options) ([]Result, error) {
	modes := o.Modes
	if modes == nil {
		modes = exec.Modes()
	}
	files := o.Files
	if files == nil {
		all, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			return nil, err
		}
		sort.Strings(all)
		for _, f := range all {
			files = append(files, strings.TrimSuffix(filepath.Base(f), ".jsonl"))
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: no recordings (.jsonl files)", dir)
		}
	}
	var out []Result
	for _, f := range files {
		path := filepath.Join(dir, f+".jsonl")
		if _, err := os.Stat(path); err != nil {
			return out, err
		}
		recs, err := conformance.ReadFile(path)
		if err != nil {
			return out, err
		}
		for _, m := range modes {
			for i := range recs {
				r := &recs[i]
				if o.Match != nil && !o.Match(r.ID) {
					continue
				}
				res := one(f, r, m, &o)
				if o.Each != nil {
					o.Each(&res)
				}
				out = append(out, res)
			}
		}
	}
	return out, nil
}

// A PanicError says that a record made the runtime panic with something else than its own error.
type PanicError struct{ Value any }

// Error prints the value.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// one runs a record on a simulator of its own, or on what the options open.
func one(file string, r *conformance.Record, m *exec.Mode, o *Options) (res Result) {
	res = Result{ID: r.ID, File: file, Op: r.Op, Mode: m.Name}
	open := o.Open
	res.Skipped = why(departures, r.ID)
	if o.XLA && res.Skipped == "" {
		var granted conformance.Record
		granted, res.Skipped = forXLA(*r)
		r = &granted
	}
	if res.Skipped != "" {
		return res
	}
	if open == nil {
		chip, err := device.LookupChip("v5e")
		if err != nil {
			res.Err = err
			return res
		}
		open = func() device.Device { return sim.New(chip, sim.Options{}) }
	}
	d := exec.New(open(), exec.Options{Mode: m})
	d.SetChecks(exec.ChecksOn)
	defer tpu.Use(d)()
	defer func() {
		switch x := recover().(type) {
		case nil:
		case skip:
			res.Err, res.Skipped = nil, string(x)
		case *tpu.Error:
			res.Err = x
			missing(&res)
		default:
			res.Err = &PanicError{x}
		}
	}()
	res.Err = run(file, r)
	missing(&res)
	return res
}

// missing makes a failure for want of a row a skip.
func missing(r *Result) {
	var m *exec.MissingRowError
	if errors.As(r.Err, &m) {
		r.Skipped, r.Err = m.Error(), nil
	}
}

// skip is panicked with by what cannot run a record.
type skip string

// run chooses how the record is run.
func run(file string, r *conformance.Record) error {
	if steps, ok := r.Extra["steps"].([]any); ok {
		return program(r, steps)
	}
	switch {
	case r.Extra["error"] != nil:
		return refused(r)
	case file == "models":
		return model(r)
	case file == "optim":
		return optimizer(r)
	case file == "promotion":
		return promotion(r)
	case file == "random", file == "small_formats":
		return bits(r)
	}
	return call(r)
}

// Summary counts results: passed, failed, skipped.
func Summary(rs []Result) (passed, failed, skipped int) {
	for i := range rs {
		switch {
		case rs[i].Skipped != "":
			skipped++
		case rs[i].Err != nil:
			failed++
		default:
			passed++
		}
	}
	return
}
