package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds nested values that the format ignores.
const maxDepth = 16

// Parse reads the header of a file of the given size, in bytes, and checks that
// its tensors cover the data exactly: no overlap, no hole, nothing beyond.
func Parse(r io.Reader, size int64) (*Header, error) {
	var head [8]byte
	if size < int64(len(head)) {
		return nil, bad("", "%d bytes are too few for the length of a header", max(size, 0))
	}
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[:])
	switch {
	case n > MaxHeader:
		return nil, bad("", "a header of %d bytes is longer than %d", n, MaxHeader)
	case int64(n) > size-8:
		return nil, bad("", "a header of %d bytes does not fit into a file of %d", n, size)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	h.Start = 8 + int64(n)
	return h, h.check(size - h.Start)
}

// check orders the entries and wants each to begin where the one before ends.
func (h *Header) check(data int64) error {
	sort.SliceStable(h.Entries, func(i, j int) bool {
		a, b := &h.Entries[i], &h.Entries[j]
		if a.Begin != b.Begin {
			return a.Begin < b.Begin
		}
		return a.End < b.End
	})
	at := int64(0)
	for i := range h.Entries {
		e := &h.Entries[i]
		switch {
		case e.End < e.Begin:
			return bad(e.Name, "its data end at %d, before they begin at %d", e.End, e.Begin)
		case e.Begin < at:
			return bad(e.Name, "its data begin at %d, inside those of %q", e.Begin, h.Entries[i-1].Name)
		case e.Begin > at:
			return bad(e.Name, "its data begin at %d, nobody owns the bytes from %d on", e.Begin, at)
		}
		want, err := Bytes(e.Name, e.Type, e.Dims)
		if err != nil {
			return err
		}
		if want != e.End-e.Begin {
			return bad(e.Name, "%s%v needs %d bytes, its data have %d", e.Type, e.Dims, want, e.End-e.Begin)
		}
		at = e.End
	}
	if at != data {
		return bad("", "the tensors need %d bytes of data, the file has %d", at, data)
	}
	return nil
}

// A reader takes the header apart, token by token: no depth of nesting uses
// more than its own stack.
type reader struct {
	dec  *json.Decoder
	text []byte
}

func parseHeader(text []byte) (*Header, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, bad("", "the header does not begin with {")
	}
	if !utf8.Valid(text) {
		return nil, bad("", "the header is no UTF-8")
	}
	p := &reader{json.NewDecoder(bytes.NewReader(text)), text}
	p.dec.UseNumber()
	h := &Header{}
	seen := map[string]bool{}
	err := p.object("", func(name string) error {
		if seen[name] {
			return bad(name, "the name is there twice")
		}
		seen[name] = true
		if name == "__metadata__" {
			h.Metadata = map[string]string{}
			return p.object(name, func(key string) error {
				v, err := p.str(name)
				if _, twice := h.Metadata[key]; err == nil && twice {
					err = bad(name, "the key %q is there twice", key)
				}
				h.Metadata[key] = v
				return err
			})
		}
		e, err := p.entry(name)
		h.Entries = append(h.Entries, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range text[p.dec.InputOffset():] {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return nil, bad("", "something follows the header's object")
		}
	}
	return h, nil
}

// token gives the next token; a mistake in the JSON is a FormatError.
func (p *reader) token(tensor string) (json.Token, error) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, bad(tensor, "the header is no JSON: %v", err)
	}
	if s, ok := t.(string); ok && strings.ContainsRune(s, utf8.RuneError) && !bytes.ContainsRune(p.text, utf8.RuneError) && !bytes.Contains(bytes.ToLower(p.text), []byte(`\ufffd`)) {
		return nil, bad(tensor, "a string has half a surrogate pair")
	}
	return t, nil
}

// object calls f for each key of the object that follows; f takes the value.
func (p *reader) object(tensor string, f func(key string) error) error {
	t, err := p.token(tensor)
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return bad(tensor, "an object is wanted")
	}
	for p.dec.More() {
		k, err := p.token(tensor)
		if err != nil {
			return err
		}
		if err := f(k.(string)); err != nil {
			return err
		}
	}
	_, err = p.token(tensor)
	return err
}

func (p *reader) str(tensor string) (string, error) {
	t, err := p.token(tensor)
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", bad(tensor, "a string is wanted")
	}
	return s, nil
}

// numbers reads an array of whole numbers that are not negative.
func (p *reader) numbers(tensor, what string) ([]int64, error) {
	t, err := p.token(tensor)
	if err != nil {
		return nil, err
	}
	if t != json.Delim('[') {
		return nil, bad(tensor, "%s is no array", what)
	}
	out := []int64{}
	for p.dec.More() {
		t, err := p.token(tensor)
		if err != nil {
			return nil, err
		}
		n, ok := t.(json.Number)
		if !ok {
			return nil, bad(tensor, "%s holds something else than numbers", what)
		}
		v, err := strconv.ParseInt(string(n), 10, 64)
		if err != nil || v < 0 {
			return nil, bad(tensor, "%s holds %s", what, n)
		}
		out = append(out, v)
	}
	_, err = p.token(tensor)
	return out, err
}

func (p *reader) entry(name string) (Entry, error) {
	e := Entry{Name: name}
	have := map[string]bool{}
	err := p.object(name, func(key string) error {
		if have[key] {
			return bad(name, "%q is there twice", key)
		}
		have[key] = true
		var err error
		switch key {
		case "dtype":
			if e.Type, err = p.str(name); err == nil && rankOf(e.Type) < 0 {
				err = bad(name, "no element type %q", e.Type)
			}
		case "shape":
			var dims []int64
			dims, err = p.numbers(name, key)
			e.Dims = make([]int, len(dims))
			for i, d := range dims {
				e.Dims[i] = int(d)
			}
		case "data_offsets":
			var at []int64
			if at, err = p.numbers(name, key); err == nil && len(at) != 2 {
				err = bad(name, "data_offsets has %d numbers, not 2", len(at))
			}
			if err == nil {
				e.Begin, e.End = at[0], at[1]
			}
		default:
			err = p.skip(name)
		}
		return err
	})
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if err == nil && !have[key] {
			err = bad(name, "it has no %s", key)
		}
	}
	return e, err
}

// skip passes over a value.
func (p *reader) skip(tensor string) error {
	for depth := 0; ; {
		t, err := p.token(tensor)
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth {
			return bad(tensor, "values are nested more than %d deep", maxDepth)
		}
		if depth == 0 {
			return nil
		}
	}
}
