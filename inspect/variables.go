package inspect

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tpush/tpush/viz"
)

// Variables are what a session holds by name.
type Variables struct {
	Rows     []Variable `json:"rows"`      // by name
	HBMBytes int64      `json:"hbm_bytes"` // of tensors, each block once
	// Before says that a cell runs: the rows are as they were before it began.
	Before bool `json:"before,omitempty"`
	// Detail is the variable that was asked for, when it is a tensor.
	Detail *Tensor `json:"detail,omitempty"`
}

// A Variable is one name.
type Variable struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // as the user writes it; of a tensor f32[2,3]
	Tensor   bool   `json:"tensor,omitempty"`
	HBMBytes int64  `json:"hbm_bytes,omitempty"`
	State    string `json:"state,omitempty"` // of a tensor: ready, deferred, …
	Text     string `json:"text,omitempty"`  // of a Go value
	Place    string `json:"place,omitempty"` // where a tensor was made
	Cell     int    `json:"cell"`            // that declared it; of a tensor, that made it
	Line     int    `json:"line,omitempty"`
	Op       uint64 `json:"op,omitempty"`    // that made it
	Group    uint64 `json:"group,omitempty"` // that computed it, or will
	Value    uint64 `json:"value,omitempty"`
	Address  int64  `json:"address"` // of its block, -1 when it has none
}

// What says where a tensor is in its life, or what a Go value is: pending in g3.
func (v *Variable) What() string {
	switch {
	case !v.Tensor:
		return v.Text
	case v.Group == 0:
		return v.State
	case v.State == "deferred":
		return "pending in g" + strconv.FormatUint(v.Group, 10)
	}
	return v.State + " g" + strconv.FormatUint(v.Group, 10)
}

// Floats are numbers that JSON can carry: nan, inf and -inf are strings.
type Floats []float64

// MarshalJSON implements json.Marshaler.
func (f Floats) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(f)+2)
	b = append(b, '[')
	for i, v := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFloat(b, v)
	}
	return append(b, ']'), nil
}

func appendFloat(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendQuote(b, viz.Number(v))
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Floats) UnmarshalJSON(data []byte) error {
	var list []Float
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*f = make(Floats, len(list))
	for i, v := range list {
		(*f)[i] = float64(v)
	}
	return nil
}

// A Float is one number that JSON can carry.
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) { return appendFloat(nil, float64(f)), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (f *Float) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err != nil {
		return fmt.Errorf("inspect: number %s: %w", data, err)
	}
	*f = Float(v)
	return nil
}

// VariablesArgs ask for variables.
type VariablesArgs struct {
	Detail string `json:"detail,omitempty"` // the variable to look into
	Slice  string `json:"slice,omitempty"`  // of it, as in Python: 0, :, 2:8
}

// From says where a variable comes from: the line that made a tensor, or the
// cell that declared it.
func (v *Variable) From() string {
	if v.Place != "" {
		return v.Place
	}
	return "In[" + strconv.Itoa(v.Cell) + "]"
}
