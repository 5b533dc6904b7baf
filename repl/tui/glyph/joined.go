package glyph

import "unicode/utf8"

// flag draws regional indicators, of which two make a flag that few terminals
// draw and all count differently, as the letters they stand for: DE.
func flag(s string) (n int, draw string, width int) {
	for len(draw) < 2 {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r < firstIndicator || r > lastIndicator {
			break
		}
		draw += string('A' + r - firstIndicator)
		n += size
	}
	return n, draw, len(draw)
}

const firstIndicator, lastIndicator = 0x1f1e6, 0x1f1ff

// The parts of Hangul syllables (The Unicode Standard, 3.12): leading
// consonants, vowels, trailing consonants; syllables follow from their numbers.
const (
	leadBase, leads       = 0x1100, 19
	vowelBase, vowels     = 0x1161, 21
	trailBase, trails     = 0x11a7, 28 // the first stands for none
	syllableBase          = 0xac00
	firstJamo, lastJamo   = 0x1100, 0x11ff
	compatibleVowel       = 0x314f
	compatibleConsonants  = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
	compatibleTrailing    = "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
	compatibleLetterBytes = 3
)

// hangul draws conjoining letters, which terminals join or not, as the syllable
// they make; one that makes none as the letter it is. Letters that modern Korean
// does not have are drawn as �.
func hangul(s string) (n int, draw string, width int) {
	l, n := utf8.DecodeRuneInString(s)
	if l < leadBase+leads {
		v, more := utf8.DecodeRuneInString(s[n:])
		if v < vowelBase || v >= vowelBase+vowels {
			return n, letter(compatibleConsonants, int(l-leadBase)), 2
		}
		n += more
		r := syllableBase + ((l-leadBase)*vowels+v-vowelBase)*trails
		if t, more := utf8.DecodeRuneInString(s[n:]); t > trailBase && t < trailBase+trails {
			return n + more, string(r + t - trailBase), 2
		}
		return n, string(r), 2
	}
	switch {
	case l >= vowelBase && l < vowelBase+vowels:
		return n, string(compatibleVowel + l - vowelBase), 2
	case l > trailBase && l < trailBase+trails:
		return n, letter(compatibleTrailing, int(l-trailBase-1)), 2
	}
	return n, "\ufffd", 1
}

func letter(list string, i int) string {
	return list[i*compatibleLetterBytes : (i+1)*compatibleLetterBytes]
}
