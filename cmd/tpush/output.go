package main

import (
	"errors"
	"io"
	"syscall"
)

// An outputWriter remembers the first failure of writing standard output, such
// as a full disk: what was lost must show in the exit code.
type outputWriter struct {
	w   io.Writer
	err error
}

// Write passes b on until a write fails.
func (o *outputWriter) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	if err != nil {
		o.err = err
	}
	return n, err
}

// failure is what was lost, nil when the reader merely went away.
func (o *outputWriter) failure() error {
	if errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return o.err
}
