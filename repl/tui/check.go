package tui

// A checked is what the kernel said of the text as it was.
type checked struct {
	version uint64
	text    string
}
