package interp

import (
	"errors"
	"reflect"
)

// The errors functions look for methods of errors, which native code does not
// see on types of cells: these forms ask the registry, too.

func (r *registry) errorsUnwrap(err error) error {
	if err == nil {
		return nil
	}
	if next, ok := r.unwrapOnce(err); ok {
		return next
	}
	next := errors.Unwrap(err)
	if p, ok := next.(printedError); ok {
		return p.err
	}
	return next
}

// unwrapOnce calls the Unwrap method of a cell's type.
func (r *registry) unwrapOnce(err error) (error, bool) {
	out, ok := r.call(reflect.ValueOf(unwrap(err)), "Unwrap")
	if !ok || len(out) != 1 || out[0].Kind() != reflect.Interface {
		return nil, false
	}
	next, _ := out[0].Interface().(error)
	return next, true
}

// chain visits an error and all that it wraps, until visit says true.
func (r *registry) chain(err error, visit func(error) bool) bool {
	for err != nil {
		if p, ok := err.(printedError); ok {
			err = p.err
		}
		if visit(err) {
			return true
		}
		if next, ok := r.unwrapOnce(err); ok {
			err = next
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
	return r.chain(err, func(e error) bool {
		if canCompare(e, target) && equal(e, target) {
			return true
		}
		if out, ok := r.call(reflect.ValueOf(unwrap(e)), "Is", reflect.ValueOf(target)); ok {
			return out[0].Bool()
		}
		m, ok := e.(interface{ Is(error) bool })
		return ok && m.Is(target)
	})
}

func canCompare(a, b any) bool {
	ta, tb := reflect.TypeOf(unwrap(a)), reflect.TypeOf(unwrap(b))
	return ta == tb && ta.Comparable()
}

func (r *registry) errorsAs(err error, target any) bool {
	if err == nil {
		return false
	}
	p := reflect.ValueOf(target)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		panic("errors: target must be a non-nil pointer")
	}
	dst := p.Elem()
	return r.chain(err, func(e error) bool {
		v := reflect.ValueOf(unwrap(e))
		if v.Type().AssignableTo(dst.Type()) {
			dst.Set(v)
			return true
		}
		if w := reflect.ValueOf(e); w.Type().AssignableTo(dst.Type()) {
			dst.Set(w)
			return true
		}
		if out, ok := r.call(v, "As", p); ok {
			return out[0].Bool()
		}
		m, ok := e.(interface{ As(any) bool })
		return ok && m.As(target)
	})
}
