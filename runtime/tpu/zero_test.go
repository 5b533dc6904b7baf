package tpu

import (
	"reflect"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestZeroTensorIsShown prints tensors that nothing made.
func TestZeroTensorIsShown(t *testing.T) {
	if a, b := (*Tensor)(nil).String(), new(Tensor).String(); a != "<nil>" || b != "<zero tensor>" {
		t.Errorf("%q and %q", a, b)
	}
}

// TestZeroTensorIsRefused calls every method of tensors that nothing made:
// each is refused by the typed error, or is about the sizes alone.
func TestZeroTensorIsRefused(t *testing.T) {
	use(t, exec.Debug)
	typ := reflect.TypeFor[*Tensor]()
	for _, x := range []*Tensor{nil, {}} {
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			if m.Name == "String" { // shows such a tensor too
				continue
			}
			args := []reflect.Value{reflect.ValueOf(x)}
			for k := 1; k < m.Type.NumIn(); k++ {
				if m.Type.IsVariadic() && k == m.Type.NumIn()-1 {
					break
				}
				args = append(args, sample(m.Type.In(k)))
			}
			func() {
				defer func() {
					r := recover()
					e, ok := r.(*Error)
					if !ok {
						t.Errorf("%s of %v: panic %v", m.Name, x == nil, r)
						return
					}
					var unmade *UnmadeTensorError
					var none *NilTensorError
					if !asError(e, &unmade) && !asError(e, &none) {
						t.Errorf("%s of nil %v: %v", m.Name, x == nil, e)
					}
				}()
				m.Func.Call(args)
				panic("accepted")
			}()
		}
	}
}

// sample is a plausible argument of a type.
func sample(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[any]():
		return reflect.ValueOf(1.0)
	case reflect.TypeFor[*Tensor]():
		return reflect.ValueOf(Ones(2))
	case reflect.TypeFor[DType]():
		return reflect.ValueOf(F32)
	case reflect.TypeFor[[]int]():
		return reflect.ValueOf([]int{1})
	}
	return reflect.Zero(t)
}
