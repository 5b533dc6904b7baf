// Package programs runs a folder of StableHLO programs with recorded inputs and
// results on a plug-in.
//
// Beside NAME.mlir stands NAME.json: inputs and outputs, or those of each
// device, a tolerance, or the text of the error that must come. The package
// imports capi and worker. Invariant: every program of the folder gives a
// result, passed or not.
package programs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
)

// A sidecar says what goes into a program and what must come out.
type sidecar struct {
	Replicas   int `json:"replicas"`
	Partitions int `json:"partitions"`
	Tolerance  struct {
		Rel float64 `json:"rel"`
		Abs float64 `json:"abs"`
	} `json:"tol"`
	perDevice
	Devices []perDevice `json:"devices"`
	Error   string      `json:"error"` // compiling must fail with this in its text
}

type perDevice struct {
	Inputs  []*array `json:"inputs"`
	Outputs []*array `json:"outputs"`
}

// A Result is what became of one program.
type Result struct {
	Name string
	Err  error // nil: passed
}

// Run runs every program of a folder. The worker needs as many devices as a
// program has replicas or partitions.
func Run(ctx context.Context, w *worker.Worker, dir string) ([]Result, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.mlir"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, &os.PathError{Op: "selftest", Path: dir, Err: fmt.Errorf("no .mlir files")}
	}
	slices.Sort(files)
	var all []Result
	for _, f := range files {
		all = append(all, Result{strings.TrimSuffix(filepath.Base(f), ".mlir"), check(ctx, w, f)})
	}
	return all, nil
}

// A ResultError is a result that is not the recorded one.
type ResultError struct {
	Device, Output int
	Why            string
}

// Error says which result and how it differs.
func (e *ResultError) Error() string {
	return fmt.Sprintf("device %d result %d: %s", e.Device, e.Output, e.Why)
}

func check(ctx context.Context, w *worker.Worker, file string) error {
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(strings.TrimSuffix(file, ".mlir") + ".json")
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	s := &sidecar{}
	if err := d.Decode(s); err != nil {
		return err
	}
	o := capi.CompileOptions{Replicas: s.Replicas, Partitions: s.Partitions, Flags: map[string]any{"xla_cpu_enable_fast_min_max": false}}
	p, err := w.Compile(ctx, capi.MLIR, code, o.Encode())
	if s.Error != "" {
		return s.wantError(p, err)
	}
	if err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	defer p.Drop()
	if len(s.Devices) == 0 {
		s.Devices = []perDevice{s.perDevice}
	}
	return s.execute(ctx, w, p)
}

// wantError is for programs that must be refused.
func (s *sidecar) wantError(p *worker.Program, err error) error {
	switch {
	case err == nil:
		p.Drop()
		return fmt.Errorf("it compiled, but must fail with %q", s.Error)
	case !strings.Contains(err.Error(), s.Error):
		return fmt.Errorf("it failed with %q, want %q", err, s.Error)
	}
	return nil
}

func (s *sidecar) execute(ctx context.Context, w *worker.Worker, p *worker.Program) error {
	if have := len(w.About().Devices); len(s.Devices) > have {
		return fmt.Errorf("it needs %d devices, there are %d", len(s.Devices), have)
	}
	ins := make([][]*worker.Buffer, len(s.Devices))
	for d, dev := range s.Devices {
		for _, a := range dev.Inputs {
			b, t, err := a.encode()
			if err != nil {
				return err
			}
			buf, err := w.Put(d, t, a.Shape, b)
			if err != nil {
				return err
			}
			ins[d] = append(ins[d], buf)
		}
	}
	outs, err := p.ExecuteAll(ins)
	if err != nil {
		return err
	}
	defer func() {
		for d := range ins {
			w.Free(append(ins[d], outs[d]...)...)
		}
	}()
	for d, dev := range s.Devices {
		if len(p.Outputs) != len(dev.Outputs) {
			return fmt.Errorf("%d results, want %d", len(p.Outputs), len(dev.Outputs))
		}
		for i, want := range dev.Outputs {
			why, err := s.compare(ctx, outs[d][i], p.Outputs[i], want)
			if err != nil {
				return err
			}
			if why != "" {
				return &ResultError{d, i, why}
			}
		}
	}
	return w.Sync(ctx)
}

// compare says how a result differs from the recorded one, "" when it does not.
func (s *sidecar) compare(ctx context.Context, got *worker.Buffer, typ worker.Output, want *array) (string, error) {
	wantBytes, t, err := want.encode()
	if err != nil {
		return "", err
	}
	if typ.Type != t || !slices.Equal(typ.Dims, want.Shape) {
		return fmt.Sprintf("%v%v, want %v%v", typ.Type, typ.Dims, t, want.Shape), nil
	}
	gotBytes := make([]byte, len(wantBytes))
	if err := got.Get(ctx, gotBytes); err != nil {
		return "", err
	}
	if bytes.Equal(gotBytes, wantBytes) {
		return "", nil
	}
	g, v := decode(gotBytes, t), decode(wantBytes, t)
	bad, at, worst := 0, 0, -1.0
	for i := range g {
		diff := math.Abs(g[i] - v[i])
		if g[i] == v[i] || math.IsNaN(g[i]) && math.IsNaN(v[i]) || diff <= s.Tolerance.Abs+s.Tolerance.Rel*math.Abs(v[i]) {
			continue
		}
		if bad++; diff > worst {
			at, worst = i, diff
		}
	}
	if bad == 0 {
		return "", nil
	}
	return fmt.Sprintf("%d of %d numbers differ, most number %d: %v, want %v", bad, len(g), at, g[at], v[at]), nil
}
