package exec

import "fmt"

// checkNames are the settings of Checks as users write them.
var checkNames = [...]string{ChecksByMode: "mode", ChecksOn: "on", ChecksOff: "off"}

// String gives the name of the setting.
func (c Checks) String() string { return checkNames[c] }

// ChecksSetting is the present override of the mode's own choice.
func (d *Dispatcher) ChecksSetting() Checks { return d.checks }

// SetChecksNamed is SetChecks by name: mode, on or off.
func (d *Dispatcher) SetChecksNamed(name string) error {
	for c, n := range checkNames {
		if n == name {
			d.checks = Checks(c)
			return nil
		}
	}
	return fmt.Errorf("checks: %q is none of mode, on, off", name)
}

// Donation says whether in-place writes may reuse HBM.
func (d *Dispatcher) Donation() bool { return !d.noDonate }
