package repl

import (
	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
)

// A NoCompilerError says that this session was made without a TPU compiler.
type NoCompilerError struct{}

// Error says so.
func (*NoCompilerError) Error() string { return "this session has no TPU compiler" }

// Compiler gives the TPU compiler of the session; its process starts when it
// is first asked. The error is *NoCompilerError.
func (s *Session) Compiler() (*ahead.Compiler, error) {
	s.parts.Lock()
	defer s.parts.Unlock()
	if s.opts.Compiler == nil {
		return nil, &NoCompilerError{}
	}
	if s.compiler == nil {
		s.compiler = ahead.New(s.opts.Compiler)
	}
	return s.compiler, nil
}

// closeCompiler ends its process.
func (s *Session) closeCompiler() {
	s.parts.RLock()
	defer s.parts.RUnlock()
	if s.compiler != nil {
		s.compiler.Close()
	}
}

// KeepReport remembers what the TPU compiler said last, for those who show it.
func (s *Session) KeepReport(r *xla.Report) {
	s.parts.Lock()
	defer s.parts.Unlock()
	s.report = r
}

// Report is what the TPU compiler said last, nil when it was not asked.
func (s *Session) Report() *xla.Report {
	s.parts.RLock()
	defer s.parts.RUnlock()
	return s.report
}
