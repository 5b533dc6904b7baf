package stablehlo

import (
	"fmt"
	"strings"
)

// A CheckError says what is wrong with a module's text and where.
type CheckError struct {
	Line int // from 1
	Why  string
}

// Error is one line.
func (e *CheckError) Error() string { return fmt.Sprintf("stablehlo: line %d: %s", e.Line, e.Why) }

// Check reads a module in generic form as a StableHLO parser would and gives
// a *CheckError for the first fault: unbalanced regions, a value used before
// it is defined or defined twice, a type that is not the one of the
// definition, an unknown operation, and operand, result and region types that
// the operation's own rule does not allow. It does not fold or run anything.
func Check(text string) (err error) {
	p := &parser{text: text, line: 1}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *CheckError:
			err = e
		default:
			panic(e)
		}
	}()
	p.module()
	return nil
}

// A parser walks the text. It fails by panicking with a *CheckError, which Check recovers.
type parser struct {
	text   string
	pos    int
	line   int
	scopes []map[string][]string // value name to the types of its results
}

func (p *parser) fail(format string, args ...any) {
	panic(&CheckError{p.line, fmt.Sprintf(format, args...)})
}

// space skips blanks and comments.
func (p *parser) space() {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '\n':
			p.line++
			p.pos++
		case c == ' ' || c == '\t' || c == '\r':
			p.pos++
		case strings.HasPrefix(p.text[p.pos:], "//"):
			for p.pos < len(p.text) && p.text[p.pos] != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

func (p *parser) peek(s string) bool {
	p.space()
	return strings.HasPrefix(p.text[p.pos:], s)
}

func (p *parser) accept(s string) bool {
	if !p.peek(s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		rest := p.text[p.pos:]
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			rest = rest[:i]
		}
		p.fail("want %q before %q", s, rest)
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '.' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (p *parser) word() string {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && wordByte(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

// balanced reads a bracketed piece, strings and nested brackets included, and gives the inside.
func (p *parser) balanced(open string) string {
	p.expect(open)
	start := p.pos
	stack := []byte{}
	for _, c := range []byte(open) {
		stack = append(stack, closing(c))
	}
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		switch {
		case c == '\n':
			p.line++
		case c == '"':
			for p.pos < len(p.text) && p.text[p.pos] != '"' {
				if p.text[p.pos] == '\\' {
					p.pos++
				}
				p.pos++
			}
			p.pos++
		case c == '-' && p.pos < len(p.text) && p.text[p.pos] == '>':
			p.pos++ // an arrow, no bracket
		case closing(c) != 0:
			stack = append(stack, closing(c))
		case c == ')' || c == ']' || c == '}' || c == '>':
			if c != stack[len(stack)-1] {
				p.fail("%q closes where %q is open", c, stack[len(stack)-1])
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return p.text[start : p.pos-len(open)]
			}
		}
	}
	p.fail("%q is never closed", open)
	return ""
}

func closing(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	return 0
}

// typ reads one type and gives its text.
func (p *parser) typ() string {
	p.space()
	start := p.pos
	p.accept("!")
	if p.word() == "" {
		p.fail("want a type")
	}
	if p.pos < len(p.text) && p.text[p.pos] == '<' {
		p.balanced("<")
	}
	t := p.text[start:p.pos]
	if strings.HasPrefix(t, "tensor<") {
		if _, ok := parseType(t); !ok {
			p.fail("%s is no tensor type", t)
		}
	}
	return t
}

// types reads (t, t) or one t.
func (p *parser) types() []string {
	if !p.accept("(") {
		return []string{p.typ()}
	}
	var ts []string
	for !p.accept(")") {
		if len(ts) > 0 {
			p.expect(",")
		}
		ts = append(ts, p.typ())
		if p.peek("{") { // attributes of a result
			p.balanced("{")
		}
	}
	return ts
}

// value reads %name or %name#k and gives the name and k.
func (p *parser) value() (name string, k int) {
	p.expect("%")
	name = "%" + p.word()
	if name == "%" {
		p.fail("a value has no name")
	}
	if p.pos < len(p.text) && p.text[p.pos] == '#' {
		p.pos++
		if _, err := fmt.Sscanf(p.word(), "%d", &k); err != nil {
			p.fail("%s# wants a number", name)
		}
	}
	return name, k
}

func (p *parser) define(name string, types ...string) {
	for _, s := range p.scopes {
		if _, dup := s[name]; dup {
			p.fail("%s is defined twice", name)
		}
	}
	p.scopes[len(p.scopes)-1][name] = types
}

// use gives the type of a value, which must be visible.
func (p *parser) use(name string, k int) string {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if ts, ok := p.scopes[i][name]; ok {
			if k >= len(ts) {
				p.fail("%s has %d results, not %d", name, len(ts), k+1)
			}
			return ts[k]
		}
	}
	p.fail("%s is used before it is defined", name)
	return ""
}

func (p *parser) module() {
	p.expect("module")
	if p.accept("@") {
		p.word()
	}
	if p.accept("attributes") {
		p.balanced("{")
	}
	p.expect("{")
	funcs := 0
	for !p.accept("}") {
		if p.accept("func.func") {
			p.function()
			funcs++
			continue
		}
		if w := p.word(); !strings.Contains(w, ".") { // another symbol, a mesh: it ends with its line
			p.fail("want func.func, not %q", w)
		}
		for p.pos < len(p.text) && p.text[p.pos] != '\n' {
			p.pos++
		}
	}
	if funcs == 0 {
		p.fail("the module has no function")
	}
	if p.peek("loc") {
		p.word()
		p.balanced("(")
	}
	p.space()
	for p.accept("#") { // location aliases
		for p.pos < len(p.text) && p.text[p.pos] != '\n' {
			p.pos++
		}
		p.space()
	}
	if p.pos < len(p.text) {
		p.fail("text after the module")
	}
}

func (p *parser) function() {
	if !p.accept("public") {
		p.accept("private")
	}
	p.expect("@")
	p.word()
	p.scopes = []map[string][]string{{}}
	p.expect("(")
	p.arguments()
	var results []string
	if p.accept("->") {
		results = p.types()
	}
	if p.accept("attributes") {
		p.balanced("{")
	}
	p.expect("{")
	last := p.ops()
	if !equal(last, results) {
		p.fail("the function gives %v and returns %v", results, last)
	}
	if p.peek("loc(") {
		p.word()
		p.balanced("(")
	}
}

// arguments reads %a: t {attributes}, … up to the closing parenthesis and gives the types.
func (p *parser) arguments() []string {
	var ts []string
	for !p.accept(")") {
		if len(ts) > 0 {
			p.expect(",")
		}
		name, _ := p.value()
		p.expect(":")
		t := p.typ()
		if p.peek("{") {
			p.balanced("{")
		}
		p.define(name, t)
		ts = append(ts, t)
	}
	return ts
}

// ops reads operations up to the closing brace and gives the types the last one returns.
func (p *parser) ops() []string {
	var returned []string
	ended := false
	for !p.accept("}") {
		if p.pos >= len(p.text) {
			p.fail("a region is never closed")
		}
		if ended {
			p.fail("an operation follows the return")
		}
		returned, ended = p.op()
	}
	if !ended {
		p.fail("a region does not end with a return")
	}
	return returned
}

// region reads { ^bb0(arguments): operations }.
func (p *parser) region() (args, returned []string) {
	p.expect("{")
	p.scopes = append(p.scopes, map[string][]string{})
	if p.accept("^") {
		p.word()
		if p.accept("(") {
			args = p.arguments()
		}
		p.expect(":")
	}
	returned = p.ops()
	p.scopes = p.scopes[:len(p.scopes)-1]
	return args, returned
}

// op reads one operation. ends is true for a return.
func (p *parser) op() (returned []string, ends bool) {
	type def struct {
		name string
		n    int
	}
	var defs []def
	total := 0
	for p.peek("%") {
		name, _ := p.value()
		d := def{name, 1}
		if p.accept(":") {
			if _, err := fmt.Sscanf(p.word(), "%d", &d.n); err != nil || d.n < 1 {
				p.fail("%s: wants a number of results", name)
			}
		}
		defs = append(defs, d)
		total += d.n
		if !p.accept(",") {
			break
		}
	}
	if len(defs) > 0 {
		p.expect("=")
	}
	line := p.line
	o := operation{}
	if p.accept("return") { // the short form of func.return
		o.name = "func.return"
		for p.peek("%") {
			name, k := p.value()
			o.in = append(o.in, p.use(name, k))
			if !p.accept(",") {
				break
			}
		}
		if p.accept(":") {
			var ts []string
			for {
				ts = append(ts, p.typ())
				if !p.accept(",") {
					break
				}
			}
			if !equal(ts, o.in) {
				p.fail("return of %v says %v", o.in, ts)
			}
		} else if len(o.in) > 0 {
			p.fail("return has no types")
		}
		return o.in, true
	}
	p.expect("\"")
	end := strings.IndexByte(p.text[p.pos:], '"')
	if end < 0 {
		p.fail("an operation name is never closed")
	}
	o.name = p.text[p.pos : p.pos+end]
	p.pos += end + 1
	p.expect("(")
	for n := 0; !p.accept(")"); n++ {
		if n > 0 {
			p.expect(",")
		}
		name, k := p.value()
		o.in = append(o.in, p.use(name, k))
	}
	if p.peek("<{") {
		o.attrs = dictionary(p.balanced("<{"))
	}
	if p.accept("(") {
		for {
			args, ret := p.region()
			o.regions = append(o.regions, block{args, ret})
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	if p.peek("{") {
		p.balanced("{")
	}
	p.expect(":")
	p.space()
	if !p.peek("(") {
		p.fail("%s: want (types) -> types", o.name)
	}
	in := p.types()
	p.expect("->")
	o.out = p.types()
	if p.peek("loc(") {
		p.word()
		p.balanced("(")
	}
	if !equal(in, o.in) {
		p.lineFail(line, "%s: operands are %v, the text says %v", o.name, o.in, in)
	}
	if total != len(o.out) {
		p.lineFail(line, "%s: %d names for %d results", o.name, total, len(o.out))
	}
	if err := o.verify(); err != "" {
		p.lineFail(line, "%s: %s", o.name, err)
	}
	rest := o.out
	for _, d := range defs {
		p.define(d.name, rest[:d.n]...)
		rest = rest[d.n:]
	}
	if o.name == "stablehlo.return" || o.name == "func.return" || o.name == "sdy.return" {
		return o.in, true
	}
	return nil, false
}

func (p *parser) lineFail(line int, format string, args ...any) {
	panic(&CheckError{line, fmt.Sprintf(format, args...)})
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// dictionary splits name = value, … at the outer commas.
func dictionary(s string) map[string]string {
	m := map[string]string{}
	depth, start, str := 0, 0, false
	cut := func(end int) {
		name, value, _ := strings.Cut(s[start:end], "=")
		if name = strings.TrimSpace(name); name != "" {
			m[name] = strings.TrimSpace(value)
		}
		start = end + 1
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			str = !str
		case str:
		case c == '-' && i+1 < len(s) && s[i+1] == '>':
			i++
		case closing(c) != 0:
			depth++
		case c == ')' || c == ']' || c == '}' || c == '>':
			depth--
		case c == ',' && depth == 0:
			cut(i)
		}
	}
	cut(len(s))
	return m
}
