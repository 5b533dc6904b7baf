//go:build !linux && !darwin

package sim

// physicalBytes is a guess where the system is not asked.
func physicalBytes() int64 { return fallbackBytes }
