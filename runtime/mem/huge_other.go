//go:build !linux

package mem

// adviseHuge is for systems that wait to be asked for large pages.
func adviseHuge([]byte) {}
