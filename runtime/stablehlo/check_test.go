package stablehlo

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// accepted gives modules that XLA's parser took: the sample, and the whole set when it is beside the checkout.
func accepted(t *testing.T) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("testdata", "accepted", "*.mlir"))
	if len(files) < 20 {
		t.Fatalf("%d sample modules", len(files))
	}
	for dir := ".."; ; dir = filepath.Join("..", dir) {
		abs, err := filepath.Abs(dir)
		if err != nil || abs == "/" {
			return files
		}
		more, _ := filepath.Glob(filepath.Join(dir, "shared", "conformance_stablehlo", "*.mlir"))
		if len(more) > 0 {
			return append(files, more...)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCheckTakesWhatXLATakes(t *testing.T) {
	for _, f := range accepted(t) {
		if err := Check(read(t, f)); err != nil {
			t.Errorf("%s: %v", filepath.Base(f), err)
		}
	}
}

// TestCheckSeesFaults breaks good modules in one place each.
func TestCheckSeesFaults(t *testing.T) {
	mutations := []struct{ file, old, new string }{
		{"078_donation", "(%a, %b)", "(%a, %c)"},
		{"078_donation", "%r0 = ", "%a = "},
		{"078_donation", "%r0 = ", "%r0:2 = "},
		{"078_donation", "stablehlo.add", "stablehlo.plus"},
		{"078_donation", "stablehlo.add", "stablehlo.negate"},
		{"078_donation", "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n    return", "(tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>\n    return"},
		{"078_donation", "%b: tensor<4xf32>", "%b: tensor<4xf16>"},
		{"078_donation", "-> (tensor<4xf32>) {", "-> (tensor<4xf64>) {"},
		{"078_donation", "return %r0", "return %r1"},
		{"078_donation", "  }\n}", "  }\n"},
		{"036_reduce_argmax", "dimensions = array<i64: 1>", "dimensions = array<i64: 0>"},
		{"036_reduce_argmax", "\"stablehlo.return\"(%mv, %mi)", "\"stablehlo.return\"(%mi, %mv)"},
		{"036_reduce_argmax", "    }) : (tensor<2x4xf32>", "    }) : (tensor<2x5xf32>"},
		{"036_reduce_argmax", "comparison_type FLOAT>}> : (tensor<f32>", "comparison_type SIGNED>}> : (tensor<f32>"},
		{"027_slice", "limit_indices = array<i64: 2, 3, 4>", "limit_indices = array<i64: 2, 3, 5>"},
		{"027_slice", "strides = array<i64: 1, 1, 2>", "strides = array<i64: 1, 1>"},
		{"028_concatenate", "dimension = 1", "dimension = 0"},
		{"029_pad", "edge_padding_low = array<i64: 1>", "edge_padding_low = array<i64: 2>"},
		{"031_dynamic_slice", "slice_sizes = array<i64: 2, 3>", "slice_sizes = array<i64: 3, 2>"},
		{"039_reduce_window_dilated", "window_dilations = array<i64: 2>", "window_dilations = array<i64: 3>"},
		{"042_select_and_scatter", "window_strides = array<i64: 2, 2>", "window_strides = array<i64: 1, 1>"},
		{"042_select_and_scatter", "\"stablehlo.return\"(%ge) : (tensor<i1>)", "\"stablehlo.return\"(%x) : (tensor<f32>)"},
		{"044_dot_batched", "rhs_contracting_dimensions = [2]", "rhs_contracting_dimensions = [1]"},
		{"053_conv_transposed", "lhs_dilation = array<i64: 2, 2>", "lhs_dilation = array<i64: 1, 2>"},
		{"054_conv_depthwise", "feature_group_count = 4", "feature_group_count = 2"},
		{"059_gather_batched", "offset_dims = [2]", "offset_dims = [1, 2]"},
		{"063_scatter_batched", "scatter_dims_to_operand_dims = [1]", "scatter_dims_to_operand_dims = [1, 2]"},
		{"065_sort_key_value", "dimension = 0", "dimension = 1"},
		{"071_while", "\"stablehlo.return\"(%c) : (tensor<i1>)", "\"stablehlo.return\"(%k) : (tensor<i32>)"},
		{"015_constants", "dense<1.5>", "dense<1>"},
		{"015_constants", "[-1, 9223372036854775807]", "[-1]"},
		{"016_iota", "iota_dimension = 1", "iota_dimension = 2"},
		{"078_donation", "tensor<4xf32>", "tensor<4xf33>"},
	}
	for _, m := range mutations {
		text := read(t, filepath.Join("testdata", "accepted", m.file+".mlir"))
		if !strings.Contains(text, m.old) {
			t.Errorf("%s has no %q", m.file, m.old)
			continue
		}
		var ce *CheckError
		if err := Check(strings.Replace(text, m.old, m.new, 1)); !errors.As(err, &ce) || ce.Line < 1 {
			t.Errorf("%s with %q: %v", m.file, m.new, err)
		}
	}
}

// TestSpellingsAreTheAcceptedOnes compares the attribute names of every
// operation the helpers write with those of the modules XLA took.
func TestSpellingsAreTheAcceptedOnes(t *testing.T) {
	known := map[string]map[string]bool{}
	for _, f := range accepted(t) {
		for op, as := range attributes(read(t, f)) {
			if known[op] == nil {
				known[op] = map[string]bool{}
			}
			for a := range as {
				known[op][a] = true
			}
		}
	}
	for op, as := range attributes(everything()) {
		if known[op] == nil {
			continue // not in the sample
		}
		for a := range as {
			if !known[op][a] {
				t.Errorf("%s: attribute %s is in no accepted module", op, a)
			}
		}
	}
}

// attributes lists the attribute names of every operation of a module.
func attributes(text string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	line := regexp.MustCompile(`"([a-z]+\.[a-z_0-9]+)"\([^)]*\)(?: <\{(.*?)\}>)?`)
	nested := regexp.MustCompile(`([a-z_]+) = `)
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		if out[m[1]] == nil {
			out[m[1]] = map[string]bool{}
		}
		for _, a := range nested.FindAllStringSubmatch(m[2], -1) {
			out[m[1]][a[1]] = true
		}
	}
	return out
}
