package repl

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/trace"
)

// An Opener opens a device that stands for a chip, with a limit of HBM (0: the
// chip's), and with several devices for meshes (0: one).
type Opener func(chip *device.Chip, hbmLimitBytes int64, devices int, sink trace.Sink) (device.Device, error)

// Simulator is the name of the simulated device.
const Simulator = "sim"

// open opens a device by its name; "" is the simulator.
func (s *Session) open(name string, chip *device.Chip) (device.Device, error) {
	if name == "" || name == Simulator {
		return sim.New(chip, sim.Options{Sink: s.rec, HBMLimitBytes: s.opts.HBMBytes}), nil
	}
	base, n := SplitDevice(name)
	o := s.opts.Openers[base]
	if o == nil {
		return nil, &UnknownDeviceError{Name: name, Names: s.DeviceNames()}
	}
	return o(chip, s.opts.HBMBytes, n, s.rec)
}

// SplitDevice takes a name with a number of devices apart: xla:cpu:4 is 4
// devices of xla:cpu. The number is 0 when there is none.
func SplitDevice(name string) (base string, devices int) {
	i := strings.LastIndexByte(name, ':')
	if n, err := strconv.Atoi(name[i+1:]); err == nil && i > 0 && n > 0 && n <= maxDevices {
		return name[:i], n
	}
	return name, 0
}

// maxDevices is the most devices of a plug-in: each has threads of its own.
const maxDevices = 64

// An UnknownDeviceError is the name of a device that nothing opens.
type UnknownDeviceError struct {
	Name  string
	Names []string
}

// Error lists the names there are.
func (e *UnknownDeviceError) Error() string {
	return fmt.Sprintf("no device %q, there are %s", e.Name, strings.Join(e.Names, ", "))
}

// DeviceNames lists what SetDevice takes.
func (s *Session) DeviceNames() []string {
	names := []string{Simulator}
	for n := range s.opts.Openers {
		names = append(names, n)
	}
	sort.Strings(names[1:])
	return names
}

// RunsOn is the name of the device that computes.
func (s *Session) RunsOn() string {
	s.parts.RLock()
	defer s.parts.RUnlock()
	if s.runsOn == "" {
		return Simulator
	}
	return s.runsOn
}

// SetDevice moves the session to another device, for the same chip. It is
// refused while tensors live, because their values would be lost.
func (s *Session) SetDevice(name string) error {
	if name == s.RunsOn() {
		return nil
	}
	return s.move(name, s.dev.Chip().Name)
}

// move opens a device in place of the present one.
func (s *Session) move(name, chip string) error {
	if n := len(s.disp.LiveValues()); n > 0 {
		return &LiveTensorsError{Values: n}
	}
	before, old := s.runsOn, s.dev
	s.runsOn = name
	if err := s.openDevice(chip); err != nil {
		s.runsOn = before
		return err
	}
	s.undos = nil
	s.connect()
	return old.Close()
}

// breakOff ends what the device is doing for an interrupted cell, where it can.
func (s *Session) breakOff() {
	if d, ok := s.Device().(device.Interrupter); ok {
		d.Interrupt()
	}
}
