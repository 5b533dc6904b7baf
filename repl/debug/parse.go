package debug

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A SpecError says what is wrong with the text of a breakpoint.
type SpecError struct{ Text, Why string }

func (e *SpecError) Error() string { return fmt.Sprintf("%q: %s", e.Text, e.Why) }

var (
	hitTail  = regexp.MustCompile(`^(.*?)\s*\bhit\s*(>=|<=|==|!=|>|<|%)?\s*(\d+)$`)
	lineSpec = regexp.MustCompile(`^(?:In\[(\d+)\]|(\d+)):(\d+)$`)
	fileSpec = regexp.MustCompile(`^(.+):(\d+)$`)
	memSpec  = regexp.MustCompile(`^mem\s*>\s*([\d.]+)\s*([KMGT]?i?B?)$`)
	funcSpec = regexp.MustCompile(`^(\(\*?[\pL_][\pL\pN_]*\)|[\pL_][\pL\pN_]*)(\.[\pL_][\pL\pN_]*)*$`)
)

// Parse reads a breakpoint as it is typed:
//
//	3:2  In[3]:2  train.tpu:14      a line
//	train  (*Model).Step            a function
//	op gather shape[0] > 4096       an operation, with a predicate
//	nan [in x]  inf [in x]          a value that an operation made
//	mem > 14GiB                     HBM in use
//	cut [REASON]                    a launch of a group
//	error [KIND]                    a panic
//	change x                        a variable
//
// each with if COND and hit [> >= == < <= != %] N behind it. The error is a
// *SpecError.
func Parse(text string) (Breakpoint, error) {
	var b Breakpoint
	rest := strings.TrimSpace(text)
	bad := func(format string, args ...any) (Breakpoint, error) {
		return Breakpoint{}, &SpecError{text, fmt.Sprintf(format, args...)}
	}
	if m := hitTail.FindStringSubmatch(rest); m != nil {
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return bad("%v", err)
		}
		b.Hit = HitRule{m[2], n}
		if m[2] == "" {
			b.Hit.Op = "=="
		}
		rest = m[1]
	}
	if before, cond, ok := strings.Cut(" "+rest+" ", " if "); ok {
		rest, b.Cond = strings.TrimSpace(before), strings.TrimSpace(cond)
		if b.Cond == "" {
			return bad("a condition follows if")
		}
	}
	word, arg, _ := strings.Cut(rest, " ")
	arg = strings.TrimSpace(arg)
	switch word {
	case "":
		return bad("what to stop at is missing")
	case "op":
		b.Kind = Op
		name, pred, _ := strings.Cut(arg, " ")
		if pred = strings.TrimSpace(pred); pred != "" && b.Cond != "" {
			b.Cond = "(" + pred + ") && (" + b.Cond + ")"
		} else if pred != "" {
			b.Cond = pred
		}
		b.Name = name
		if name == "" {
			return bad("the name of an operation follows op")
		}
		if name == "*" {
			b.Name = ""
		}
		return b, nil
	case "nan", "inf":
		b.Kind = map[string]Kind{"nan": NaN, "inf": Inf}[word]
		b.Name = strings.TrimSpace(strings.TrimPrefix(arg+" ", "in "))
		return b, nil
	case "cut":
		b.Kind, b.Name = Cut, arg
		return b, nil
	case "error":
		b.Kind, b.Name = Error, arg
		return b, nil
	case "change":
		b.Kind, b.Name = Change, arg
		if arg == "" || strings.ContainsAny(arg, " .[") {
			return bad("the name of a variable follows change")
		}
		return b, nil
	}
	if m := memSpec.FindStringSubmatch(rest); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return bad("%v", err)
		}
		b.Kind, b.LimitBytes = Memory, int64(n*float64(unit(m[2])))
		return b, nil
	}
	if m := lineSpec.FindStringSubmatch(rest); m != nil {
		b.Cell, _ = strconv.Atoi(m[1] + m[2])
		b.Line, _ = strconv.Atoi(m[3])
		if b.Cell < 1 || b.Line < 1 {
			return bad("cells and lines are counted from 1")
		}
		return b, nil
	}
	if m := fileSpec.FindStringSubmatch(rest); m != nil {
		b.File = m[1]
		b.Line, _ = strconv.Atoi(m[2])
		return b, nil
	}
	if funcSpec.MatchString(rest) {
		b.Kind, b.Name = Func, rest
		return b, nil
	}
	return bad("neither CELL:LINE, FILE:LINE, a function, nor op, nan, inf, mem, cut, error or change")
}

// unit is the bytes of a unit: KB and KiB are both 1024.
func unit(name string) int64 {
	if name == "" {
		return 1
	}
	if i := strings.IndexByte("BKMGT", name[0]); i >= 0 {
		return 1 << (10 * i)
	}
	return 1
}
