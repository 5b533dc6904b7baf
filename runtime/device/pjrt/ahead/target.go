package ahead

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
)

// A Target is a TPU to compile for.
type Target struct {
	Chip     string // as device.Chip names it
	Topology string // as the compiler names it
	Devices  int    // of the topology
	// ClockHz turns the compiler's cycles into time. It says none of it.
	ClockHz float64
	// PeakFLOPs and HBMBytesPerSec are the roofline of the compiler's own
	// optimal_seconds, for one device.
	PeakFLOPs, HBMBytesPerSec float64
}

// A generation is a row of the table of targets.
type generation struct {
	chip       string
	number     int64  // by which an executable names its chip,
	variant    string // and this
	clockHz    float64
	peak       float64
	bandwidth  float64
	topologies []topology // the smallest first
}

type topology struct {
	name    string
	devices int
}

// generations is the table. Topology names and numbers of devices are what
// libtpu 0.0.52 accepts and answers. The rooflines are those that its
// optimal_seconds follows. The clocks are those at which the published peaks
// come out (a core of v5p runs at 1.75 GHz, of v7x at 2.2 GHz); the compiler's
// own peaks for these two fit 1.5 and 1.9 GHz.
var generations = []generation{
	{"v5e", 4, "lite", 1.5e9, 197e12, 737.7e9, []topology{{"v5e:1x1", 1}, {"v5e:1x2", 2}, {"v5e:2x2", 4}, {"v5e:2x4", 8}, {"v5e:4x4", 16}, {"v5e:8x8", 64}, {"v5e:16x16", 256}}},
	{"v5p", 4, "", 1.75e9, 394e12, 2350e9, []topology{{"v5p:1x1x1", 1}, {"v5p:2x2x1", 4}, {"v5p:2x2x2", 8}, {"v5p:2x2x4", 16}, {"v5p:4x4x4", 64}}},
	{"v6e", 5, "", 1.75e9, 918e12, 1638e9, []topology{{"v6e:1x1", 1}, {"v6e:1x2", 2}, {"v6e:2x2", 4}, {"v6e:2x4", 8}, {"v6e:4x4", 16}, {"v6e:8x8", 64}, {"v6e:16x16", 256}}},
	{"v7x", 6, "", 2.2e9, 996e12, 3686e9, []topology{{"tpu7x:1x1x1", 2}, {"tpu7x:2x2x1", 8}, {"tpu7x:2x2x2", 16}, {"tpu7x:4x4x4", 128}}},
}

// targetIn finds the chip that an executable is for; the zero Target when the
// table has none like it.
func targetIn(target []byte) Target {
	number, variant := hlo.ParseTarget(target)
	for _, g := range generations {
		if g.number == number && g.variant == variant {
			return Target{Chip: g.chip, ClockHz: g.clockHz, PeakFLOPs: g.peak, HBMBytesPerSec: g.bandwidth}
		}
	}
	return Target{}
}

// A TooManyError says that no topology has as many devices as a program wants.
type TooManyError struct {
	Chip       string
	Want, Have int
}

// Error gives both numbers.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("the program wants %d devices, the largest topology of %s here has %d", e.Want, e.Chip, e.Have)
}

// TargetOf gives the smallest topology of a chip with at least so many
// devices. The error is *device.UnknownChipError or *TooManyError.
func TargetOf(chip string, devices int) (Target, error) {
	c, err := device.LookupChip(chip)
	if err != nil {
		return Target{}, err
	}
	t := Target{Chip: c.Name}
	for _, g := range generations {
		if g.chip != c.Name {
			continue
		}
		t.ClockHz, t.PeakFLOPs, t.HBMBytesPerSec = g.clockHz, g.peak, g.bandwidth
		for _, top := range g.topologies {
			if t.Topology, t.Devices = top.name, top.devices; top.devices >= devices {
				return t, nil
			}
		}
	}
	return Target{}, &TooManyError{c.Name, devices, t.Devices}
}

// NS is the time of so many cycles.
func (t Target) NS(cycles int64) int64 {
	if t.ClockHz <= 0 {
		return 0
	}
	return int64(float64(cycles) / t.ClockHz * 1e9)
}

// A RefusedError says that a program was not sent because the compiler does
// not survive it.
type RefusedError struct{ Why string }

// Error gives the reason.
func (e *RefusedError) Error() string { return "not compiled: " + e.Why }

var (
	dynamicDims = regexp.MustCompile(`tensor<(\?|[0-9x]*x\?)x?`)
	partitions  = regexp.MustCompile(`mhlo\.num_partitions\s*=\s*(\d+)`)
	replicas    = regexp.MustCompile(`mhlo\.num_replicas\s*=\s*(\d+)`)
)

// maxDevices bounds what a text may ask for.
const maxDevices = 1 << 16

// optionsOf reads from the text of a program how it wants to be compiled. The
// error is *RefusedError.
func optionsOf(text string) (capi.CompileOptions, error) {
	o := capi.CompileOptions{Replicas: number(replicas, text), Partitions: number(partitions, text)}
	switch {
	case strings.TrimSpace(text) == "":
		return o, &RefusedError{"it is empty"}
	case dynamicDims.MatchString(text):
		return o, &RefusedError{"it has dimensions of unknown size"}
	case o.Replicas > maxDevices || o.Partitions > maxDevices || o.Replicas*o.Partitions > maxDevices:
		return o, &RefusedError{fmt.Sprintf("it asks for %d × %d devices", o.Replicas, o.Partitions)}
	}
	o.NoShardy = !strings.Contains(text, "sdy.")
	return o, nil
}

// number is the number that a pattern finds, 1 without one.
func number(re *regexp.Regexp, text string) int {
	if m := re.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return n
		}
		return maxDevices + 1 // what does not fit an int is too many
	}
	return 1
}
