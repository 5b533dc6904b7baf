// Package export writes a recording in the formats that other tools open.
//
// It never changes an event and never asks the runtime anything: all it writes
// comes from its Input. It imports trace and atomicfile of this module. Invariant: the
// same Input gives the same bytes.
package export

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpush/tpush/repl/store/atomicfile"
	"github.com/tpush/tpush/trace"
)

// An Input is what a recording has to say.
type Input struct {
	Events  []trace.Event // may lack its front
	Totals  []trace.Total // count everything, what Events lacks too
	Dropped uint64        // events that are missing
	Sources map[int]Source
	Blocks  []Block // HBM in use at the end, by address
	Meta    Meta
}

// A Block is a stretch of HBM that is in use.
type Block struct {
	Addr, Size, Bytes int64 // Bytes of numbers; the rest is padding
	Value             uint64
	Name              string // what made it
	Spec              string
	Stack             *trace.Stack
}

// A Source is the text of a cell.
type Source struct {
	File      string // as in trace.Frame.File, "" for a cell that was typed
	FirstLine int    // line of File where the cell begins, from 1
	Text      string
}

// Meta says what was recorded.
type Meta struct {
	Session string // name of the session: usually the file that ran
	Chip    string
	Mode    string // mode at the end of the recording
	// Figures of the chip, 0 when not known.
	LimitBytes      int64 // of HBM
	PeakFLOPsPerSec float64
	HBMBytesPerSec  float64
	// Dir makes relative file names absolute, so that tools find the sources
	// from anywhere. "" leaves names as they are.
	Dir string
	// SourceDir is where WriteSources puts typed cells.
	SourceDir string
	TimeNanos int64 // wall time of the beginning, Unix; 0 is left out
}

// A Format is one way to write a recording.
type Format struct {
	Name      string
	Extension string // with its dot
	Doc       string
	Opens     string // the tools that read it
	Sources   bool   // names source files, so typed cells must be files too
	Write     func(io.Writer, Input) error
}

// All lists the formats.
func All() []Format {
	return []Format{pprofFormat, perfettoFormat, chromeFormat, xplaneFormat, memoryVizFormat, csvFormat, textFormat}
}

// Named finds a format by name. An unknown one gives *UnknownFormatError.
func Named(name string) (Format, error) {
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, &UnknownFormatError{Name: name}
}

// An UnknownFormatError is the name of a format that is not in the table.
type UnknownFormatError struct{ Name string }

func (e *UnknownFormatError) Error() string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return fmt.Sprintf("export: no format %q, have %s", e.Name, strings.Join(names, ", "))
}

// SourceDir is the folder for the sources of typed cells beside an exported file.
func SourceDir(path string) string { return path + ".sources" }

// ToFile writes in to path, whole or not at all, and gives its size in bytes.
// When the format names source files and there are typed cells, their sources
// go to SourceDir(path).
func ToFile(path string, f Format, in Input) (int64, error) {
	if f.Sources && slices.Contains(sourceNames(in), true) {
		dir, err := filepath.Abs(SourceDir(path))
		if err != nil {
			return 0, err
		}
		if err := WriteSources(dir, in); err != nil {
			return 0, err
		}
		in.Meta.SourceDir = dir
	}
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return f.Write(w, in) })
}

// WriteSources writes the source of every typed cell to dir as cell_N.tpu.
func WriteSources(dir string, in Input) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for cell, src := range in.Sources {
		if src.File != "" {
			continue
		}
		text := src.Text
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, cellFile(cell)), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func cellFile(cell int) string { return fmt.Sprintf("cell_%d.tpu", cell) }

// sourceNames says of each source whether it was typed.
func sourceNames(in Input) []bool {
	var typed []bool
	for _, src := range in.Sources {
		typed = append(typed, src.File == "")
	}
	return typed
}

// place gives the file and line of a frame as tools should open them; "" and 0
// when they are not known. A frame without a file takes that of its cell.
func (in *Input) place(f trace.Frame) (file string, line int) {
	file, line = f.File, f.FileLine
	if src, ok := in.Sources[f.Cell]; ok && file == "" && src.File != "" {
		file, line = src.File, src.FirstLine+f.Line-1
	}
	switch {
	case file == "" && f.Cell == 0:
		return "", 0
	case file == "":
		file, line = filepath.Join(in.Meta.SourceDir, cellFile(f.Cell)), f.Line
	case line == 0:
		line = f.Line
	}
	if in.Meta.Dir != "" && !filepath.IsAbs(file) {
		file = filepath.Join(in.Meta.Dir, file)
	}
	return file, line
}

// spot is a frame in a few letters: digits.tpu:31 or In[3]:2.
func (in *Input) spot(f trace.Frame) string {
	if src, ok := in.Sources[f.Cell]; ok && f.File == "" && src.File != "" {
		f.File, f.FileLine = src.File, src.FirstLine+f.Line-1
	}
	f.File = filepath.Base(f.File)
	if f.File == "." {
		f.File = ""
	}
	return f.Place()
}

// function names a frame's function: In[3] for the top level of a cell.
func function(f trace.Frame) string {
	switch {
	case f.Func != "" && f.Func != "(cell)":
		return f.Func
	case f.Cell > 0:
		return fmt.Sprintf("In[%d]", f.Cell)
	case f.Func != "":
		return f.Func
	}
	return "(program)"
}

// endNS is the virtual time at which the recording ends.
func (in *Input) endNS() int64 {
	var end int64
	for i := range in.Events {
		end = max(end, in.Events[i].AtNS+in.Events[i].DurationNS)
	}
	return end
}
