package repl

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// picture draws what an error's data say: the source line with the operands
// underlined, the numbers, what is lost and what to do next.
func (s *Session) picture(err error, st *trace.Stack) []string {
	var b *exec.BoundsError
	if errors.As(err, &b) {
		return s.boundsPicture(b)
	}
	var oom *device.OutOfMemoryError
	if errors.As(err, &oom) {
		return s.oomPicture(oom, err, st)
	}
	lines := s.pointer(st.Top())
	var m *shape.MismatchError
	if errors.As(err, &m) {
		lines = append(lines, fmt.Sprintf("   left %v   right %v", m.Left, m.Right))
	}
	var f *exec.FailedValueError
	if errors.As(err, &f) && f.Stack != nil && f.Stack != f.Origin.Stack {
		lines = append(lines, fmt.Sprintf("   not computed: %s %v, asked for at %s", f.Op, f.Spec, place(f.Stack.Top())))
	}
	var l *interp.DeadlockError
	if errors.As(err, &l) {
		for i, w := range l.Waits {
			lines = append(lines, fmt.Sprintf("   goroutine %d [%s] at %s", i+1, w.For, place(w.Stack.Top())))
		}
	}
	return append(lines, callers(st)...)
}

// callers lists the frames above the innermost; those of a recursion, also one
// of several functions, are listed once.
func callers(st *trace.Stack) []string {
	var lines []string
	const shown = 30
	for i := 1; i < len(st.Frames); {
		if len(lines) >= shown {
			return append(lines, fmt.Sprintf("   … %d more frames", len(st.Frames)-i))
		}
		period, times := recursion(st.Frames[i:])
		for _, f := range st.Frames[i : i+period] {
			lines = append(lines, fmt.Sprintf("   called from %s  %s", place(f), f.Func))
		}
		i += period * times
		if times > 1 {
			more := ""
			if len(st.Frames)-i < period { // deeper ones are not kept
				more, i = " or more", len(st.Frames)
			}
			lines[len(lines)-1] += fmt.Sprintf("  (%d times%s)", times, more)
		}
	}
	return lines
}

// recursion tells how many frames repeat at the start of a list, and how often: 1
// and 1 if none do.
func recursion(frames []trace.Frame) (period, times int) {
	const longest = 4
	for period = 1; period <= longest && 2*period <= len(frames); period++ {
		times = 1
		for n := period; n+period <= len(frames) && slices.Equal(frames[:period], frames[n:n+period]); n += period {
			times++
		}
		if times > 2 || period == 1 && times > 1 {
			return period, times
		}
	}
	return 1, 1
}

// SourceLine is the text of the line of a frame, "" when it is not known.
func (s *Session) SourceLine(f trace.Frame) string { return s.source(f, f.Line) }

// source gives the text of line n of a cell.
func (s *Session) source(f trace.Frame, n int) string {
	c := s.Cell(f.Cell)
	if c == nil || n < 1 {
		return ""
	}
	lines := strings.Split(c.Source, "\n")
	if n > len(lines) {
		return ""
	}
	return lines[n-1]
}

// number is the line number shown for line n of the frame's cell.
func number(f trace.Frame, n int) int {
	if f.File != "" && f.FileLine > 0 {
		return f.FileLine + n - f.Line
	}
	return n
}

// maxShownLine is the longest line that is shown, in bytes: no person wrote a longer one.
const maxShownLine = 1000

// excerpt shows the line of the frame and the one before it, and gives the
// width of the margin.
func (s *Session) excerpt(f trace.Frame) (lines []string, margin int) {
	margin = len(fmt.Sprint(number(f, f.Line)))
	if len(s.source(f, f.Line)) > maxShownLine {
		return nil, margin
	}
	if prev := s.source(f, f.Line-1); len(prev) <= maxShownLine && strings.TrimSpace(prev) != "" && !strings.Contains(prev, "ʹ") {
		lines = append(lines, fmt.Sprintf("   %*d | %s", margin, number(f, f.Line-1), expand(prev)))
	}
	if line := s.source(f, f.Line); line != "" {
		lines = append(lines, fmt.Sprintf("   %*d | %s", margin, number(f, f.Line), expand(line)))
	}
	return lines, margin
}

// expand shows tabs as four blanks, so that what is underlined lines up.
func expand(line string) string { return strings.ReplaceAll(line, "\t", "    ") }

// screenColumn is where byte column col of line stands after expand.
func screenColumn(line string, col int) int {
	if col > len(line)+1 {
		col = len(line) + 1
	}
	return viz.Width(expand(line[:max(col-1, 0)]))
}

// pointer shows the source line with the token at the frame's column underlined.
func (s *Session) pointer(f trace.Frame) []string {
	lines, margin := s.excerpt(f)
	line := s.source(f, f.Line)
	if line == "" || len(line) > maxShownLine || f.Column < 1 {
		return lines
	}
	from := screenColumn(line, f.Column)
	width := max(tokenAt(line, f.Column), 1)
	return append(lines, fmt.Sprintf("   %*s | %s%s", margin, "", strings.Repeat(" ", from), strings.Repeat("^", width)))
}

