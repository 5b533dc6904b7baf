//go:build !linux

package worker

// Child is the whole of a plug-in process.
func Child(_, _ string) error { return errLinux }
