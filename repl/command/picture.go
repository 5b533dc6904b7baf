package command

import (
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/viz"
)

// picture draws as the one who asks wants it, in w columns at most.
func picture(s *repl.Session, w int, d viz.Drawing) string {
	l := s.Style()
	if l.Columns > 0 {
		w = min(w, l.Columns)
	}
	return viz.Text(l.Theme, w, d)
}
