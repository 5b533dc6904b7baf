package store

import (
	"encoding/json"
	"os"
)

// An Output is what a cell showed when it ran.
type Output struct {
	Source string            `json:"source"` // of the cell as it ran
	Count  int               `json:"execution_count"`
	Status string            `json:"status"`
	Stdout string            `json:"stdout,omitempty"`
	Stderr string            `json:"stderr,omitempty"`
	Data   map[string]string `json:"data,omitempty"`  // the shown value, by media type
	Error  []string          `json:"error,omitempty"` // lines
	WallNS int64             `json:"wall_ns"`
	// DeviceNS is simulated time.
	DeviceNS      int64 `json:"device_ns"`
	HBMDeltaBytes int64 `json:"hbm_delta_bytes"`
	Launches      int64 `json:"launches"`
}

// outputsFile is the form of a sidecar.
type outputsFile struct {
	Version int      `json:"version"`
	Outputs []Output `json:"outputs"`
}

const outputsVersion = 1

// Sidecar is where the outputs of a notebook are kept: beside it.
func Sidecar(path string) string { return path + ".out" }

// SaveOutputs writes the outputs of the notebook at path; none removes the file.
func SaveOutputs(path string, list []Output) error {
	if len(list) == 0 {
		if err := os.Remove(Sidecar(path)); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	b, err := json.MarshalIndent(outputsFile{outputsVersion, list}, "", " ")
	if err != nil {
		return err
	}
	return write(Sidecar(path), 0o644, append(b, '\n'))
}

// LoadOutputs reads the outputs of a notebook. What is missing, of another
// version or no sidecar at all gives none: outputs can be made again.
func LoadOutputs(path string) []Output {
	b, err := read(Sidecar(path))
	if err != nil {
		return nil
	}
	var f outputsFile
	if json.Unmarshal(b, &f) != nil || f.Version != outputsVersion {
		return nil
	}
	return f.Outputs
}
