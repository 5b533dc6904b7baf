package exec

// SetMeasure makes every launch of a real device wait and say how long it took,
// in the modes too that let launches run ahead.
func (d *Dispatcher) SetMeasure(on bool) {
	d.lock()
	defer d.mu.Unlock()
	d.measure = on
}

// Measuring gives what SetMeasure was told.
func (d *Dispatcher) Measuring() bool {
	d.lock()
	defer d.mu.Unlock()
	return d.measure
}
