package checkpoint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A Config is what a Hugging Face config.json says of a decoder, whatever
// names its family gives the sizes.
type Config struct {
	Family    string // model_type: gpt2, llama, mistral, qwen2, gemma, …
	Layers    int
	Width     int // of a token's vector
	Heads     int
	KVHeads   int // heads of keys and values; Heads when the file has none
	HeadWidth int // Width/Heads when the file has none
	FFNWidth  int
	Vocab     int
	Context   int // positions
	NormEps   float64
	RopeTheta float64 // 0: no rotary positions
	TiedEmbed bool    // the output matrix is the embedding
	DType     string  // as PyTorch names it; "" when the file has none
}

// fields are the names of each number, by family: llama's first, then gpt2's.
var fields = []struct {
	names []string
	into  func(c *Config) *int
}{
	{[]string{"num_hidden_layers", "n_layer"}, func(c *Config) *int { return &c.Layers }},
	{[]string{"hidden_size", "n_embd"}, func(c *Config) *int { return &c.Width }},
	{[]string{"num_attention_heads", "n_head"}, func(c *Config) *int { return &c.Heads }},
	{[]string{"num_key_value_heads"}, func(c *Config) *int { return &c.KVHeads }},
	{[]string{"head_dim"}, func(c *Config) *int { return &c.HeadWidth }},
	{[]string{"intermediate_size", "n_inner"}, func(c *Config) *int { return &c.FFNWidth }},
	{[]string{"vocab_size"}, func(c *Config) *int { return &c.Vocab }},
	{[]string{"max_position_embeddings", "n_positions"}, func(c *Config) *int { return &c.Context }},
}

// A ConfigError says why a config.json cannot be used.
type ConfigError struct{ Path, Why string }

// Error names the file.
func (e *ConfigError) Error() string { return e.Path + ": " + e.Why }

// ReadConfig reads a config.json, or that of a directory.
func ReadConfig(path string) Config {
	const op = "checkpoint.config"
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "config.json")
	}
	b, err := os.ReadFile(path)
	fail(op, err)
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		fail(op, &ConfigError{path, "it is no JSON object: " + err.Error()})
	}
	c := Config{NormEps: 1e-5}
	c.Family, _ = m["model_type"].(string)
	for _, f := range fields {
		for _, n := range f.names {
			v, there := m[n]
			if !there || v == nil {
				continue
			}
			x, ok := v.(float64)
			if !ok || x < 0 || x != float64(int(x)) {
				fail(op, &ConfigError{path, fmt.Sprintf("%s is %v", n, v)})
			}
			*f.into(&c) = int(x)
			break
		}
	}
	number := func(into *float64, names ...string) {
		for _, n := range names {
			if x, ok := m[n].(float64); ok {
				*into = x
				return
			}
		}
	}
	number(&c.NormEps, "rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps")
	number(&c.RopeTheta, "rope_theta")
	if r, ok := m["rope_parameters"].(map[string]any); ok && c.RopeTheta == 0 {
		c.RopeTheta, _ = r["rope_theta"].(float64)
	}
	if c.TiedEmbed = c.Family == "gpt2" || c.Family == "gemma"; m["tie_word_embeddings"] != nil {
		c.TiedEmbed, _ = m["tie_word_embeddings"].(bool)
	}
	for _, n := range []string{"dtype", "torch_dtype"} {
		if s, ok := m[n].(string); ok && c.DType == "" {
			c.DType = s
		}
	}
	if c.Layers == 0 || c.Width == 0 || c.Heads == 0 {
		fail(op, &ConfigError{path, fmt.Sprintf("no decoder of family %q: layers %d, width %d, heads %d", c.Family, c.Layers, c.Width, c.Heads)})
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	if c.HeadWidth == 0 {
		c.HeadWidth = c.Width / c.Heads
	}
	if c.FFNWidth == 0 {
		c.FFNWidth = 4 * c.Width
	}
	return c
}
