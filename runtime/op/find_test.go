package op

import "testing"

func TestFind(t *testing.T) {
	for name, want := range map[string]Name{
		"add": "add", "add_": "add", "add.Tensor": "add", "torch.add": "add", "aten::add.Tensor": "add", "Tensor.add_": "add", "AddInPlace": "add",
		"torch.nn.functional.layer_norm": "layer_norm", "LayerNorm": "layer_norm", "F.layer_norm": "layer_norm", "layernorm": "layer_norm",
		"torch.linalg.inv": "inv", "linalg_inv": "inv", "CumSum": "cumsum", "tpu.MatMul": "matmul", "torch.nn.functional.conv2d": "conv2d",
	} {
		if d := Find(name); d == nil || d.Name != want {
			t.Errorf("%s: %v, want %s", name, d, want)
		}
	}
	for name, want := range map[string]Name{"cumsun": "cumsum", "torch.sofmax": "softmax", "matmull": "matmul", "zzzzzz": "", "x": ""} {
		if got := Nearest(name); Find(name) != nil || got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, table := range All() {
		for i := range table {
			if d := &table[i]; Find(string(d.Name)) != d {
				t.Errorf("%s is not found by its name", d.Name)
			}
		}
	}
}
