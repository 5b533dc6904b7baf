package checkpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tpush/tpush/runtime/safetensors"
	"github.com/tpush/tpush/runtime/tpu"
)

// SaveSharded writes tensors to files of at most so many bytes of numbers each
// (a larger tensor gets a file of its own) and an index that names them, as
// Hugging Face does: model-00001-of-00002.safetensors. One file needs no index.
func SaveSharded(dir string, tensors map[string]*tpu.Tensor, maxBytes int64, opts ...Options) {
	const op = "checkpoint.save"
	fail(op, os.MkdirAll(dir, 0o755))
	type part struct {
		bytes int64
		t     map[string]*tpu.Tensor
	}
	parts := []part{{t: map[string]*tpu.Tensor{}}}
	total := int64(0)
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		e := entry(name, tensors[name])
		n, err := safetensors.Bytes(name, e.Type, e.Dims)
		fail(op, err)
		if p := &parts[len(parts)-1]; len(p.t) > 0 && p.bytes+n > maxBytes {
			parts = append(parts, part{t: map[string]*tpu.Tensor{}})
		}
		p := &parts[len(parts)-1]
		p.bytes, total = p.bytes+n, total+n
		p.t[name] = tensors[name]
	}
	if len(parts) == 1 {
		Save(filepath.Join(dir, "model.safetensors"), tensors, opts...)
		return
	}
	where := map[string]string{}
	for i, p := range parts {
		file := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(parts))
		for name := range p.t {
			where[name] = file
		}
		Save(filepath.Join(dir, file), p.t, opts...)
	}
	text, err := json.MarshalIndent(map[string]any{"metadata": map[string]any{"total_size": total}, "weight_map": where}, "", "  ")
	fail(op, err)
	fail(op, writeFile(filepath.Join(dir, "model.safetensors.index.json"), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	}))
}
