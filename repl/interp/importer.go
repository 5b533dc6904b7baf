package interp

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"maps"
	"sort"
	"strconv"
	"sync"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/tpush/tpush/runtime/spelling"
)

// An importer reads packages' types from embedded export data, each when it is
// first asked for: no toolchain is needed.
type importer struct {
	fset *token.FileSet
	data map[string][]byte
	read map[string]*types.Package
}

func newImporter(archives ...[]byte) (*importer, error) {
	im := &importer{fset: token.NewFileSet(), data: map[string][]byte{}, read: map[string]*types.Package{}}
	for _, a := range archives {
		if err := im.add(a); err != nil {
			return nil, err
		}
	}
	return im, nil
}

// newStandardImporter reads the standard library's archive, which is unpacked
// once: nobody writes to it.
func newStandardImporter() (*importer, error) {
	data, err := standardData()
	if err != nil {
		return nil, err
	}
	return &importer{fset: token.NewFileSet(), data: maps.Clone(data), read: map[string]*types.Package{}}, nil
}

var standardData = sync.OnceValues(func() (map[string][]byte, error) { return unpack(exportStd) })

// add makes the packages of an archive known.
func (im *importer) add(archive []byte) error {
	data, err := unpack(archive)
	maps.Copy(im.data, data)
	return err
}

// unpack reads an archive: for each package a line "path size" and its data.
func unpack(archive []byte) (map[string][]byte, error) {
	data := map[string][]byte{}
	if len(archive) == 0 {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("export data: %w", err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("export data: %w", err)
	}
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte("\n"))
		path, size, ok2 := bytes.Cut(head, []byte(" "))
		n, err := strconv.Atoi(string(size))
		if !ok || !ok2 || err != nil || n > len(rest) {
			return nil, fmt.Errorf("export data: bad entry %q", head)
		}
		data[string(path)] = rest[:n]
		b = rest[n:]
	}
	return data, nil
}

// An ImportError says that cells can't import a package.
type ImportError struct {
	Path string
	Near string // the closest path that they can import
}

func (e *ImportError) Error() string {
	if e.Near == "" {
		return fmt.Sprintf("package %q is not available in cells", e.Path)
	}
	return fmt.Sprintf("package %q is not available in cells; the nearest is %q", e.Path, e.Near)
}

// Import implements types.Importer.
func (im *importer) Import(path string) (*types.Package, error) {
	if p := im.read[path]; p != nil && p.Complete() {
		return p, nil
	}
	if path == "unsafe" {
		return nil, &ImportError{Path: path}
	}
	d, ok := im.data[path]
	if !ok {
		return nil, &ImportError{path, im.nearest(path)}
	}
	return gcexportdata.Read(bytes.NewReader(d), im.fset, im.read, path)
}

// Paths lists what can be imported.
func (im *importer) paths() []string {
	out := make([]string, 0, len(im.data))
	for p := range im.data {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// nearest gives the available path that is most like path, "" if none is.
func (im *importer) nearest(path string) string {
	best, bestD := "", len(path)/2+1
	for _, p := range im.paths() {
		if d := spelling.Distance(path, p); d < bestD {
			best, bestD = p, d
		}
	}
	return best
}
