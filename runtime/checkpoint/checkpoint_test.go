package checkpoint

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tpush/tpush/runtime/nn"
	"github.com/tpush/tpush/runtime/safetensors"
	"github.com/tpush/tpush/runtime/tpu"
)

// TestRoundTrip saves a tensor of each type, among them views, and loads them again.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	saved := map[string]*tpu.Tensor{
		"view":   tpu.F32.Arange(12).Reshape(3, 4).T(),
		"part":   tpu.BF16.Arange(10).Slice(0, 2, 9),
		"empty":  tpu.F16.Ones(0, 3),
		"scalar": tpu.F64.Scalar(0.1),
		"bits":   tpu.F4E2M1.Of(0.5, -6, 3, 1),
		"mask":   tpu.Of(true, false, true),
		"big":    tpu.I64.Of(1<<62, -1),
		"e4m3":   tpu.F8E4M3.Of(448, -0.25),
	}
	Save(path, saved, Options{Metadata: map[string]string{"format": "pt"}})
	loaded := Load(path)
	if len(loaded) != len(saved) {
		t.Errorf("%d tensors, want %d", len(loaded), len(saved))
	}
	for name, want := range saved {
		got := loaded[name]
		if got == nil || got.Spec().String() != want.Spec().String() || !bytes.Equal(got.Array().Buf, want.Array().Buf) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	f := Open(path)
	defer f.Close()
	if s := f.Spec("view").String(); s != "f32[4,3]" || f.Metadata()["format"] != "pt" {
		t.Errorf("%s, metadata %v", s, f.Metadata())
	}
}

// TestShards saves a model to several files and loads it into another.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	type model struct{ A, B *nn.Linear }
	m, n := &model{nn.NewLinear(8, 4), nn.NewLinear(4, 2)}, &model{nn.NewLinear(8, 4), nn.NewLinear(4, 2)}
	SaveSharded(dir, nn.State(m), 64)
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors.index.json")); err != nil {
		t.Fatal(err)
	}
	nn.Load(n, Load(dir))
	for k, w := range nn.State(m) {
		if got := nn.State(n)[k]; !bytes.Equal(got.Array().Buf, w.Array().Buf) {
			t.Errorf("%s: got %v, want %v", k, got, w)
		}
	}
	SaveSharded(filepath.Join(dir, "one"), nn.State(m), 1<<20)
	if len(Load(filepath.Join(dir, "one"))) != 4 {
		t.Error("one file does not hold all")
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	check := func(what string, f func(), want func(error) bool) {
		t.Helper()
		if err := tpu.Try(f); err == nil || !want(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("no file", func() { Load(filepath.Join(dir, "nothing")) }, is[*fs.PathError])
	check("no safetensors file", func() { Load(write("x", "abc")) }, is[*safetensors.FormatError])
	check("no index", func() { Load(write("x.json", "{}")) }, is[*IndexError])
	check("outside", func() { Load(write("y.json", `{"weight_map":{"a":"../../x"}}`)) }, is[*IndexError])
	check("integers of four bits", func() { Save(filepath.Join(dir, "z"), map[string]*tpu.Tensor{"a": tpu.I4.Ones(2)}) }, is[*TypeError])
	ok := filepath.Join(dir, "ok.safetensors")
	Save(ok, map[string]*tpu.Tensor{"a": tpu.Ones(2)})
	check("no such tensor", func() { Open(ok).Tensor("b") }, is[*MissingError])
	check("not in its file", func() { Load(write("w.json", `{"weight_map":{"b":"ok.safetensors"}}`)) }, is[*MissingError])
	check("no decoder", func() { ReadConfig(write("config.json", `{"model_type":"t5"}`)) }, is[*ConfigError])
	check("negative size", func() { ReadConfig(write("config.json", `{"n_layer":-1}`)) }, is[*ConfigError])
}

func is[T error](err error) bool {
	var t T
	return errors.As(err, &t)
}

func TestConfig(t *testing.T) {
	p := filepath.Join(t.TempDir(), "config.json")
	for text, want := range map[string]Config{
		`{"model_type":"gpt2","n_layer":12,"n_embd":768,"n_head":12,"n_positions":1024,"vocab_size":50257,"layer_norm_epsilon":1e-5}`: {
			"gpt2", 12, 768, 12, 12, 64, 3072, 50257, 1024, 1e-5, 0, true, "",
		},
		`{"model_type":"llama","num_hidden_layers":16,"hidden_size":2048,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":64,"intermediate_size":8192,
		  "vocab_size":128256,"max_position_embeddings":131072,"rms_norm_eps":1e-6,"rope_theta":500000.0,"tie_word_embeddings":true,"torch_dtype":"bfloat16"}`: {
			"llama", 16, 2048, 32, 8, 64, 8192, 128256, 131072, 1e-6, 500000, true, "bfloat16",
		},
	} {
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ReadConfig(filepath.Dir(p)); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}
