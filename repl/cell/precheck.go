package cell

import (
	"errors"
)

// Precheck parses and type-checks a cell as it stands and gives its mistakes.
// Nothing is declared and nothing is made ready to run, so it may be asked of
// text that is still being typed. A cell that adds methods to a type of an
// earlier cell is not looked at: checking it would add them.
func (s *Scope) Precheck(text string) (found []Diagnostic) {
	defer func() {
		if recover() != nil { // the compiler's own fault is told when the cell runs
			found = nil
		}
	}()
	src := Source{Text: text, Cell: s.cellNumber() + 1}
	c := &compiler{s: s, src: &src, lines: lineStarts(text), skip: map[string]bool{}}
	chunks := c.chunks()
	for _, k := range chunks {
		if declaresMethods(k.chunk) {
			return nil
		}
	}
	err := c.parse(chunks)
	if err == nil {
		if c.resolve(); len(c.diags) == 0 {
			c.checkAll()
		}
		if len(c.diags) == 0 {
			return nil
		}
		err = c.failed()
	}
	var ce *CompileError
	if errors.As(err, &ce) {
		return ce.Diagnostics
	}
	return nil
}

// cellNumber is the number of the last cell that was compiled.
func (s *Scope) cellNumber() int { return s.versions["ʹcell"] }
