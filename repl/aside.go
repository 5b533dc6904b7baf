package repl

import "context"

// Aside runs a cell that leaves no trace: it takes no number and can't be
// undone. Its events count for the number that the next cell gets.
func (s *Session) Aside(ctx context.Context, text string, out Output) *Cell {
	n, undos, last := len(s.cells), s.undos, s.last
	c := s.Run(ctx, text, "", 1, out)
	s.parts.Lock()
	s.cells = s.cells[:n]
	s.parts.Unlock()
	s.undos, s.last = undos, last
	return c
}
