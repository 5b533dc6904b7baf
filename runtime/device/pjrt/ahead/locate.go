package ahead

import (
	"fmt"
	"regexp"
	"strings"
)

// Locate gives every operation of a StableHLO text its line as a location,
// named by the operation, unless the text has locations of its own. The text
// is not parsed: an operation is a statement that begins a line and ends where
// its brackets are closed.
func Locate(text, file string) string {
	if strings.Contains(text, "loc(") {
		return text
	}
	lines := strings.Split(text, "\n")
	type open struct {
		depth int
		loc   string // "" for a statement that gets none
	}
	var stack []open
	depth := 0
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if container.MatchString(trimmed) {
			stack = append(stack, open{depth: depth})
		} else if m := statement.FindStringSubmatch(trimmed); m != nil {
			col := len(line) - len(strings.TrimLeft(line, " \t")) + 1
			stack = append(stack, open{depth, fmt.Sprintf(" loc(%q(%q:%d:%d))", strings.Trim(m[1], `"`), file, i+1, col)})
		}
		code := bracketless(line, &depth)
		n := len(stack)
		if n == 0 || depth > stack[n-1].depth || unfinished(code) || !startsAnew(lines[i+1:]) {
			continue
		}
		for ; n > 0 && depth < stack[n-1].depth; n-- { // what did not end where it should gets none
		}
		if n > 0 && depth == stack[n-1].depth {
			if at := stack[n-1]; at.loc != "" {
				lines[i] = strings.TrimRight(code, " \t") + at.loc + line[len(code):]
			}
			n--
		}
		stack = stack[:n]
	}
	return strings.Join(lines, "\n")
}

var (
	// statement is an operation: its results, then its name.
	statement = regexp.MustCompile(`^(?:%[\w$.\-#:, %]+ = )?("?(?:stablehlo|chlo|func|sdy|mhlo)\.[\w.]+"?|call|return)\b`)
	// container is an operation whose body holds others.
	container = regexp.MustCompile(`^(module|func\.func|"?builtin\.module)\b`)
	// next is how the line after an operation may begin.
	next = regexp.MustCompile(`^(%|"|\}|\^|#|//|stablehlo\.|chlo\.|func\.|sdy\.|mhlo\.|call\b|return\b|module\b)`)
)

// startsAnew says whether the next line that is not empty begins a statement
// or ends a block.
func startsAnew(rest []string) bool {
	for _, l := range rest {
		if t := strings.TrimSpace(l); t != "" {
			return next.MatchString(t)
		}
	}
	return true
}

// unfinished says whether a line of code goes on in the next.
func unfinished(code string) bool {
	t := strings.TrimRight(code, " \t\r")
	return t == "" || strings.HasSuffix(t, "=") || strings.HasSuffix(t, ",") || strings.HasSuffix(t, ":") || strings.HasSuffix(t, "->")
}

// bracketless counts the brackets of a line outside texts, and gives the line
// up to its comment.
func bracketless(line string, depth *int) string {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '/' && strings.HasPrefix(line[i:], "//"):
			return line[:i]
		case c == '(' || c == '{' || c == '[':
			*depth++
		case c == ')' || c == '}' || c == ']':
			*depth--
		}
	}
	return line
}
