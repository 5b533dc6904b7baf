package glyph

import (
	"strings"
	"unicode/utf8"
)

// A Cleaner turns what a program prints, in pieces, into lines: SGR passes, every
// other sequence and control character is dropped, a carriage return lets the
// text after it overwrite the line, a backspace steps back. The zero Cleaner is ready.
type Cleaner struct {
	line  []byte // the line so far
	over  []byte // what was printed since a carriage return, over line
	cr    bool
	held  string // the beginning of a sequence or letter that the next piece completes
	erase bool   // the rest of line was erased after the carriage return
}

// maxLineBytes bounds a line that never ends; what goes beyond begins a new one.
const maxLineBytes = 16 << 10

// Write takes a piece and gives the lines that it ended.
func (c *Cleaner) Write(text string) []string {
	var done []string
	if c.held != "" {
		text = c.held + text
		c.held = ""
	}
	for i := 0; i < len(text); {
		// The common case: a run of ordinary bytes.
		j := i
		for j < len(text) && (text[j] >= ' ' && text[j] < 0x7f || text[j] == '\t') {
			j++
		}
		if j > i {
			j = min(j, i+max(maxLineBytes-len(c.line)-len(c.over), 1))
			c.put(text[i:j])
			if len(c.line)+len(c.over) >= maxLineBytes {
				done = append(done, c.take())
			}
			i = j
			continue
		}
		switch b := text[i]; {
		case b == '\n':
			done = append(done, c.take())
			i++
		case b == '\r':
			if i+1 == len(text) { // it may begin a line end
				c.held = "\r"
				return done
			}
			if text[i+1] != '\n' {
				c.settle()
				c.cr = true
			}
			i++
		case b == '\b':
			c.back()
			i++
		case b == 0x1b:
			n := sequence(text[i:])
			if n == 0 && len(text)-i < maxSequence {
				c.held = text[i:]
				return done
			}
			n = max(n, 1)
			if SGR(text[i:i+n]) == n {
				c.put(text[i : i+n])
			} else if text[i:i+n] == "\x1b[K" || text[i:i+n] == "\x1b[0K" || text[i:i+n] == "\x1b[2K" {
				c.erase = true
			}
			i += n
		case b < utf8.RuneSelf:
			i++
		default:
			if !utf8.FullRuneInString(text[i:]) && len(text)-i < utf8.UTFMax {
				c.held = text[i:]
				return done
			}
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				c.put("\ufffd")
			case r >= 0x80 && r < 0xa0:
			default:
				c.put(text[i : i+n])
			}
			i += n
		}
	}
	return done
}

func (c *Cleaner) put(s string) {
	if c.cr {
		c.over = append(c.over, s...)
		return
	}
	c.line = append(c.line, s...)
}

func (c *Cleaner) back() {
	at := &c.line
	if c.cr {
		at = &c.over
	}
	_, n := utf8.DecodeLastRune(*at)
	if len(*at) > 0 && (*at)[len(*at)-1] != 'm' { // not into a colour
		*at = (*at)[:len(*at)-n]
	}
}

// settle makes what was printed over the line part of it.
func (c *Cleaner) settle() {
	if !c.cr {
		return
	}
	if len(c.over) > 0 || c.erase {
		rest := ""
		if old := string(c.line); !c.erase {
			rest = Skip(old, Cells(string(c.over)))
		}
		c.line = append(append([]byte(nil), c.over...), rest...)
	}
	c.over, c.cr, c.erase = nil, false, false
}

func (c *Cleaner) take() string {
	c.settle()
	s := string(c.line)
	c.line = c.line[:0]
	return s
}

// Line gives the line that has not ended yet.
func (c *Cleaner) Line() string {
	d := Cleaner{line: append([]byte(nil), c.line...), over: c.over, cr: c.cr, erase: c.erase}
	return d.take()
}

// maxSequence bounds what is waited for to complete an escape sequence.
const maxSequence = 4096

// sequence gives the length of the escape sequence that s begins with, 0 when it is cut short.
func sequence(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch c := s[1]; {
	case c == '[': // CSI: parameters, intermediates, a final byte
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] >= 0x7f {
				return i
			}
		}
		return 0
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_': // a string up to BEL or ST
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) {
				if s[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return 0
	case c >= 0x20 && c <= 0x2f: // intermediates
		for i := 2; i < len(s); i++ {
			if s[i] < 0x20 || s[i] > 0x2f {
				return i + 1
			}
		}
		return 0
	case c == 0x1b || c < 0x20 || c >= 0x7f:
		return 1
	}
	return 2
}

// Clean gives the lines of a whole text, cleaned.
func Clean(text string) []string {
	var c Cleaner
	lines := c.Write(text)
	if rest := c.Line(); rest != "" || len(lines) == 0 {
		lines = append(lines, rest)
	}
	return lines
}

// Paste normalises pasted text: every line end is \n, tabs stay, other control
// characters are dropped. Nothing else changes.
func Paste(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r < 0x7f || r >= 0xa0 {
			return r
		}
		return -1
	}, s)
}
