// Package checkpoint stores tensors in safetensors files and reads them back:
// one at a time from a mapped file, or a whole model from several files.
//
// It never guesses: a file is read as its header says or refused. It imports
// safetensors, tpu, dtype, kernel and shape. Invariant: what Save writes, Load
// gives back bit for bit.
package checkpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/safetensors"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// names are the format's names of the element types it has.
var names = map[dtype.DType]string{
	dtype.Bool: "BOOL", dtype.F4E2M1: "F4", dtype.U8: "U8", dtype.I8: "I8", dtype.F8E5M2: "F8_E5M2", dtype.F8E4M3: "F8_E4M3",
	dtype.F8E8M0: "F8_E8M0", dtype.F8E4M3FNUZ: "F8_E4M3FNUZ", dtype.F8E5M2FNUZ: "F8_E5M2FNUZ", dtype.I16: "I16", dtype.U16: "U16",
	dtype.F16: "F16", dtype.BF16: "BF16", dtype.I32: "I32", dtype.U32: "U32", dtype.F32: "F32", dtype.C64: "C64", dtype.F64: "F64",
	dtype.I64: "I64", dtype.U64: "U64",
}

// A TypeError says that an element type is not on both sides: the format has
// none of that name, or the runtime.
type TypeError struct{ Tensor, Type string }

// Error names the tensor.
func (e *TypeError) Error() string {
	return fmt.Sprintf("tensor %q: element type %s is not among those that files and tensors share", e.Tensor, e.Type)
}

// A MissingError says that a file has no tensor of a name.
type MissingError struct{ Tensor, Path string }

// Error names both.
func (e *MissingError) Error() string { return fmt.Sprintf("%s has no tensor %q", e.Path, e.Tensor) }

// An IndexError says why an index file cannot be followed.
type IndexError struct{ Path, Why string }

// Error names the file.
func (e *IndexError) Error() string { return e.Path + ": " + e.Why }

func fail(op string, err error) {
	if err != nil {
		panic(&tpu.Error{Op: op, Err: err})
	}
}

// Options are the options of Save.
type Options struct {
	Metadata map[string]string // text kept in the header
}

// Save reads tensors and writes them to a file, replacing it at once when all is written.
func Save(path string, tensors map[string]*tpu.Tensor, opts ...Options) {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	list := make([]safetensors.Tensor, 0, len(tensors))
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		list = append(list, entry(name, tensors[name]))
	}
	fail("checkpoint.save", writeFile(path, func(w io.Writer) error { return safetensors.Write(w, list, o.Metadata) }))
}

// entry describes a tensor for the writer; its numbers are read when they are written.
func entry(name string, t *tpu.Tensor) safetensors.Tensor {
	s := t.Spec()
	typ, ok := names[s.DType]
	if !ok {
		fail("checkpoint.save", &TypeError{name, s.DType.String()})
	}
	return safetensors.Tensor{Name: name, Type: typ, Dims: s.Dims, Data: func(w io.Writer) error {
		a := t.Array()
		b := a.Buf[a.Offset*a.DType.HostBytes():][:a.Size()*a.DType.HostBytes()]
		if a.DType.Bits() == 4 {
			b = dtype.PackNibbles(b)
		}
		_, err := w.Write(b)
		return err
	}}
}

