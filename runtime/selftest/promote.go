package selftest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
)

// sample makes a tensor of ones of a recorded type and kind.
func sample(t dtype.DType, kind string) *tpu.Tensor {
	if kind == "0d" {
		return tpu.DType(t).Full(1)
	}
	return tpu.DType(t).Full(1, 2)
}

// promotion checks the result types of one operation for one left operand.
func promotion(r *conformance.Record) error {
	of, _ := r.Attrs["of"].(string)
	left, _ := r.Attrs["left"].(string)
	lk, _ := r.Attrs["left_kind"].(string)
	rk, _ := r.Attrs["right_kind"].(string)
	results, _ := r.Extra["results"].(map[string]any)
	lt, ok := dtype.Parse(left)
	unary := strings.HasPrefix(of, "unary:")
	if !unary && !ok {
		panic(skip("element type " + left))
	}
	for right, w := range results {
		want := fmt.Sprint(w)
		got, err := resultType(of, lt, lk, right, rk)
		var refused *op.TypeError
		switch {
		case strings.HasPrefix(want, "error:not_implemented"):
		case unary && strings.HasPrefix(right, "c") && errors.As(err, &refused): // few functions take complex numbers
		case strings.HasPrefix(want, "error"):
			if err == nil {
				return fmt.Errorf("with %s: %s, want a refusal", right, got)
			}
		case err != nil:
			return fmt.Errorf("with %s: %w, want %s", right, err, want)
		case !sameName(got, want):
			return fmt.Errorf("with %s: %s, want %s", right, got, want)
		}
	}
	return nil
}

// sameName compares names of types; f8e4m3fn is the runtime's f8e4m3.
func sameName(got, want string) bool {
	g, ok := dtype.Parse(got)
	w, ok2 := dtype.Parse(want)
	return got == want || ok && ok2 && g == w
}

func resultType(of string, lt dtype.DType, lk, right, rk string) (got string, err error) {
	rt, _ := dtype.Parse(right)
	switch of {
	case "promote_types":
		d, err := dtype.Promote(lt, rt)
		return d.String(), err
	case "can_cast":
		return fmt.Sprint(dtype.CanCast(lt, rt)), nil
	}
	err = tpu.Try(func() {
		if name, ok := strings.CutPrefix(of, "unary:"); ok {
			got = unaryType(name, rt)
			return
		}
		x := sample(lt, lk)
		var y any
		switch {
		case rk != "python":
			y = sample(rt, rk)
		case right == "bool":
			y = true
		case right == "int":
			y = 1
		case right == "complex":
			y = complex(1, 0)
		default:
			y = 1.0
		}
		if of == "result_type" {
			var ops [2]dtype.Operand
			ops[0] = category(x)
			switch y := y.(type) {
			case *tpu.Tensor:
				ops[1] = category(y)
			case bool:
				ops[1] = dtype.Operand{DType: dtype.Bool}
			case int:
				ops[1] = dtype.Operand{DType: dtype.I64}
			case complex128:
				ops[1] = dtype.Operand{DType: dtype.C128}
			default:
				ops[1] = dtype.Operand{DType: dtype.F64}
			}
			d, err := dtype.ResultType(ops[:]...)
			if err != nil {
				panic(&tpu.Error{Op: of, Err: err})
			}
			got = d.String()
			return
		}
		var t *tpu.Tensor
		name, write := strings.CutSuffix(of, "_")
		switch {
		case write:
			t = tpu.InPlace(name, nil, x, y)
		case of == "where":
			t = tpu.Apply("where", nil, tpu.Bool.Full(true, x.Dims()...), x, y)[0]
		case of == "cat":
			t = tpu.Apply("cat", nil, x, y)[0]
		case of == "matmul":
			z, ok := y.(*tpu.Tensor)
			if !ok {
				panic(skip("matmul of a number"))
			}
			t = x.MatMul(z)
		default:
			if op.Lookup(op.Name(of)) == nil {
				panic(skip("no row " + of))
			}
			t = tpu.Apply(of, nil, x, y)[0]
		}
		got = t.DType().String()
	})
	return got, err
}

func category(t *tpu.Tensor) dtype.Operand {
	c := dtype.Dim
	if t.Rank() == 0 {
		c = dtype.ZeroDim
	}
	return dtype.Operand{DType: t.Spec().DType, Category: c}
}

// unaryType gives the type of the first result of a unary operation, with dim 0 where it wants one.
func unaryType(name string, d dtype.DType) string {
	x := tpu.DType(d).Full(1, 2)
	r := &conformance.Record{Op: name, Inputs: []conformance.Operand{{Kind: conformance.Tensor, Array: x.Array()}}}
	for _, n := range conformance.Rows(name) {
		if row := op.Lookup(n); row != nil {
			for _, p := range row.Params {
				if p.Name == "dim" && p.Kind == op.KInt && p.Default == nil {
					r.Attrs = map[string]any{"dim": 0}
				}
			}
			break
		}
	}
	return tensors{}.apply(r)[0].DType().String()
}
