package worker

import (
	"encoding/json"
	"io"
	"os"
	"runtime/debug"

	"github.com/tpush/tpush/runtime/stdpipe"
)

// The files that a plug-in process inherits.
const (
	arraysFD = 3 + iota
	requestsFD
)

// Child is the whole of a plug-in process: it takes standard input and output
// away, so that a print of native code goes to standard error, and serves the
// rings. Standard input ends with the parent.
func Child(plugin, create string) error {
	var options map[string]any
	if err := json.Unmarshal([]byte(create), &options); err != nil {
		return err
	}
	for k, v := range options {
		if f, ok := v.(float64); ok {
			options[k] = int64(f)
		}
	}
	// The heap of Go is next to nothing here, and what the collector would let it
	// grow by is more than all that native code holds for 1,000 programs.
	debug.SetGCPercent(10)
	parent, out, err := stdpipe.Claim()
	if err != nil {
		return err
	}
	defer out.Close()
	shared, err := mapShared(os.NewFile(arraysFD, "arrays"), sharedBytes)
	if err != nil {
		return err
	}
	l, err := mapLink(os.NewFile(requestsFD, "requests"))
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, parent)
		l.end()
	}()
	return Serve(l.requests, l.replies, shared, plugin, options)
}
