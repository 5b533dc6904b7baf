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

// Forget drops what is known of all launches.
func (d *Device) Forget() {
	for len(d.journal.all) > 0 {
		d.journal.forget()
	}
}
