package interp

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tpush/tpush/repl/cell"
)

// chainText writes a panic after those whose deferred calls led to it, as Go
// does: an earlier one that was recovered says so.
func (r *registry) chainText(p *panicSnapshot) string {
	if p.earlier == nil {
		return r.panicText(p.value)
	}
	s := r.chainText(p.earlier)
	if p.recovered {
		if sameValue(p.earlier.value, p.value) { // panic(recover())
			return s + " [recovered, repanicked]"
		}
		s += " [recovered]"
	}
	return s + "\n\tpanic: " + r.panicText(p.value)
}

// typeTag is the number of a cell's type inside a tag, as a type's text quotes it.
var typeTag = regexp.MustCompile(cell.TypeTag + `:\\"(\d+)\\"`)

// taggedType gives the number of the cell's type that a struct type's text is
// of, 0 for another struct: it stands in the tag of the first field.
func taggedType(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ';':
			if depth == 1 {
				return 0
			}
		case '"':
			n := quotedEnd(text[i:])
			if depth == 1 {
				if m := typeTag.FindStringSubmatch(text[i : i+n]); m != nil {
					id, _ := strconv.Atoi(m[1])
					return id
				}
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

// quotedEnd gives the length of the quoted string that text begins with.
func quotedEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// userTypes writes the types of cells that a text of package runtime names as
// the user does. There they have the form of their memory.
func (r *registry) userTypes(text string) string {
	for _, t := range r.in.machine.types.standInList() {
		text = strings.ReplaceAll(text, t.rt.String(), r.in.machine.types.name(t.t))
	}
	var b strings.Builder
	for {
		i := strings.Index(text, "struct {")
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i])
		n := structEnd(text[i:])
		if id := taggedType(text[i : i+n]); id > 0 {
			b.WriteString(r.in.machine.types.name(r.in.machine.types.byID(id).t))
			text = text[i+n:]
			continue
		}
		b.WriteString("struct {")
		text = text[i+len("struct {"):]
	}
}

// structEnd gives the length of the struct type that text begins with.
func structEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += quotedEnd(text[i:]) - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