// A span is a piece of a line, in byte columns from 1, end excluded.
type span struct{ from, to int }

type lexeme struct {
	tok token.Token
	span
}

// lex cuts a line into tokens; what does not scan is skipped.
func lex(line string) []lexeme {
	fset := token.NewFileSet()
	f := fset.AddFile("", fset.Base(), len(line))
	var sc scanner.Scanner
	sc.Init(f, []byte(line), func(token.Position, string) {}, 0)
	var list []lexeme
	for {
		pos, tok, lit := sc.Scan()
		if tok == token.EOF {
			return list
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		if lit == "" {
			lit = tok.String()
		}
		at := f.Offset(pos) + 1
		list = append(list, lexeme{tok, span{at, at + len(lit)}})
	}
}

func tokenAt(line string, col int) int {
	for _, l := range lex(line) {
		if l.from <= col && col < l.to {
			return l.to - col
		}
	}
	return 0
}

// operands finds, on one line, the expression an operation at column col is
// applied to and its arguments: x and (a, b) of x.F(a, b), x[a, b] or x + a.
func operands(line string, col int) (recv span, args []span) {
	ls := lex(line)
	at := -1
	for i, l := range ls {
		if l.from <= col && col < l.to {
			at = i
		}
	}
	if at < 0 {
		return
	}
	open := -1 // the bracket that holds the arguments
	left := at - 1
	switch ls[at].tok {
	case token.IDENT: // a method or function name, or the receiver itself
		for i := at; i < len(ls); i++ {
			if ls[i].tok == token.LPAREN || ls[i].tok == token.LBRACK {
				open = i
				break
			}
			if ls[i].tok != token.IDENT && ls[i].tok != token.PERIOD {
				break
			}
		}
		if open > 0 && ls[open].tok == token.LPAREN {
			left = open - 3 // x . F (
			if open < 2 || ls[open-2].tok != token.PERIOD {
				left = -1
			}
		} else {
			left = open - 1
		}
	case token.PERIOD:
		if at+2 < len(ls) && ls[at+2].tok == token.LPAREN {
			open = at + 2
		}
	case token.LPAREN, token.LBRACK:
		open = at
		if ls[at].tok == token.LPAREN {
			left = at - 3
		}
	default: // an operator: its right side is the argument
		if from, to := forward(ls, at+1); to > from {
			args = []span{{ls[from].from, ls[to-1].to}}
		}
	}
	if left >= 0 && left < len(ls) {
		if from := backward(ls, left); from <= left {
			recv = span{ls[from].from, ls[left].to}
		}
	}
	if open >= 0 {
		args = arguments(ls, open)
	}
	return recv, args
}

// backward gives the first token of the operand that ends at token i.
func backward(ls []lexeme, i int) int {
	for i >= 0 {
		switch ls[i].tok {
		case token.RPAREN, token.RBRACK:
			depth := 0
			for ; i >= 0; i-- {
				switch ls[i].tok {
				case token.RPAREN, token.RBRACK:
					depth++
				case token.LPAREN, token.LBRACK:
					depth--
				}
				if depth == 0 {
					break
				}
			}
			if i > 0 && (ls[i-1].tok == token.IDENT || ls[i-1].tok == token.RPAREN || ls[i-1].tok == token.RBRACK) {
				i--
				continue
			}
			return max(i, 0)
		case token.IDENT, token.INT, token.FLOAT:
			if i > 1 && ls[i-1].tok == token.PERIOD {
				i -= 2
				continue
			}
			return i
		default:
			return i + 1
		}
	}
	return 0
}

// forward gives the tokens of the operand that begins at token i.
func forward(ls []lexeme, i int) (from, to int) {
	from = i
	depth := 0
	for ; i < len(ls); i++ {
		switch t := ls[i].tok; {
		case t == token.LPAREN || t == token.LBRACK:
			depth++
		case t == token.RPAREN || t == token.RBRACK:
			if depth == 0 {
				return from, i
			}
			depth--
		case depth > 0 || t == token.IDENT || t == token.PERIOD || t == token.INT || t == token.FLOAT:
		default:
			return from, i
		}
	}
	return from, i
}

// arguments cuts the brackets that open at token i at their commas.
func arguments(ls []lexeme, i int) []span {
	var list []span
	depth, start := 0, i+1
	for j := i; j < len(ls); j++ {
		switch ls[j].tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		if depth == 0 || depth == 1 && ls[j].tok == token.COMMA {
			if j > start {
				list = append(list, span{ls[start].from, ls[j-1].to})
			}
			start = j + 1
		}
		if depth == 0 {
			break
		}
	}
	return list
}

// boundsPicture is the block of a bad index: the operand and the index tensor
// underlined, their types and places, the legal values, the first bad elements.
func (s *Session) boundsPicture(e *exec.BoundsError) []string {
	f := e.Stack.Top()
	lines := []string{fmt.Sprintf("   --> %s   op #%d %s   checked before running", place(f), e.OpN, e.Op)}
	code, margin := s.excerpt(f)
	lines = append(lines, code...)
	line := s.source(f, f.Line)
	if len(line) > maxShownLine {
		line = ""
	}
	pad := fmt.Sprintf("   %*s | ", margin, "")
	about := func(what string, sp shape.Spec, st *trace.Stack) string {
		t := fmt.Sprintf("%s %v  %s", what, sp, viz.Bytes(sp.Bytes()))
		if st != nil && len(st.Frames) > 0 {
			t += "  " + place(st.Top())
		}
		return t
	}
	index := about("index", e.Index, e.IndexStack) + fmt.Sprintf("  min %d  max %d  bad %d of %d", e.Min, e.Max, e.Bad, e.Total)
	recv, args := operands(line, f.Column)
	mark := newMarks(line)
	into, at := e.IntoParam, e.IndexParam
	if bracketed(line, f.Column) { // x[i, idx]
		into, at = 0, 1
	}
	if recv.to > recv.from && !packageNames[line[recv.from-1:recv.to-1]] {
		args = append([]span{recv}, args...) // the receiver is the first parameter
	}
	for _, k := range []int{into, at} {
		if k >= 0 && k < len(args) {
			mark.add(args[k])
		}
	}
	if m := mark.String(); m != "" {
		lines = append(lines, pad+m+"   "+index)
	} else {
		lines = append(lines, pad+index)
	}
	if e.Into.Valid() {
		lines = append(lines, pad+about("operand", e.Into, e.IntoStack))
	}
	bad := fmt.Sprintf("   valid %d..%d.  bad at", e.Lo, e.Hi)
	for _, x := range e.First {
		bad += fmt.Sprintf(" %s=%d", shape.FormatDims(x.At), x.Value)
	}
	if e.Bad > len(e.First) {
		bad += fmt.Sprintf(" and %d more", e.Bad-len(e.First))
	}
	lines = append(lines, bad)
	lines = append(lines, fmt.Sprintf("   state: nothing ran; %s kept", viz.Plural(s.disp.Queued(), "queued op")))
	lines = append(lines, callers(e.Stack)...)
	return append(lines, "   next: :inspect the index tensor   :why err   :mode strict clamps instead")
}

// packageNames lead a call that has no receiver.
var packageNames = map[string]bool{"tpu": true, "nn": true}

// bracketed says whether the operation at column col is written as x[…].
func bracketed(line string, col int) bool {
	for _, l := range lex(line) {
		if l.from <= col && col < l.to {
			return l.tok == token.LBRACK
		}
	}
	return false
}

// marks collects what is underlined on one line.
type marks struct {
	line string
	row  []byte
}

func newMarks(line string) *marks { return &marks{line: line} }

func (m *marks) add(s span) {
	from, to := screenColumn(m.line, s.from), screenColumn(m.line, s.to)
	for len(m.row) < to {
		m.row = append(m.row, ' ')
	}
	for i := from; i < to; i++ {
		m.row[i] = '^'
	}
}

// String gives the underlining, blanks at the end cut.
func (m *marks) String() string { return strings.TrimRight(string(m.row), " ") }

// oomPicture is the block of a full HBM: the largest owners by source line,
// the padding, the fragmentation and what to do.
func (s *Session) oomPicture(e *device.OutOfMemoryError, err error, st *trace.Stack) []string {
	f := st.Top()
	head := fmt.Sprintf("   --> %s   %s", place(f), e.What)
	var oe *exec.OpError
	if errors.As(err, &oe) && oe.OpN > 0 {
		head = fmt.Sprintf("   --> %s   op #%d %s", place(f), oe.OpN, e.What)
	}
	lines := []string{fmt.Sprintf("%s  %v", head, e.Spec)}
	code, _ := s.excerpt(f)
	lines = append(lines, code...)
	for i, o := range e.Largest {
		if i == 5 {
			break
		}
		label := ""
		if i == 0 {
			label = "largest"
		}
		where := "not known"
		if o.Frame.Line > 0 {
			where = place(o.Frame)
		}
		lines = append(lines, fmt.Sprintf("   %-9s %10s  %s %s (%d)  %s", label, viz.Bytes(o.Bytes), o.What, o.Spec, o.Count, where))
	}
	if e.PaddingBytes > 0 {
		pad := fmt.Sprintf("   padding   %10s", viz.Bytes(e.PaddingBytes))
		if m := e.MostPadded; m.Size > m.Bytes {
			pad += fmt.Sprintf("  %s of it in %v stored as %v", viz.Bytes(m.Size-m.Bytes), m.Spec(), shape.LayoutOf(*m.Owner.Spec))
		}
		lines = append(lines, pad)
	}
	if e.Fragmentation > 0 {
		lines = append(lines, fmt.Sprintf("   fragmentation %.0f%%: %s free, largest block %s", 100*e.Fragmentation, viz.Bytes(e.FreeBytes), viz.Bytes(e.LargestFreeBytes)))
	}
	lines = append(lines, fmt.Sprintf("   state: nothing was freed; %s kept", viz.Plural(s.disp.Queued(), "queued op")))
	lines = append(lines, callers(st)...)
	return append(lines, "   next: :hbm   drop names you no longer need, use x.AddInPlace in debug or strict to reuse HBM, a smaller dtype or batch")
}
