package exec

// program is the mode of a compiled function's body: one region, no reads.
var program = &Mode{
	Name: "compiled", Title: "Compiled", Doc: "the body of a compiled function is one program",
	Level: Compiled.Level,
}

// BeginProgram starts collecting the operations of a compiled function: until
// EndProgram nothing is launched and reads are refused. What is queued
// already is launched first. Programs nest; only the outermost counts.
func (d *Dispatcher) BeginProgram() error {
	d.lock()
	defer d.unlock()
	d.programs++
	if d.programs > 1 {
		return nil
	}
	err := d.cut(ReasonCompiledCall, false)
	d.outside, d.mode = d.mode, program
	d.capturing = true
	return err
}

// Replaced notes that a write of the program replaced v, which nobody else will
// read: a mode that donates may reuse its HBM when the program is launched.
func (d *Dispatcher) Replaced(v *Value) {
	d.lock()
	defer d.mu.Unlock()
	if d.programs > 0 && (d.outside.Donate || d.outside.PerCell) && v.buf != nil && v.kept == 0 && v.pins == 0 && v.holders <= 1 {
		v.replaced = true
		d.replaced = append(d.replaced, v)
	}
}

func (d *Dispatcher) forgetReplaced() {
	for _, v := range d.replaced {
		v.replaced = false
	}
	clear(d.replaced)
	d.replaced = d.replaced[:0]
}

// EndProgram launches what was collected as one region whose outputs are the
// results and what the program reaches otherwise.
func (d *Dispatcher) EndProgram(results ...*Value) error {
	d.lock()
	defer d.unlock()
	d.programs--
	if d.programs > 0 {
		return nil
	}
	d.capturing = false
	d.onlyRequested = d.roots == nil
	var want []*Value
	for _, v := range results {
		if v.buf == nil && v.node != nil {
			want = append(want, v)
		}
	}
	var err error
	if len(d.queue) > 0 || len(want) > 0 {
		err = d.cut(ReasonCompiledCall, true, want...)
	}
	d.onlyRequested = false
	d.forgetReplaced()
	if err != nil {
		d.recording = nil
	}
	if d.outside.Wait {
		d.clock.Wait(d.dev.Chip().SyncNS)
	}
	d.mode = d.outside
	return err
}

// Capturing says whether operations are being collected for a compiled function,
// so that nothing can be read.
func (d *Dispatcher) Capturing() bool {
	d.lock()
	defer d.unlock()
	return d.capturing
}

// AbortProgram forgets what was collected: the function failed. Its values
// keep their recipes.
func (d *Dispatcher) AbortProgram() {
	d.lock()
	defer d.unlock()
	d.programs--
	if d.programs > 0 {
		return
	}
	d.capturing, d.recording = false, nil
	d.forgetReplaced()
	for _, n := range d.queue {
		n.queued = false
	}
	d.queue = nil
	d.mode = d.outside
}

// InProgram says whether a compiled function's operations are being collected.
func (d *Dispatcher) InProgram() bool { return d.programs > 0 }
