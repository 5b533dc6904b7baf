package viz

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes writes a number of bytes in binary units: 512 B, 98.2 MiB, 3.07 GiB.
func Bytes(n int64) string {
	return scaled(n, 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}, " ")
}

// BytesShort is Bytes for narrow columns: 512B, 98.2M, 3.07G.
func BytesShort(n int64) string {
	return scaled(n, 1024, []string{"B", "K", "M", "G", "T", "P", "E"}, "")
}

// FLOPs writes a number of floating-point operations: 64 FLOP, 5.38 GFLOP.
func FLOPs(n int64) string {
	return scaled(n, 1000, []string{"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"}, " ")
}

// DurationNS writes a time: 950 ns, 1.2 us, 0.61 ms, 3.2 s, 2m05s.
func DurationNS(ns int64) string {
	if ns < 0 {
		if ns == math.MinInt64 {
			ns++
		}
		return "-" + DurationNS(-ns)
	}
	switch v := float64(ns); {
	case ns < 1000:
		return strconv.FormatInt(ns, 10) + " ns"
	case ns < 99_950:
		return figure(v/1e3) + " us"
	case ns < 999_500_000:
		return figure(v/1e6) + " ms"
	case ns < 120_000_000_000:
		return figure(v/1e9) + " s"
	}
	s := (ns + 500_000_000) / 1_000_000_000
	if s >= 3600 {
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dm%02ds", s/60, s%60)
}

// Plural writes a number of things: 1 op, 2 launches, 1,024 entries, 3 pieces of output.
func Plural[N ~int | ~int64 | ~uint64 | ~uint32](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	word, rest, _ := strings.Cut(noun, " of ")
	if rest != "" {
		rest = " of " + rest
	}
	switch {
	case strings.HasSuffix(word, "ch"), strings.HasSuffix(word, "sh"), strings.HasSuffix(word, "s"), strings.HasSuffix(word, "x"):
		word += "es"
	case len(word) > 1 && strings.HasSuffix(word, "y") && !strings.ContainsRune("aeiou", rune(word[len(word)-2])):
		word = word[:len(word)-1] + "ies"
	default:
		word += "s"
	}
	return Count(int64(n)) + " " + word + rest
}

// Count writes a whole number with commas: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, d := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Percent writes part of whole: 0%, 0.4%, 38%. A part that is not 0 is never 0%.
func Percent(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	switch p := 100 * float64(part) / float64(whole); {
	case p == 0:
		return "0%"
	case math.Abs(p) < 0.1:
		return "<0.1%"
	case math.Abs(p) < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

// Number writes a figure of a tensor in at most four digits: 0.0312, -3.41, 2.3e-07.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case v == math.Trunc(v) && a < 1e6:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a < 1e-4 || a >= 1e6:
		return strconv.FormatFloat(v, 'e', 2, 64)
	case a < 1:
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// scaled writes n in the largest unit that leaves at least 1.
func scaled(n int64, base float64, units []string, space string) string {
	v, i := float64(n), 0
	for math.Abs(v) >= base-0.5 && i < len(units)-1 {
		v /= base
		i++
	}
	if i == 0 {
		return strconv.FormatInt(n, 10) + space + units[0]
	}
	return figure(v) + space + units[i]
}

// figure writes three digits, without zeros at the end but for one: 3.07, 8.0, 210.
func figure(v float64) string {
	decimals := 0
	switch a := math.Abs(v); {
	case a < 9.995:
		decimals = 2
	case a < 99.95:
		decimals = 1
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals == 2 {
		s = strings.TrimSuffix(s, "0")
	}
	return s
}
