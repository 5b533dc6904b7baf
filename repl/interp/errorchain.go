package interp

import (
	"errors"
	"go/types"
	"reflect"
)

// The errors functions look for methods of errors, which native code does not
// see on types of cells: these forms know them.

func (r *registry) errorsUnwrap(err error) error {
	x := r.in.unwrapGo(err)
	if _, ok := x.(box); ok {
		return r.next(x)
	}
	next := errors.Unwrap(err)
	if p, ok := next.(printedError); ok {
		return p.err
	}
	return next
}

// next calls the Unwrap method of a cell's value.
func (r *registry) next(x any) error {
	out, ok := r.in.callAny(x, "Unwrap")
	if !ok || len(out) != 1 || out[0] == nil {
		return nil
	}
	if b, ok := out[0].(box); ok && r.in.machine.types.byID(b.ID).class == clsSlice {
		return nil
	}
	return r.in.asError(out[0])
}

// several calls an Unwrap method that gives a slice.
func (r *registry) several(x any) (list []error) {
	out, ok := r.in.callAny(x, "Unwrap")
	if !ok || len(out) != 1 {
		return nil
	}
	v := reflect.ValueOf(unwrap(out[0]))
	if !v.IsValid() || v.Kind() != reflect.Slice {
		return nil
	}
	for i := range v.Len() {
		list = append(list, r.in.asError(v.Index(i).Interface()))
	}
	return list
}

// chain visits an error and all that it wraps, until visit says true.
func (r *registry) chain(err error, visit func(x any) bool) bool {
	for err != nil {
		if p, ok := err.(printedError); ok {
			err = p.err
		}
		x := r.in.unwrapGo(err)
		if visit(x) {
			return true
		}
		if _, ok := x.(box); ok {
			if list := r.several(x); list != nil {
				for _, e := range list {
					if r.chain(e, visit) {
						return true
					}
				}
				return false
			}
			err = r.next(x)
			continue
		}
		if m, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range m.Unwrap() {
				if r.chain(e, visit) {
					return true
				}
			}
			return false
		}
		err = errors.Unwrap(err)
	}
	return false
}

func (r *registry) errorsIs(err, target error) bool {
	if err == nil || target == nil {
		return err == target
	}
	want := r.in.unwrapGo(target)
	return r.chain(err, func(x any) bool {
		return r.same(x, want) || r.is(x, want)
	})
}

// same is == on errors that may not be comparable.
func (r *registry) same(x, y any) bool {
	a, ok := x.(box)
	b, ok2 := y.(box)
	if ok != ok2 {
		return false
	}
	if ok {
		return a.ID == b.ID && r.in.machine.types.byID(a.ID).comparable && x == y
	}
	t := reflect.TypeOf(x)
	return t == reflect.TypeOf(y) && t.Comparable() && x == y
}

// is asks an error's own Is method.
func (r *registry) is(x, target any) bool {
	if _, ok := x.(box); ok {
		out, ok := r.in.callAny(x, "Is", target)
		yes, _ := first(out).(bool)
		return ok && yes
	}
	m, ok := x.(interface{ Is(error) bool })
	return ok && m.Is(r.in.asError(target))
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (r *registry) errorsAs(err error, target any) bool {
	m := r.in.machine
	var et *typ // what the target points to
	p := reflect.ValueOf(unwrap(target))
	if p.Kind() != reflect.Pointer || p.IsNil() {
		panic("errors: target must be a non-nil pointer")
	}
	if b, ok := target.(box); ok {
		et = m.types.of(m.types.byID(b.ID).u.(*types.Pointer).Elem())
	}
	if err == nil {
		return false
	}
	return r.chain(err, func(x any) bool {
		if et != nil {
			if m.tester(et)(x) {
				et.put(p.UnsafePointer(), x)
				return true
			}
		} else if _, ok := x.(box); !ok {
			if v := reflect.ValueOf(x); v.Type().AssignableTo(p.Elem().Type()) {
				p.Elem().Set(v)
				return true
			}
		}
		if _, ok := x.(box); ok {
			out, ok := r.in.callAny(x, "As", target)
			yes, _ := first(out).(bool)
			return ok && yes
		}
		a, ok := x.(interface{ As(any) bool })
		return ok && a.As(target)
	})
}
