// Package conformance reads recordings of other implementations and compares
// results with them. A recording is a file of JSON objects, one a line; each
// is one call with its inputs, attributes and results.
//
// It runs operations only through the rows of op, one kernel at a time. It
// imports dtype, shape, kernel and op.
// Invariant: reading loses nothing: integers are not read through floats, and
// NaN, infinities and the sign of zero survive.
package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A Record is one recorded call.
type Record struct {
	ID, Op, Torch string
	Note, Source  string
	Inputs        []Operand
	Attrs         map[string]any // int, float64, bool, string, nil, []any, map[string]any
	Outputs       []Operand
	Cotangents    []Operand // one per output, None where there is none
	Grads         []Operand // one per input
	NoGradInputs  []int
	Exact         bool // every output must be equal
	SignedZero    bool // the sign of zero counts
	Subnormal     bool // a device that flushes subnormals skips it
	Tol, GradTol  Tol
	XLATol        Tol            // what a real XLA back end may be granted
	Extra         map[string]any // every other field, decoded like Attrs
}

// Kind says what an Operand is.
type Kind uint8

// The kinds of operands.
const (
	None    Kind = iota // absent
	Tensor              // Array
	Scalar              // Number, a Go number: int, float64 or bool; Array is the weak 0-d array
	String              // Str
	List                // Items
	Foreign             // a tensor of a format that the runtime does not have; Str names it
)

// An Operand is one argument or result.
type Operand struct {
	Kind   Kind
	Array  kernel.Array
	Number any
	Str    string
	Items  []Operand
	Layout *shape.View // strides and offset that the result must have; nil: not recorded
	Alias  *int        // position of the input whose storage the result shares
}

// Tol is how far a result may be off: |got - want| ≤ ATol + RTol·|want|.
type Tol struct {
	RTol float64 `json:"rtol"`
	ATol float64 `json:"atol"`
	// SignedZero makes 0 and -0 differ.
	SignedZero bool `json:"-"`
}

// A FormatError says which line of a file is no record.
type FormatError struct {
	File string
	Line int
	Err  error
}

