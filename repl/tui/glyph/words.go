package glyph

import "strings"

// WrapWords is Wrap that breaks between words where there are any, and sets the
// rows after the first below the last column of the line: what comes after its
// last gap of two spaces or more, if that is in the left three quarters, else below its
// indentation.
func WrapWords(s string, w int) []string {
	if w <= 0 || len(s) <= w && ascii(s) || Cells(s) <= w {
		return Wrap(s, w)
	}
	in := hang(Strip(s), w)
	var rows []string
	for s != "" {
		room, pad := w, ""
		if len(rows) > 0 {
			room, pad = w-in, Spaces(in)
		}
		cut, next := breakAt(s, room)
		part := Wrap(s[:cut], room)
		rows = append(rows, pad+part[0])
		if next >= len(s) {
			break
		}
		s = style(s[:next]) + s[next:]
	}
	return rows
}

// breakAt gives how many bytes of s go on a row of w cells, and where the next begins.
func breakAt(s string, w int) (cut, next int) {
	x, space, after := 0, -1, 0
	for i := 0; i < len(s); {
		if n := SGR(s[i:]); n > 0 {
			i += n
			continue
		}
		n, _, cells := step(s[i:], x)
		if x+cells > w {
			switch {
			case s[i] == ' ':
				return i, i + len(s[i:]) - len(strings.TrimLeft(s[i:], " "))
			case space > 0:
				return space, after
			case x == 0:
				return i + n, i + n // a wide letter in a very narrow pane
			}
			return i, i
		}
		if s[i] == ' ' {
			if x > w/3 {
				space, after = i, i+n
			}
		} else if after == i && space >= 0 {
			after = i
		}
		x += cells
		i += n
	}
	return len(s), len(s)
}

// style is the SGR in force after s.
func style(s string) string {
	in := ""
	for i := 0; i < len(s); {
		n := SGR(s[i:])
		switch {
		case n == 0:
			i++
			continue
		case isReset(s[i : i+n]):
			in = ""
		default:
			if in += s[i : i+n]; len(in) > maxStyleBytes {
				in = s[i : i+n]
			}
		}
		i += n
	}
	return in
}

// hang is how far the rows after the first are set in.
func hang(s string, w int) int {
	in := len(s) - len(strings.TrimLeft(s, " "))
	if in >= w/2 {
		return 0
	}
	for i, gap := in, 0; i < len(s) && i <= w*3/4; i++ {
		if s[i] >= 0x7f || s[i] < ' ' {
			break
		}
		if s[i] == ' ' {
			gap++
			continue
		}
		if gap >= 2 {
			in = i
		}
		gap = 0
	}
	return in
}
