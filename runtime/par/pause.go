package par

// Pause tells the processor that its caller waits in a loop for another core:
// some 40 ns on x86-64, in which a sibling thread of the core runs alone.
func Pause() { pause() }
