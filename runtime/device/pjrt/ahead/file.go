package ahead

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"

	"google.golang.org/protobuf/encoding/protowire"
)

// An Entry says what a file with an executable is.
type Entry struct {
	Kind string // what wrote it, as far as the file says
	// Key is the three parts of the name of a cache entry: of operations and
	// edges, of dimensions, of compile options. Empty for another file.
	Key   [3]string
	Bytes int // of the executable in it
}

// String is the entry in a line.
func (e Entry) String() string {
	if e.Key[0] == "" {
		return e.Kind
	}
	return fmt.Sprintf("%s, operations %s, dimensions %s, options %s", e.Kind, e.Key[0], e.Key[1], e.Key[2])
}

// A NoExecutableError is a file that holds no executable of libtpu.
type NoExecutableError struct{}

// Error says so.
func (*NoExecutableError) Error() string { return "no executable of the TPU compiler is in it" }

// executableMagic is how a serialized executable of libtpu begins: the hash
// and sizes of the first block of a Riegeli file.
var executableMagic = []byte{0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f}

// cacheKey is the name of an entry of TorchTPU's compilation cache.
var cacheKey = regexp.MustCompile(`^([0-9a-f]{16})_([0-9a-f]{16})_([0-9a-f]{16})\.bin$`)

// executableIn finds the executable in the bytes of a file: all of them, or a
// part that something else is around. The error is *NoExecutableError.
func executableIn(name string, file []byte) (Entry, []byte, error) {
	e := Entry{Kind: "a serialized TPU executable"}
	if m := cacheKey.FindStringSubmatch(filepath.Base(name)); m != nil {
		e.Kind, e.Key = "a TorchTPU cache entry", [3]string(m[1:])
	}
	i := bytes.Index(file, executableMagic)
	if i < 0 {
		return e, nil, &NoExecutableError{}
	}
	if i > 0 && e.Key[0] == "" {
		e.Kind = fmt.Sprintf("a TPU executable at byte %d of a file", i)
	}
	code := file[i:]
	if n := lengthBefore(file[:i]); n > len(executableMagic) && n <= len(code) {
		code = code[:n]
	}
	e.Bytes = len(code)
	return e, code, nil
}

// lengthBefore reads the length that a protobuf message writes before a field
// of bytes, 0 when what stands there is none.
func lengthBefore(b []byte) int {
	for k := 1; k <= 5 && k < len(b); k++ {
		v, n := protowire.ConsumeVarint(b[len(b)-k:])
		if n != k || v > 1<<31 {
			continue
		}
		for t := 1; t <= 3 && t+k <= len(b); t++ {
			if _, typ, n := protowire.ConsumeTag(b[len(b)-k-t:]); n == t && typ == protowire.BytesType {
				return int(v)
			}
		}
	}
	return 0
}

// OpenFile reads a file that holds a serialized executable.
func OpenFile(ctx context.Context, c *Compiler, name string, file []byte) (Entry, *Result, error) {
	e, code, err := executableIn(name, file)
	if err != nil {
		return e, nil, err
	}
	r, err := c.Open(ctx, code)
	return e, r, err
}
