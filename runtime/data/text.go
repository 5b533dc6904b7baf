package data

import (
	"fmt"
	"os"
	"sort"

	"github.com/tpush/tpush/runtime/checkpoint"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// Text reads a file as text.
func Text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		panic(&tpu.Error{Op: "text", Err: err})
	}
	return string(b)
}

// A RuneError says that a vocabulary lacks a character, or a number has none.
type RuneError struct {
	Position int // in the text, in characters, or in the list of numbers
	What     string
}

// Error names the place.
func (e *RuneError) Error() string {
	return fmt.Sprintf("vocabulary: position %d: %s", e.Position, e.What)
}

// A Vocab numbers the characters of a text, in the order of their code points.
type Vocab struct {
	runes []rune
	ids   map[rune]int
}

// NewVocab makes the vocabulary of a text.
func NewVocab(text string) *Vocab {
	v := &Vocab{ids: map[rune]int{}}
	for _, r := range text {
		if _, ok := v.ids[r]; !ok {
			v.ids[r] = 0
			v.runes = append(v.runes, r)
		}
	}
	sort.Slice(v.runes, func(i, j int) bool { return v.runes[i] < v.runes[j] })
	for i, r := range v.runes {
		v.ids[r] = i
	}
	return v
}

// Size is the number of characters.
func (v *Vocab) Size() int { return len(v.runes) }

// Encode gives the numbers of a text's characters: i64[n].
func (v *Vocab) Encode(text string) *tpu.Tensor {
	out := []int64{}
	for _, r := range text {
		id, ok := v.ids[r]
		if !ok {
			panic(&tpu.Error{Op: "encode", Err: &RuneError{len(out), fmt.Sprintf("%q is not in it", r)}})
		}
		out = append(out, int64(id))
	}
	return tpu.From(out)
}

// Decode gives the text of numbers; it reads the tensor.
func (v *Vocab) Decode(ids *tpu.Tensor) string {
	var out []rune
	for i, id := range ids.Ints() {
		if id < 0 || id >= len(v.runes) {
			panic(&tpu.Error{Op: "decode", Err: &RuneError{i, fmt.Sprintf("%d is none of its %d numbers", id, len(v.runes))}})
		}
		out = append(out, v.runes[id])
	}
	return string(out)
}

// Windows draws count places in ids and gives the n numbers from each on, and
// the n numbers one later, which a language model is to foretell: [count,n] both.
func Windows(ids *tpu.Tensor, count, n int) (x, y *tpu.Tensor) {
	last := ids.Size() - n
	if ids.Rank() != 1 || n < 1 || last < 1 {
		panic(&tpu.Error{Op: "windows", Err: &shape.ArgumentError{Op: "windows", Arg: "n", Value: n, Why: fmt.Sprintf("windows of it and one more do not fit into %v", ids.Spec())}})
	}
	at := tpu.I64.RandInt(0, last, count, 1).Add(tpu.I64.Arange(n))
	return ids.Index(at), ids.Index(at.Add(1))
}

// Safetensors reads all tensors of a safetensors file, an index of several, or
// a directory that holds one.
func Safetensors(path string) map[string]*tpu.Tensor { return checkpoint.Load(path) }