// writeFile writes a file beside its place and moves it there.
func writeFile(path string, f func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := f(tmp); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// A File is an opened checkpoint: its tensors are read when asked for.
type File struct {
	path  string
	files []*safetensors.File
	where map[string]place
}

type place struct {
	file  *safetensors.File
	entry *safetensors.Entry
}

// Open opens a .safetensors file, an .index.json that names several, or a
// directory that holds one of them; it reads headers only.
func Open(path string) *File {
	const op = "checkpoint.open"
	st, err := os.Stat(path)
	fail(op, err)
	f := &File{path: path, where: map[string]place{}}
	if st.IsDir() {
		whole, index := filepath.Join(path, "model.safetensors"), filepath.Join(path, "model.safetensors.index.json")
		if path = whole; !exists(whole) && exists(index) {
			path = index
		}
	}
	var perr error
	if strings.HasSuffix(path, ".json") {
		perr = f.openIndex(path)
	} else {
		_, perr = f.openOne(path, nil)
	}
	if perr != nil {
		f.Close()
		fail(op, perr)
	}
	return f
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// openOne maps a file and takes the tensors in that want says; all when it is nil.
func (f *File) openOne(path string, want map[string]bool) (int, error) {
	x, err := safetensors.Open(path)
	if err != nil {
		return 0, err
	}
	f.files = append(f.files, x)
	n := 0
	for i := range x.Entries {
		if e := &x.Entries[i]; want == nil || want[e.Name] {
			f.where[e.Name] = place{x, e}
			n++
		}
	}
	return n, nil
}

// maxIndex bounds an index file, in bytes.
const maxIndex = 100_000_000

// openIndex opens the files that an index names, which lie beside it.
func (f *File) openIndex(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Size() > maxIndex {
		return &IndexError{path, fmt.Sprintf("%d bytes are more than an index has", st.Size())}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var x struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return &IndexError{path, "it is no index: " + err.Error()}
	}
	if x.Map == nil {
		return &IndexError{path, "it has no weight_map"}
	}
	byFile := map[string]map[string]bool{}
	for name, file := range x.Map {
		if !filepath.IsLocal(file) {
			return &IndexError{path, fmt.Sprintf("tensor %q lies in %q, which is not beside it", name, file)}
		}
		if byFile[file] == nil {
			byFile[file] = map[string]bool{}
		}
		byFile[file][name] = true
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		part := filepath.Join(filepath.Dir(path), file)
		if _, err := f.openOne(part, byFile[file]); err != nil {
			return err
		}
		for name := range byFile[file] {
			if _, ok := f.where[name]; !ok {
				return &MissingError{name, part}
			}
		}
	}
	return nil
}

// Names lists the tensors, sorted.
func (f *File) Names() []string {
	var list []string
	for n := range f.where {
		list = append(list, n)
	}
	sort.Strings(list)
	return list
}

// Metadata is the text that the header of the (first) file keeps; nil when there is none.
func (f *File) Metadata() map[string]string {
	for _, x := range f.files {
		return x.Metadata
	}
	return nil
}

func (f *File) find(op, name string) place {
	p, ok := f.where[name]
	if !ok {
		fail(op, &MissingError{name, f.path})
	}
	return p
}

// Spec gives type and sizes of a tensor without reading its numbers.
func (f *File) Spec(name string) shape.Spec {
	p := f.find("checkpoint.spec", name)
	return shape.Spec{DType: typeOf(p.entry), Dims: p.entry.Dims}
}

func typeOf(e *safetensors.Entry) dtype.DType {
	for d, n := range names {
		if n == e.Type {
			return d
		}
	}
	fail("checkpoint", &TypeError{e.Name, e.Type})
	return dtype.Invalid
}

// Tensor reads one tensor.
func (f *File) Tensor(name string) *tpu.Tensor {
	const op = "checkpoint.tensor"
	p := f.find(op, name)
	s := shape.Spec{DType: typeOf(p.entry), Dims: p.entry.Dims}
	fail(op, shape.CheckDims(op, s.Dims))
	raw := make([]byte, p.entry.End-p.entry.Begin)
	fail(op, p.file.Read(p.entry, raw))
	a := kernel.New(s)
	switch {
	case s.DType.Bits() == 4:
		copy(a.Buf, dtype.UnpackNibbles(raw, s.Size()))
	case s.DType == dtype.Bool:
		for i, b := range raw {
			if b != 0 {
				a.Buf[i] = 1
			}
		}
	default:
		copy(a.Buf, raw)
	}
	return tpu.FromArray(a)
}

// Close ends the mapping of the files; tensors that were read stay.
func (f *File) Close() {
	for _, x := range f.files {
		x.Close()
	}
}

// Load reads all tensors of a checkpoint; see Open for what path may name.
func Load(path string) map[string]*tpu.Tensor {
	f := Open(path)
	defer f.Close()
	out := map[string]*tpu.Tensor{}
	for _, n := range f.Names() {
		out[n] = f.Tensor(n)
	}
	return out
}