// Error names file and line.
func (e *FormatError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap gives the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// ReadFile reads all records of a file.
func ReadFile(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads all records of r; name is used in errors.
func Read(r io.Reader, name string) ([]Record, error) {
	var recs []Record
	br := bufio.NewReaderSize(r, 1<<20)
	for line := 1; ; line++ {
		b, err := br.ReadBytes('\n')
		if len(bytes.TrimSpace(b)) > 0 {
			rec, perr := parse(b)
			if perr != nil {
				return nil, &FormatError{name, line, perr}
			}
			recs = append(recs, rec)
		}
		if err == io.EOF {
			return recs, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Find looks for the folder of recordings named name: shared/NAME beside the
// checkout that dir lies in. ok is false when there is none.
func Find(dir, name string) (path string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		p := filepath.Join(dir, "shared", name)
		if st, err := os.Stat(p); err == nil && st.IsDir() {
			return p, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

func parse(line []byte) (Record, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return Record{}, err
	}
	r := Record{Extra: map[string]any{}}
	for k, v := range m {
		var err error
		if _, ok := v.(map[string]any); ok && k != "attrs" && !strings.HasSuffix(k, "tol") {
			r.Extra[k] = plain(v) // the named inputs, outputs and gradients of a whole model
			continue
		}
		switch k {
		case "id":
			r.ID, _ = v.(string)
		case "op":
			r.Op, _ = v.(string)
		case "torch":
			r.Torch, _ = v.(string)
		case "note":
			r.Note, _ = v.(string)
		case "source":
			r.Source, _ = v.(string)
		case "inputs":
			r.Inputs, err = operands(v)
		case "outputs":
			r.Outputs, err = operands(v)
		case "cotangents":
			r.Cotangents, err = operands(v)
		case "grads":
			r.Grads, err = operands(v)
		case "attrs":
			r.Attrs, _ = plain(v).(map[string]any)
		case "no_grad_inputs":
			for _, x := range plain(v).([]any) {
				i, _ := x.(int)
				r.NoGradInputs = append(r.NoGradInputs, i)
			}
		case "exact":
			r.Exact, _ = v.(bool)
		case "signed_zero":
			r.SignedZero, _ = v.(bool)
		case "subnormal":
			r.Subnormal, _ = v.(bool)
		case "tol":
			r.Tol = tol(v)
		case "grad_tol":
			r.GradTol = tol(v)
		case "xla_tol":
			r.XLATol = tol(v)
		default:
			r.Extra[k] = plain(v)
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", k, err)
		}
	}
	r.Tol.SignedZero = r.SignedZero
	return r, nil
}

func tol(v any) Tol {
	m, _ := plain(v).(map[string]any)
	f := func(k string) float64 {
		switch x := m[k].(type) {
		case float64:
			return x
		case int:
			return float64(x)
		}
		return 0
	}
	return Tol{RTol: f("rtol"), ATol: f("atol")}
}

// plain turns JSON numbers into int or float64, and the strings that stand for
// floats JSON cannot write into those.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case string:
		if f, ok := special(v); ok {
			return f
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = plain(x)
		}
		return out
	}
	return v
}

func number(n json.Number) any {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i
	}
	f, _ := n.Float64() // an overflow gives the infinity
	return f
}

func special(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

func operands(v any) ([]Operand, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("a list is wanted, not %T", v)
	}
	out := make([]Operand, len(list))
	for i, x := range list {
		o, err := Decode(x)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out[i] = o
	}
	return out, nil
}

// Decode makes an operand of a JSON value that was decoded with UseNumber.
func Decode(v any) (Operand, error) {
	switch v := v.(type) {
	case nil:
		return Operand{}, nil
	case []any:
		items, err := operands(v)
		return Operand{Kind: List, Items: items}, err
	case json.Number, float64, int, bool:
		return scalar(plain(v)), nil
	case string:
		if f, ok := special(v); ok {
			return scalar(f), nil
		}
		return Operand{Kind: String, Str: v}, nil
	case map[string]any:
		if s, ok := v["string"].(string); ok {
			return Operand{Kind: String, Str: s}, nil
		}
		if _, ok := v["scalar"]; ok {
			x := plain(v["value"])
			if i, ok := x.(int); ok && v["scalar"] == "float" {
				x = float64(i)
			}
			return scalar(x), nil
		}
		if _, ok := v["dtype"]; ok {
			return tensor(v)
		}
		if s, ok := v["value"].(string); ok { // {"python": "dtype", "value": …}
			return Operand{Kind: String, Str: s}, nil
		}
	}
	return Operand{}, fmt.Errorf("%v is no operand", v)
}

func scalar(x any) Operand {
	o := Operand{Kind: Scalar, Number: x}
	a := kernel.Array{}
	switch x := x.(type) {
	case float64:
		a = kernel.New(shape.Of(dtype.F64))
		kernel.As[float64](a.Buf)[0] = x
	case int:
		a = kernel.New(shape.Of(dtype.I64))
		kernel.As[int64](a.Buf)[0] = int64(x)
	case bool:
		a = kernel.New(shape.Of(dtype.Bool))
		if x {
			a.Buf[0] = 1
		}
	}
	a.Weak = true
	o.Array = a
	return o
}

func ints(v any) ([]int, error) {
	list, ok := plain(v).([]any)
	if !ok {
		return nil, fmt.Errorf("a list of integers is wanted, not %T", v)
	}
	out := make([]int, len(list))
	for i, x := range list {
		if out[i], ok = x.(int); !ok {
			return nil, fmt.Errorf("%v is no integer", x)
		}
	}
	return out, nil
}

func tensor(m map[string]any) (Operand, error) {
	name, _ := m["dtype"].(string)
	t, ok := dtype.Parse(name)
	if !ok || name == "f8e4m3" { // the recordings mean IEEE's e4m3, not the finite one
		o := Operand{Kind: Foreign, Str: name}
		if data, dense := m["data"].([]any); dense { // its values, exactly
			dims, err := ints(m["shape"])
			if err != nil {
				return o, err
			}
			o.Array = kernel.New(shape.Of(dtype.F64, len(data)))
			if err := fill(o.Array, data); err != nil {
				o.Array = kernel.Array{}
				return o, nil // complex numbers
			}
			o.Array.View = shape.Dense(dims)
		}
		return o, nil
	}
	dims, err := ints(m["shape"])
	if err != nil {
		return Operand{}, err
	}
	data, dense := m["data"].([]any)
	if !dense {
		if data, ok = m["storage"].([]any); !ok {
			return Operand{}, fmt.Errorf("a tensor has neither data nor storage")
		}
	}
	a := kernel.New(shape.Of(t, len(data)))
	if err := fill(a, data); err != nil {
		return Operand{}, err
	}
	o := Operand{Kind: Tensor}
	if dense {
		if len(data) != shape.Size(dims) {
			return Operand{}, fmt.Errorf("%d numbers for a shape of %v", len(data), dims)
		}
		a.View = shape.Dense(dims)
	} else {
		a.View.Dims = dims
		if a.Strides, err = ints(m["strides"]); err != nil {
			return Operand{}, err
		}
		a.Offset, _ = plain(m["offset"]).(int)
	}
	o.Array = a
	if l, ok := m["layout"].(map[string]any); ok {
		st, err := ints(l["strides"])
		if err != nil {
			return Operand{}, err
		}
		off, _ := plain(l["offset"]).(int)
		o.Layout = &shape.View{Dims: dims, Strides: st, Offset: off}
	}
	if i, ok := plain(m["alias"]).(int); ok {
		o.Alias = &i
	}
	return o, nil
}

// fill writes JSON numbers into the dense array a.
func fill(a kernel.Array, data []any) error {
	n := len(data)
	switch kernel.Class(a.DType) {
	case dtype.I64:
		tmp := kernel.New(shape.Of(dtype.I64, n))
		for i, x := range data {
			v, err := strconv.ParseInt(fmt.Sprint(x), 10, 64)
			if err != nil {
				return err
			}
			kernel.As[int64](tmp.Buf)[i] = v
		}
		kernel.Convert(a, tmp)
	case dtype.U64:
		tmp := kernel.New(shape.Of(dtype.U64, n))
		for i, x := range data {
			s := fmt.Sprint(x)
			if b, ok := x.(bool); ok {
				s = map[bool]string{false: "0", true: "1"}[b]
			}
			v, err := strconv.ParseUint(s, 10, 64)
			if err != nil {
				return err
			}
			kernel.As[uint64](tmp.Buf)[i] = v
		}
		kernel.Convert(a, tmp)
	case dtype.C64, dtype.C128:
		return fmt.Errorf("complex numbers are not recorded")
	default:
		tmp := kernel.New(shape.Of(dtype.F64, n))
		for i, x := range data {
			var v float64
			switch x := x.(type) {
			case json.Number:
				v, _ = x.Float64()
			case float64:
				v = x
			case int:
				v = float64(x)
			case string:
				var ok bool
				if v, ok = special(x); !ok {
					return fmt.Errorf("%q is no number", x)
				}
			default:
				return fmt.Errorf("%v is no number", x)
			}
			kernel.As[float64](tmp.Buf)[i] = v
		}
		kernel.Convert(a, tmp)
	}
	return nil
}
