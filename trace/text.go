package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The text form is one event a line: `SEQ KIND key=value …`, fields in the
// order of the table, zero fields left out, values quoted as in Go when they
// hold a space, a quote or anything that is not printable. Empty lines and
// lines that begin with # are skipped. Kinds and keys that the reader does not
// know are kept in Event.Extra and written again as they were.

// AppendText appends the line of e, without a newline.
func (e *Event) AppendText(b []byte) []byte {
	b = strconv.AppendUint(b, e.Seq, 10)
	b = append(b, ' ')
	kind, extra := e.Kind.String(), e.Extra
	if e.Kind == Unknown && extra != "" {
		kind, extra, _ = strings.Cut(extra, " ")
	}
	b = append(b, kind...)
	for i := range fields {
		if v := fields[i].get(e); v != "" {
			b = append(append(append(b, ' '), fields[i].Key...), '=')
			b = appendValue(b, v)
		}
	}
	if extra != "" {
		b = append(append(b, ' '), extra...)
	}
	return b
}

// String gives the line of e.
func (e *Event) String() string { return string(e.AppendText(nil)) }

// WriteText writes events in the text form.
func WriteText(w io.Writer, events []Event) error {
	bw := bufio.NewWriter(w)
	var line []byte
	for i := range events {
		line = append(events[i].AppendText(line[:0]), '\n')
		if _, err := bw.Write(line); err != nil {
			return err
		}
	}
	return bw.Flush()
}

// ReadText reads events in the text form, to the end of r. Equal stacks are
// the same pointer. A line that cannot be read gives *TextError.
func ReadText(r io.Reader) ([]Event, error) {
	var events []Event
	var stacks StackTable
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadString('\n')
		if line = strings.Trim(line, " \t\r\n"); line != "" && line[0] != '#' {
			e, perr := ParseText(line, &stacks)
			if perr != nil {
				var te *TextError
				if errors.As(perr, &te) {
					te.Line = n
				}
				return events, perr
			}
			events = append(events, e)
		}
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
	}
}

// ParseText reads one line of the text form; stacks interns its stacks.
func ParseText(line string, stacks *StackTable) (Event, error) {
	var e Event
	if i := strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		return e, &TextError{Field: "line", Value: line, Err: fmt.Errorf("control character at byte %d", i)}
	}
	seq, rest, _ := strings.Cut(strings.Trim(line, " "), " ")
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		return e, &TextError{Field: "seq", Value: seq, Err: err}
	}
	e.Seq = n
	kind, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if kind == "" || strings.ContainsAny(kind, "=\"") {
		return e, &TextError{Field: "kind", Value: kind, Err: errors.New("want the name of a kind")}
	}
	var extra []string
	if k, ok := KindNamed(kind); ok {
		e.Kind = k
	} else if kind != Unknown.String() {
		extra = append(extra, kind)
	}
	for rest = strings.TrimLeft(rest, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		key, value, raw, err := nextPair(rest)
		if err != nil {
			return e, &TextError{Field: key, Value: raw, Err: err}
		}
		rest = rest[len(raw):]
		f := fieldNamed(key)
		if f == nil {
			if e.Kind == Unknown && len(extra) == 0 {
				extra = append(extra, kind)
			}
			extra = append(extra, raw)
			continue
		}
		if err := f.set(&e, value, stacks); err != nil {
			return e, &TextError{Field: key, Value: value, Err: err}
		}
	}
	e.Extra = strings.Join(extra, " ")
	return e, nil
}

// nextPair takes `key=value` from the front of s; raw is the text it took.
func nextPair(s string) (key, value, raw string, err error) {
	word, _, _ := strings.Cut(s, " ")
	key, after, ok := strings.Cut(word, "=")
	if !ok || key == "" || strings.Contains(key, `"`) {
		return key, "", word, errors.New("want key=value")
	}
	if !strings.HasPrefix(after, `"`) {
		return key, after, word, nil
	}
	quoted, err := strconv.QuotedPrefix(s[len(key)+1:])
	if err != nil {
		return key, "", word, err
	}
	raw = s[:len(key)+1+len(quoted)]
	if next := s[len(raw):]; next != "" && next[0] != ' ' {
		return key, "", raw, errors.New("want a space after the value")
	}
	value, err = strconv.Unquote(quoted)
	return key, value, raw, err
}

func fieldNamed(key string) *Field {
	for i := range fields {
		if fields[i].Key == key {
			return &fields[i]
		}
	}
	return nil
}

func appendValue(b []byte, v string) []byte {
	for _, r := range v {
		if r <= ' ' || r == '"' || r == '\\' || r == 0x7f || r == 0xfffd || r > 0x7f && !strconv.IsPrint(r) {
			return strconv.AppendQuote(b, v)
		}
	}
	return append(b, v...)
}

// stackText writes frames as cell:line:column:fileline:func:file, separated by ;.
func stackText(s *Stack) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	for i, f := range s.Frames {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, "%d:%d:%d:%d:%s:%s", f.Cell, f.Line, f.Column, f.FileLine, escape(f.Func), escape(f.File))
	}
	return b.String()
}

func parseStack(s string, t *StackTable) (*Stack, error) {
	if s == "" {
		return nil, nil
	}
	var frames []Frame
	for part := range strings.SplitSeq(s, ";") {
		col := strings.Split(part, ":")
		if len(col) != 6 {
			return nil, fmt.Errorf("frame %q has %d parts, want 6", part, len(col))
		}
		var f Frame
		var err error
		for i, at := range []*int{&f.Cell, &f.Line, &f.Column, &f.FileLine} {
			if *at, err = strconv.Atoi(col[i]); err != nil {
				return nil, err
			}
		}
		if f.Func, err = unescape(col[4]); err != nil {
			return nil, err
		}
		if f.File, err = unescape(col[5]); err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return t.Intern(frames), nil
}

func partText(p Part) string {
	return fmt.Sprintf("%d:%d:%s:%s", p.Op, p.Weight, escape(p.Name), stackText(p.Stack))
}

func parseParts(s string, t *StackTable) ([]Part, error) {
	if s == "" {
		return nil, nil
	}
	var parts []Part
	for one := range strings.SplitSeq(s, "|") {
		col := strings.SplitN(one, ":", 4)
		if len(col) != 4 {
			return nil, fmt.Errorf("part %q has %d parts, want 4", one, len(col))
		}
		var p Part
		var err error
		if p.Op, err = strconv.ParseUint(col[0], 10, 64); err != nil {
			return nil, err
		}
		if p.Weight, err = strconv.ParseInt(col[1], 10, 64); err != nil {
			return nil, err
		}
		if p.Name, err = unescape(col[2]); err != nil {
			return nil, err
		}
		if p.Stack, err = parseStack(col[3], t); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

const separators = "%:;|,"

// escape writes the separators of stacks, parts and lists as %XX.
func escape(s string) string {
	if !strings.ContainsAny(s, separators) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(separators, s[i]) >= 0 {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", fmt.Errorf("%q: %% wants two hexadecimal digits", s)
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", err
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), nil
}
