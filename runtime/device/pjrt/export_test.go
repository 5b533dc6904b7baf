package pjrt

// CompileText compiles a module and forgets it.
func CompileText(d *Device, text string) error {
	w, err := d.worker()
	if err != nil {
		return err
	}
	p, err := d.compile(w, text)
	if err == nil {
		p.Drop()
	}
	return err
}
