package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
)

// unknown is the style of a pen and of cells that somebody else left.
const unknown = -1

// maxStyles bounds the styles that are remembered.
const maxStyles = 4096

// styles number the looks that letters have, as the terminal can show them; 0
// is the plain one. What was worked out once is remembered.
type styles struct {
	profile colorprofile.Profile
	list    []uv.Style
	number  map[uv.Style]int32
	next    map[read]int32
	changes map[[2]int32]string
}

// A read is an SGR sequence that comes while a style is in force.
type read struct {
	in  int32
	sgr string
}

func newStyles(p colorprofile.Profile) styles {
	return styles{p, []uv.Style{{}}, map[uv.Style]int32{{}: 0}, map[read]int32{}, map[[2]int32]string{}}
}

func (s *styles) full() bool {
	return len(s.list) > maxStyles || len(s.next) > 4*maxStyles || len(s.changes) > 4*maxStyles
}

// after gives the style after an SGR sequence.
func (s *styles) after(in int32, sgr string) int32 {
	if n, ok := s.next[read{in, sgr}]; ok {
		return n
	}
	st := s.list[in]
	uv.ReadStyle(params(sgr), &st)
	st = uv.ConvertStyle(st, s.profile)
	n, ok := s.number[st]
	if !ok {
		n = int32(len(s.list))
		s.list = append(s.list, st)
		s.number[st] = n
	}
	s.next[read{in, strings.Clone(sgr)}] = n
	return n
}

// params reads what stands between ESC [ and m.
func params(sgr string) ansi.Params {
	var list ansi.Params
	rest := sgr[2 : len(sgr)-1]
	for rest != "" {
		i := strings.IndexAny(rest, ";:")
		word, more := rest, ansi.Param(0)
		if i >= 0 {
			word = rest[:i]
			if rest[i] == ':' {
				more = parser.HasMoreFlag
			}
			rest = rest[i+1:]
		} else {
			rest = ""
		}
		n, err := strconv.ParseUint(word, 10, 16)
		p := ansi.Param(n)
		if err != nil {
			p = parser.MissingParam
		}
		list = append(list, p|more)
	}
	return list
}

// change gives the SGR that makes one style of another.
func (s *styles) change(from, to int32) string {
	if seq, ok := s.changes[[2]int32{from, to}]; ok {
		return seq
	}
	seq := ansi.ResetStyle
	switch {
	case from == unknown && to != 0:
		seq += uv.StyleDiff(&uv.Style{}, &s.list[to])
	case from != unknown:
		seq = uv.StyleDiff(&s.list[from], &s.list[to])
		if anew := ansi.ResetStyle + uv.StyleDiff(&uv.Style{}, &s.list[to]); to != 0 && len(anew) < len(seq) {
			seq = anew
		}
	}
	s.changes[[2]int32{from, to}] = seq
	return seq
}

// certain says whether a terminal of any age moves its cursor by width for what is
// drawn: ideographs, kana and Hangul syllables do, emoji came later and marks
// are counted in different ways.
func certain(draw string, width int) bool {
	r, n := utf8.DecodeRuneInString(draw)
	if n != len(draw) {
		return false
	}
	return width == 1 || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xff01 && r <= 0xff60
}
