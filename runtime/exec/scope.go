package exec

// BeginScope says that the program gives back temporaries at the matching
// EndScope. Without a root walk nobody knows before then which of its values
// leave the scope: a cut by the loop rule would make all of them outputs.
func (d *Dispatcher) BeginScope() {
	d.lock()
	defer d.mu.Unlock()
	d.scopes++
}

// EndScope ends a scope whose temporaries were released, and makes the cut that
// waited for that.
func (d *Dispatcher) EndScope() error {
	d.lock()
	defer d.unlock()
	d.scopes--
	if !d.due {
		return nil
	}
	return d.cut(ReasonLoop, false)
}

// postpone lets a cut by the loop rule wait for the end of the running scope,
// and says whether it does. It waits for one turn of the loop at most, so that a
// loop inside a scope is still cut.
func (d *Dispatcher) postpone() bool {
	if d.scopes == 0 || d.roots != nil || d.due {
		return false
	}
	d.due = true
	return true
}
