package graph

import (
	"fmt"
	"strings"
)

// A FusionRule is one reason why a kernel takes a node in or ends. The rules
// were counted on programs that the TPU compiler (libtpu 0.0.52) compiled; the
// figures are fused edges of all edges of the kind, over four generations.
type FusionRule struct {
	ID       string
	Sentence string
}

// The rules that can end a kernel, and the others, in the order they are tried.
var fusionRules = [...]FusionRule{
	{"F0", "constants, broadcasts and views cost nothing and are copied into every kernel that uses them"},
	{"F1", "elementwise operations of one element count are one kernel (2525 of 2715)"},
	{"F2", "a value that is broadcast to a larger shape afterwards is written first, never computed again in the larger kernel (0 of 180)"},
	{"F3", "elementwise operations that feed a reduction join it (211 of 239)"},
	{"F4", "a reduction ends its kernel (0 of 121)"},
	{"F5", "elementwise operations on the result of a product are its epilogue (198 of 272)"},
	{"F6", "a reduction of the result of a product joins it as one more result (100 of 276)"},
	{"F7", "elementwise operations on an operand of a product are its prologue (218 of 302)"},
	{"F8", "between two products the value that is used more than once is where the first kernel ends"},
	{"F9", "a kernel holds one product (353 of 367)"},
	{"F10", "row statistics of a batched product join it while a block of whole rows fits on chip"},
	{"F11", "kernels of one element count that share an operand or feed each other merge into one of several results"},
	{"F12", "sort, gather, scatter, scans, random numbers and factorizations stand alone, and so does what feeds them"},
	{"F14", "a slice is read from memory: its producer ends (24 of 68)"},
	{"F16", "a value with many users is written once instead of computed again in each"},
	{"F17", "a transposition is a copy between kernels unless a product reads it"},
	{"F18", "operations on single numbers are instructions of the scalar core and cost nothing"},
	{"OUT", "the result leaves the region"},
}

// FusionRules lists the rules in the order they are tried.
func FusionRules() []FusionRule { return append([]FusionRule(nil), fusionRules[:]...) }

// LookupFusionRule finds a rule by id.
func LookupFusionRule(id string) (FusionRule, bool) {
	for _, r := range fusionRules {
		if r.ID == id {
			return r, true
		}
	}
	return FusionRule{}, false
}

// FusionMarkdown is the table of rules as a page of documentation.
func FusionMarkdown() string {
	var b strings.Builder
	b.WriteString("# Fusion rules\n\nGenerated from `runtime/graph/fuserule.go`. A region is cut into device kernels by these rules. They were counted on programs\n" +
		"that the TPU compiler compiled: in parentheses, how many of the edges of that kind it fused. The rule that ended a\nkernel is shown with the kernel.\n\n| rule | says |\n|---|---|\n")
	for _, r := range fusionRules {
		fmt.Fprintf(&b, "| %s | %s |\n", r.ID, r.Sentence)
	}
	return b.String()
}
