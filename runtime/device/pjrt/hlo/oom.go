package hlo

import (
	"regexp"
	"strconv"
	"strings"
)

// An OOM is the compiler's refusal of a program that does not fit.
type OOM struct {
	Space      string // hbm, vmem, …
	Needed     int64  // bytes, rounded to two digits as the text has them
	Available  int64
	Reserved   int64
	Program    int64
	Arguments  int64
	Entries    []OOMEntry // the largest; the short form has none
	HeadLine   string     // the first line of the text
	EntryLimit bool       // there may be more entries than are listed
}

// An OOMEntry is one allocation of the report.
type OOMEntry struct {
	Bytes     int64 // rounded
	Unpadded  int64
	OpName    string
	File      string
	Line      int
	Shape     string
	Label     string
	Kind      string // HLO temp, program, argument, output, …
	Expansion string // of padding, as the report writes it
}

// maxOOMEntries is how many entries the compiler lists at most.
const maxOOMEntries = 20

var (
	shortOOM    = regexp.MustCompile(`Ran out of memory on (\w+), the total memory required for HLO temporaries \(([^)]+)\) exceeds available \w+ \(([^)]+)\)`)
	longOOM     = regexp.MustCompile(`Ran out of memory in memory space (\w+)\. Used (\S+) of (\S+) \w+`)
	totalOOM    = regexp.MustCompile(`^(reserved|program|arguments)\s+(\S+)$`)
	entryOOM    = regexp.MustCompile(`^\d+\. Size: (\S+)$`)
	operatorOOM = regexp.MustCompile(`op_name="([^"]*)"`)
	sourceOOM   = regexp.MustCompile(`source_file="([^"]*)"`)
	lineOOM     = regexp.MustCompile(`source_line=(\d+)`)
	argumentOOM = regexp.MustCompile(`^Argument (\d+)`)
)

// ParseOOM reads the text of a refusal; false when it is another one.
func ParseOOM(text string) (*OOM, bool) {
	o := &OOM{}
	o.HeadLine, _, _ = strings.Cut(text, "\n")
	if m := shortOOM.FindStringSubmatch(text); m != nil {
		o.Space, o.Needed, o.Available = strings.ToLower(m[1]), parseSize(m[2]), parseSize(m[3])
		return o, true
	}
	m := longOOM.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	o.Space, o.Needed, o.Available = strings.ToLower(m[1]), parseSize(m[2]), parseSize(m[3])
	var e *OOMEntry
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if t := totalOOM.FindStringSubmatch(line); t != nil && e == nil {
			switch n := parseSize(t[2]); t[1] {
			case "reserved":
				o.Reserved = n
			case "program":
				o.Program = n
			case "arguments":
				o.Arguments = n
			}
			continue
		}
		if t := entryOOM.FindStringSubmatch(line); t != nil {
			o.Entries = append(o.Entries, OOMEntry{Bytes: parseSize(t[1])})
			e = &o.Entries[len(o.Entries)-1]
			continue
		}
		if e == nil {
			continue
		}
		e.read(line)
	}
	for i := range o.Entries {
		o.Entries[i].finish()
	}
	o.EntryLimit = len(o.Entries) >= maxOOMEntries
	return o, true
}

// read takes one line of an entry.
func (e *OOMEntry) read(line string) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return
	}
	value = strings.TrimSpace(value)
	switch name {
	case "Operator":
		if m := operatorOOM.FindStringSubmatch(value); m != nil {
			e.OpName = m[1]
		}
		if m := sourceOOM.FindStringSubmatch(value); m != nil {
			e.File = m[1]
		}
		if m := lineOOM.FindStringSubmatch(value); m != nil {
			e.Line, _ = strconv.Atoi(m[1])
		}
	case "Shape":
		e.Shape = value
	case "Unpadded size":
		e.Unpadded = parseSize(value)
	case "Extra memory due to padding":
		e.Expansion = value
	case "XLA label":
		e.Label = value
	case "Allocation type":
		e.Kind = value
	}
}

// finish fills in what the report leaves to its headings.
func (e *OOMEntry) finish() {
	if e.Kind != "" {
		return
	}
	switch {
	case argumentOOM.MatchString(e.Label):
		e.Kind = "argument"
	case strings.HasPrefix(e.Label, "Output"):
		e.Kind = "output"
	}
}

// Argument is the number of the argument that an entry is, -1 for another.
func (e *OOMEntry) Argument() int {
	if m := argumentOOM.FindStringSubmatch(e.Label); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return -1
}

// parseSize reads 15.75G, 975.0K or 512B: powers of 1024. 0 when it is no size.
func parseSize(s string) int64 {
	s = strings.TrimRight(strings.TrimSpace(s), ".,")
	unit := 1.0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'B':
			s = s[:n-1]
		case 'K':
			s, unit = s[:n-1], 1<<10
		case 'M':
			s, unit = s[:n-1], 1<<20
		case 'G':
			s, unit = s[:n-1], 1<<30
		case 'T':
			s, unit = s[:n-1], 1<<40
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v*unit < 1<<62) {
		return 0
	}
	return int64(v * unit)
}
