// Package nn has layers: plain structs that hold parameters and a Forward
// method. A model is any struct of layers, tensors, slices and maps.
//
// It never trains and keeps no state of its own. It imports tpu only.
// Invariant: what Params lists depends on the model's fields alone, in their order.
package nn

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"unicode"
	"unsafe"

	"github.com/tpush/tpush/runtime/tpu"
)

// A Named is a tensor of a model and its path: blocks.3.attn.wq.
type Named struct {
	Name   string
	Tensor *tpu.Tensor
}

// Params lists the tensors of a model that require gradients, each once.
func Params(model any) []*tpu.Tensor {
	var ts []*tpu.Tensor
	for _, p := range NamedParams(model) {
		ts = append(ts, p.Tensor)
	}
	return ts
}

// NamedParams is Params with paths.
func NamedParams(model any) []Named { return filter(model, true) }

// Buffers lists the other tensors of a model, such as running statistics, with their paths.
func Buffers(model any) []Named { return filter(model, false) }

func filter(model any, params bool) []Named {
	var out []Named
	Visit(model, func(path string, t *tpu.Tensor) {
		if t.RequiresGrad() == params {
			out = append(out, Named{path, t})
		}
	})
	return out
}

// Size is the number of numbers in a model's parameters.
func Size(model any) int {
	n := 0
	for _, t := range Params(model) {
		n += t.Size()
	}
	return n
}

// ZeroGrad forgets the gradients of a model's parameters.
func ZeroGrad(model any) {
	for _, t := range Params(model) {
		t.ZeroGrad()
	}
}

// Visit calls f with every tensor a model leads to, in the order of its
// fields, and its path. A tensor reached twice is visited once.
func Visit(model any, f func(path string, t *tpu.Tensor)) {
	v := &visitor{tensor: f, seen: map[unsafe.Pointer]bool{}}
	v.visit("", reflect.ValueOf(model))
}

type visitor struct {
	tensor func(string, *tpu.Tensor)
	layer  func(any) // called with a pointer to every struct; may be nil
	seen   map[unsafe.Pointer]bool
}

var tensorType = reflect.TypeFor[*tpu.Tensor]()

func (v *visitor) visit(path string, x reflect.Value) {
	switch x.Kind() {
	case reflect.Pointer:
		if x.IsNil() || v.seen[x.UnsafePointer()] {
			return
		}
		v.seen[x.UnsafePointer()] = true
		if x.Type() == tensorType {
			if v.tensor != nil {
				v.tensor(path, (*tpu.Tensor)(x.UnsafePointer()))
			}
			return
		}
		if v.layer != nil && x.Elem().Kind() == reflect.Struct && x.CanInterface() {
			v.layer(x.Interface())
		}
		v.visit(path, x.Elem())
	case reflect.Interface:
		if !x.IsNil() {
			v.visit(path, x.Elem())
		}
	case reflect.Struct:
		for i := range x.NumField() {
			f, t := x.Field(i), x.Type().Field(i)
			if !t.IsExported() && f.CanAddr() {
				f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
			}
			if f.Kind() == reflect.Struct && f.CanAddr() {
				f = f.Addr()
			}
			name := join(path, lower(t.Name))
			if t.Anonymous {
				name = path
			}
			v.visit(name, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range x.Len() {
			e := x.Index(i)
			if e.Kind() == reflect.Struct && e.CanAddr() {
				e = e.Addr()
			}
			v.visit(join(path, fmt.Sprint(i)), e)
		}
	case reflect.Map:
		keys := x.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
		for _, k := range keys {
			v.visit(join(path, fmt.Sprint(k)), x.MapIndex(k))
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// lower spells a field as a path element: WQ is wq, AttnNorm is attnNorm.
func lower(name string) string {
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	r := []rune(name)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}

// A trainer is a layer that behaves differently in training.
type trainer interface{ setTraining(on bool) }

// Train switches dropout and batch statistics of a model on; Eval switches them off.
func Train(model any) { setTraining(model, true) }

// Eval switches dropout and batch statistics of a model off.
func Eval(model any) { setTraining(model, false) }

func setTraining(model any, on bool) {
	v := &visitor{seen: map[unsafe.Pointer]bool{}, layer: func(l any) {
		if t, ok := l.(trainer); ok {
			t.setTraining(on)
		}
	}}
	v.visit("", reflect.ValueOf(model))
}

// A StateError says that a state does not fit a model.
type StateError struct{ Name, Why string }

// Error names the tensor.
func (e *StateError) Error() string { return fmt.Sprintf("state: %s: %s", e.Name, e.Why) }

// State gives all tensors of a model by their paths.
func State(model any) map[string]*tpu.Tensor {
	m := map[string]*tpu.Tensor{}
	Visit(model, func(path string, t *tpu.Tensor) { m[path] = t })
	return m
}

// Load copies a state into a model; every tensor of the model must be there, in its shape.
func Load(model any, state map[string]*tpu.Tensor) {
	own := State(model)
	for name, t := range own {
		u := state[name]
		switch {
		case u == nil:
			panic(&tpu.Error{Op: "load", Err: &StateError{name, "it is missing"}})
		case fmt.Sprint(u.Dims()) != fmt.Sprint(t.Dims()):
			panic(&tpu.Error{Op: "load", Err: &StateError{name, fmt.Sprintf("it is %v, the model's is %v", u.Spec(), t.Spec())}})
		}
	}
	tpu.NoGrad(func() {
		for name, t := range own {
			t.CopyFrom(state[name])
		}
	})
}
