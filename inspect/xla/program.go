package xla

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/trace"
)

// Look makes the report of subjects for a chip. A nil compiler gives the
// prediction alone. A program that the compiler refuses is reported and the
// next is compiled; other errors end the report: no compiler, a process that
// was interrupted.
func Look(ctx context.Context, name string, subjects []Subject, chip *device.Chip, c *ahead.Compiler, o ahead.Options) (*Report, error) {
	out := &Report{Subject: name, Chip: chip.Name, Programs: []Program{}}
	for i := range subjects {
		s := &subjects[i]
		p := newProgram(s, chip, o.HBMMiB<<20)
		if c != nil {
			r, err := c.Compile(ctx, chip.Name, s.Lowered(), o)
			var version string
			if version, err = p.compiled(s, r, err); err != nil {
				return nil, err
			}
			if out.Compiler == "" || out.Compiler == unnamed {
				out.Compiler = cmp.Or(version, unnamed)
			}
		}
		out.Programs = append(out.Programs, p)
	}
	return out, nil
}

// unnamed is the compiler where it refused and did not give its version.
const unnamed = "the TPU compiler"

// newProgram is a subject with its prediction for so many bytes of HBM.
func newProgram(s *Subject, chip *device.Chip, limit int64) Program {
	p := Program{Name: s.Name, Groups: s.Groups}
	if s.Graph != nil {
		var frames []trace.Frame
		for _, n := range s.Graph.Nodes {
			frames = append(frames, n.Stack.Top())
		}
		p.Where, p.Ops = whereOf(frames), len(s.Graph.Nodes)
		p.Ours = Predict(s.Graph, chip, limit)
	}
	return p
}

// compiled adds the compiler's answer, and gives its version. An error is one
// that is not about the program.
func (p *Program) compiled(s *Subject, r *ahead.Result, err error) (version string, failed error) {
	var oom *ahead.OutOfMemoryError
	var refused *ahead.RefusedError
	var ce *ahead.CompileError
	var many *ahead.TooManyError
	switch {
	case err == nil:
		p.Compiled = FromResult(s, r)
		p.Compiled.Memory.Limit = limitOf(r.Target.Chip)
		p.Match = Compare(s.Graph, p.Compiled, p.Ours)
		return firstLine(r.Version), nil
	case errors.As(err, &oom):
		p.Error, p.OOM = err.Error(), FromOOM(s, oom)
	case errors.As(err, &refused), errors.As(err, &ce), errors.As(err, &many):
		p.Error = err.Error()
	default:
		return "", err
	}
	return "", nil
}

// limitOf is the HBM that programs of a chip have, 0 for an unknown one.
func limitOf(chip string) int64 {
	if c, err := device.LookupChip(chip); err == nil {
		return c.HBMBytes
	}
	return 0
}

// firstLine joins the lines of a version in one.
func firstLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Opened is the report of an executable that was read from a file.
func Opened(name string, r *ahead.Result) *Report {
	p := Program{Name: r.Module.Name, Compiled: FromResult(&Subject{}, r)}
	p.Compiled.Memory.Limit = limitOf(r.Target.Chip)
	p.Match = Compare(nil, p.Compiled, nil)
	return &Report{Subject: name, Chip: r.Target.Chip, Compiler: firstLine(r.Version), Programs: []Program{p}}
}

// shownEntries is how many allocations an out-of-memory report lists, as the
// compiler's own does.
const shownEntries = 20

// FromOOM maps a refusal to the lines of its subject. The plan says more than
// the text where the compiler left one.
func FromOOM(s *Subject, e *ahead.OutOfMemoryError) *OOM {
	out := &OOM{Space: e.Report.Space, Needed: e.Report.Needed, Available: e.Report.Available, Message: e.Report.HeadLine, Entries: []OOMEntry{}}
	at := placesOf(s.Graph)
	if e.Module != nil && e.Assignment != nil {
		b := &builder{m: e.Module, at: at, target: e.Target}
		m := b.memory(e.Assignment)
		m.Limit, m.HBM = limitOf(e.Target.Chip), m.PeakHBM
		out.Memory = &m
		live := slices.Clone(m.Buffers)
		live = slices.DeleteFunc(live, func(u Buffer) bool {
			return u.Space != "HBM" || u.Kind == inPlace || u.First < 0 || m.PeakAt < u.First || m.PeakAt > u.Last
		})
		slices.SortStableFunc(live, func(a, b Buffer) int { return int(min(max(b.Bytes-a.Bytes, -1), 1)) })
		for _, u := range live[:min(len(live), shownEntries)] {
			out.Entries = append(out.Entries, OOMEntry{Bytes: u.Bytes, Unpadded: u.Unpadded, Shape: u.Shape, What: u.What, Where: u.Where, Kind: u.Kind})
		}
		return out
	}
	for i := range e.Report.Entries {
		out.Entries = append(out.Entries, entryOf(&e.Report.Entries[i], at))
	}
	return out
}

// entryOf maps an entry of the report's text.
func entryOf(r *hlo.OOMEntry, at places) OOMEntry {
	out := OOMEntry{Bytes: r.Bytes, Unpadded: r.Unpadded, Shape: r.Shape, What: r.OpName, Kind: r.Kind}
	if out.What == "" {
		out.What = r.Label
	}
	if r.File != "" {
		out.Where = hlo.Place{File: r.File, Line: r.Line}.String()
	}
	if nodes := at.nodes(r.OpName); len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		out.What, out.Where = at.opText(n), at.frame(n).Place()
	}
	if i := r.Argument(); i >= 0 && at.g != nil && i < len(at.g.Inputs) {
		out.Where = at.g.Inputs[i].Stack.Top().Place()
	}
	return out
}
