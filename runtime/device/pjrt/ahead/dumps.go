package ahead

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
)

// failure turns an error of a compilation into one that says more. A program
// that does not fit is compiled again with dumps: the plan is written there
// even though the program is refused.
func (c *Compiler) failure(ctx context.Context, w *worker.Worker, t Target, text string, options capi.CompileOptions, err error) error {
	var ce *capi.Error
	if !errors.As(err, &ce) {
		return err
	}
	report, ok := hlo.ParseOOM(ce.Message)
	if ce.Code != capi.ResourceExhausted || !ok {
		return &CompileError{err}
	}
	oom := &OutOfMemoryError{Target: t, Report: report}
	dir, derr := os.MkdirTemp("", "tpush-xla-")
	if derr != nil {
		return oom
	}
	defer os.RemoveAll(dir)
	flags := map[string]any{"xla_dump_to": dir, "xla_dump_hlo_as_proto": true}
	for k, v := range options.Flags {
		flags[k] = v
	}
	options.Flags = flags
	_, err = w.CompileAhead(ctx, worker.AOTRequest{Topology: t.Topology, Options: options.Encode(), Format: capi.MLIR}, []byte(text))
	if !errors.As(err, &ce) {
		return oom // the report alone
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*after_optimizations.hlo.pb"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			if m, as, err := hlo.ParseProto(b); err == nil {
				oom.Module, oom.Assignment = m, as
			}
		}
	}
	return oom
}

// slots compiles once more in a process that lists its machine code: only the
// environment at the start can switch that on.
func (c *Compiler) slots(ctx context.Context, t Target, text string, options capi.CompileOptions) (map[string]*hlo.Slots, error) {
	dir, err := os.MkdirTemp("", "tpush-llo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w, err := c.start(ctx, "LIBTPU_INIT_ARGS=--xla_jf_dump_to="+dir+" --xla_jf_dump_llo_pass_label_regex=final_hlo-static")
	if err != nil {
		return nil, err
	}
	defer w.Kill()
	if _, err := w.CompileAhead(ctx, worker.AOTRequest{Topology: t.Topology, Options: options.Encode(), Format: capi.MLIR}, []byte(text)); err != nil {
		var ce *capi.Error
		if errors.As(err, &ce) {
			return nil, &CompileError{err}
		}
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]*hlo.Slots{}
	for _, e := range entries {
		name, ok := hlo.SlotsFile(e.Name())
		if !ok || strings.HasPrefix(name, "<") || name == "TLP" { // the program around the fusions
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if s, err := hlo.ParseSlots(b); err == nil {
			all[name] = s
		}
	}
	return all, nil
}
