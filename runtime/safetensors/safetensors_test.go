package safetensors

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reference.json holds files that the reference library (0.8.0) wrote, and
// headers with whether it accepts them.
//
//go:embed testdata/reference.json
var referenceJSON []byte

type reference struct {
	Written []struct {
		Name     string
		File     []byte
		Metadata map[string]string
	}
	Headers []struct {
		Name     string
		File     []byte
		Accepted bool
	}
}

func readReference(t testing.TB) (r reference) {
	if err := json.Unmarshal(referenceJSON, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func parse(b []byte) (*Header, error) { return Parse(bytes.NewReader(b), int64(len(b))) }

// rewrite writes what a file holds, its tensors in reverse order.
func rewrite(t testing.TB, b []byte) []byte {
	h, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	var list []Tensor
	for i := range h.Entries {
		e := h.Entries[len(h.Entries)-1-i]
		data := b[h.Start+e.Begin : h.Start+e.End]
		list = append(list, Tensor{e.Name, e.Type, e.Dims, func(w io.Writer) error { _, err := w.Write(data); return err }})
	}
	var out bytes.Buffer
	if err := Write(&out, list, h.Metadata); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBytesAreTheReferences reads each file of the reference library and writes it again.
func TestBytesAreTheReferences(t *testing.T) {
	for _, c := range readReference(t).Written {
		if got := rewrite(t, c.File); !bytes.Equal(got, c.File) {
			t.Errorf("%s:\n%q, want\n%q", c.Name, got, c.File)
		}
	}
}

// stricter are the headers that the reference takes and the format's description forbids.
var stricter = map[string]bool{"leading space": true, "metadata key twice": true, "metadata null": true, "entry is a list": true}

func TestHostileHeaders(t *testing.T) {
	for _, c := range readReference(t).Headers {
		_, err := parse(c.File)
		if (err == nil) != (c.Accepted && !stricter[c.Name]) {
			t.Errorf("%s: the reference accepts: %v; error %v", c.Name, c.Accepted, err)
		}
		var e *FormatError
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %T %v", c.Name, err, err)
		}
	}
	for name, text := range map[string]string{
		"deep":             `{"a":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}",
		"deep unknown key": `{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"x":` + strings.Repeat(`{"a":`, 1<<18) + "1" + strings.Repeat("}", 1<<18) + "}}",
		"deep metadata":    `{"__metadata__":` + strings.Repeat(`{"a":`, 1<<18) + "1" + strings.Repeat("}", 1<<18) + "}",
	} {
		head := []byte{0, 0, 0, 0, 0, 0, 0, 0}
		for i := range 4 {
			head[i] = byte(len(text) >> (8 * i))
		}
		if _, err := parse(append(head, text...)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestCutFile cuts a mapped file short: the read fails, nothing crashes.
func TestCutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	list := []Tensor{{"a", "U8", []int{1 << 20}, func(w io.Writer) error { _, err := w.Write(make([]byte, 1<<20)); return err }}}
	var b bytes.Buffer
	if err := Write(&b, list, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dst := make([]byte, 1<<20)
	if err := f.Read(&f.Entries[0], dst); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	var e *FormatError
	if err := f.Read(&f.Entries[0], dst); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
	if f.Close(); f.Read(&f.Entries[0], dst) == nil {
		t.Error("a closed file is read")
	}
}

func TestWriteRefuses(t *testing.T) {
	none := func(io.Writer) error { return nil }
	for name, list := range map[string][]Tensor{
		"name twice": {{"a", "F32", []int{0}, none}, {"a", "I8", []int{0}, none}},
		"own name":   {{"__metadata__", "F32", []int{0}, none}},
		"no UTF-8":   {{"\xff", "F32", []int{0}, none}},
		"no type":    {{"a", "X", []int{0}, none}},
		"half byte":  {{"a", "F4", []int{3}, none}},
		"too short":  {{"a", "F32", []int{3}, none}},
	} {
		var e *FormatError
		if err := Write(io.Discard, list, nil); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzParse: no bytes crash the reader, what it accepts covers the data exactly
// and is what writing gives back.
func FuzzParse(f *testing.F) {
	r := readReference(f)
	for _, c := range r.Written {
		f.Add(c.File)
	}
	for _, c := range r.Headers {
		f.Add(c.File)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parse(b)
		if err != nil {
			return
		}
		at := int64(0)
		for _, e := range h.Entries {
			if e.Begin != at {
				t.Fatalf("%q begins at %d, want %d", e.Name, e.Begin, at)
			}
			at = e.End
		}
		if at != int64(len(b))-h.Start {
			t.Fatalf("%d bytes of data, the entries cover %d", int64(len(b))-h.Start, at)
		}
		again := rewrite(t, b)
		if twice := rewrite(t, again); !bytes.Equal(again, twice) {
			t.Fatalf("%q becomes %q", again, twice)
		}
	})
}
