package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"
	"unicode/utf8"
)

// A Tensor is one that is to be written.
type Tensor struct {
	Name string
	Type string
	Dims []int
	// Data writes the numbers, little-endian and in row-major order.
	Data func(w io.Writer) error
}

// Arrange puts tensors in the order of the reference library (wide element
// types first, then by name) and gives the bytes that stand before the data:
// the length, and the header, padded with spaces to a multiple of 8.
func Arrange(list []Tensor, metadata map[string]string) ([]byte, error) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := rankOf(list[i].Type), rankOf(list[j].Type)
		if a != b {
			return a > b
		}
		return list[i].Name < list[j].Name
	})
	text := make([]byte, 8, 256)
	text = append(text, '{')
	if metadata != nil {
		text = append(text, `"__metadata__":{`...)
		for i, k := range sortedKeys(metadata) {
			if i > 0 {
				text = append(text, ',')
			}
			text = appendString(append(appendString(text, k), ':'), metadata[k])
		}
		text = append(text, '}')
	}
	at := int64(0)
	seen := map[string]bool{}
	for i, t := range list {
		n, err := Bytes(t.Name, t.Type, t.Dims)
		switch {
		case err != nil:
			return nil, err
		case t.Name == "__metadata__":
			return nil, bad(t.Name, "the name is the header's own")
		case !utf8.ValidString(t.Name):
			return nil, bad(t.Name, "the name is no UTF-8")
		case seen[t.Name]:
			return nil, bad(t.Name, "the name is there twice")
		}
		seen[t.Name] = true
		if i > 0 || metadata != nil {
			text = append(text, ',')
		}
		text = append(appendString(text, t.Name), `:{"dtype":"`+t.Type+`","shape":[`...)
		for k, d := range t.Dims {
			if k > 0 {
				text = append(text, ',')
			}
			text = fmt.Append(text, d)
		}
		text = fmt.Appendf(text, `],"data_offsets":[%d,%d]}`, at, at+n)
		at += n
	}
	text = append(text, '}')
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if len(text)-8 > MaxHeader {
		return nil, bad("", "a header of %d bytes is longer than %d", len(text)-8, MaxHeader)
	}
	binary.LittleEndian.PutUint64(text, uint64(len(text)-8))
	return text, nil
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// A counter counts what goes through.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Write writes a whole file, byte for byte what the reference library writes.
func Write(w io.Writer, list []Tensor, metadata map[string]string) error {
	list = slices.Clone(list)
	head, err := Arrange(list, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, t := range list {
		c := &counter{w: w}
		if err := t.Data(c); err != nil {
			return err
		}
		if want, _ := Bytes(t.Name, t.Type, t.Dims); c.n != want {
			return bad(t.Name, "%d bytes were written, %s%v has %d", c.n, t.Type, t.Dims, want)
		}
	}
	return nil
}

// appendString appends a JSON string with the escapes of the reference
// library: quotes, backslashes and control characters, nothing else.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			if c < ' ' {
				b = append(b, `\u00`...)
				c, b = hex[c&15], append(b, hex[c>>4])
			}
			b = append(b, c)
		}
	}
	return append(b, '"')
}
