package worker

import (
	"encoding/json"
	"os"

	"github.com/tpush/tpush/runtime/stdpipe"
)

// Child is the whole of a plug-in process: it takes standard input and output
// for the protocol, so that a print of native code cannot break it, and serves.
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
	in, out, err := stdpipe.Claim()
	if err != nil {
		return err
	}
	shared, err := MapShared(os.NewFile(3, "arrays"))
	if err != nil {
		return err
	}
	return Serve(in, out, shared, plugin, options)
}
