package xla

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
)

// textPlace is how the compiler writes a place in the text that it was given.
var textPlace = regexp.MustCompile(`(?m)^-:`)

var moduleName = regexp.MustCompile(`\bmodule\s+@([\w.$-]+)`)

// LookModule makes the report of a StableHLO text that was read from a file.
// Operations without locations get those of their lines.
func LookModule(ctx context.Context, path, text string, chip *device.Chip, c *ahead.Compiler, o ahead.Options) (*Report, error) {
	s := Subject{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Text: ahead.Locate(text, path)}
	if m := moduleName.FindStringSubmatch(text); m != nil {
		s.Name = m[1]
	}
	r, err := c.Compile(ctx, chip.Name, s.Text, o)
	var ce *ahead.CompileError
	if errors.As(err, &ce) && s.Text != text { // the locations may be what it does not like
		plain, perr := c.Compile(ctx, chip.Name, text, o)
		if perr == nil || !strings.Contains(err.Error(), path+":") {
			r, err = plain, perr
		}
	}
	out := &Report{Subject: path, Chip: chip.Name}
	p := Program{Name: s.Name}
	version, err := p.compiled(&s, r, err)
	if err != nil {
		return nil, err
	}
	out.Compiler = cmp.Or(version, unnamed)
	p.Error = textPlace.ReplaceAllLiteralString(p.Error, path+":")
	out.Programs = []Program{p}
	return out, nil
}
