package tpu

// Together runs f and launches its operations as one program, as a compiled
// function does: what f makes and nobody holds stays on chip, and values may not
// be read inside. f runs at each call. A mode that waits for each operation
// launches them alone.
func Together(f func()) {
	e := ambientEngine()
	if e.capture != nil || e.d.Mode().Wait {
		f()
		return
	}
	e.program(false, nil, nil, func([]*Tensor) []*Tensor {
		f()
		return nil
	})
}
