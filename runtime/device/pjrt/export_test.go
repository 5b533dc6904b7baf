package pjrt

import "github.com/tpush/tpush/runtime/device/pjrt/capi"

// CompileText compiles a module and forgets it.
func CompileText(d *Device, text string) error {
	w, err := d.worker()
	if err != nil {
		return err
	}
	p, err := d.compile(w, text, capi.CompileOptions{})
	if err == nil {
		p.Drop()
	}
	return err
}
