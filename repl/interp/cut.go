package interp

// A CutError is what an evaluation panics with that is ended from outside.
type CutError struct{}

func (*CutError) Error() string { return "the evaluation was cancelled" }

// CutEvaluations ends the evaluations that run now, at their next poll: the
// cells that they stand in go on. A text that recovers is ended again.
func (in *Interp) CutEvaluations() {
	in.stacks.byLabel.Range(func(_, v any) bool {
		s := v.(*stack)
		s.cut.Store(true)
		s.armed.Store(true)
		return true
	})
	in.open()
}

// uncut ends a cut: no evaluation runs on the stack.
func (s *stack) uncut() {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	s.cut.Store(false)
	s.armed.Store(s.run.cause != nil)
}
