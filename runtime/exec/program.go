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
	d.mu.Lock()
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

// EndProgram launches what was collected as one region whose outputs are the
// results and what the program reaches otherwise.
func (d *Dispatcher) EndProgram(results ...*Value) error {
	d.mu.Lock()
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
	if err != nil {
		d.recording = nil
	}
	if d.outside.Wait {
		d.clock.Wait(d.dev.Chip().SyncNS)
	}
	d.mode = d.outside
	return err
}

// AbortProgram forgets what was collected: the function failed. Its values
// keep their recipes.
func (d *Dispatcher) AbortProgram() {
	d.mu.Lock()
	defer d.unlock()
	d.programs--
	if d.programs > 0 {
		return
	}
	d.capturing, d.recording = false, nil
	for _, n := range d.queue {
		n.queued = false
	}
	d.queue = nil
	d.mode = d.outside
}

// InProgram says whether a compiled function's operations are being collected.
func (d *Dispatcher) InProgram() bool { return d.programs > 0 }
