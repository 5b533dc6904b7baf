package sim_test

import (
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/devicetest"
	"github.com/tpush/tpush/runtime/device/sim"
)

func TestConformance(t *testing.T) {
	for _, c := range device.Chips() {
		t.Run(c.Name, func(t *testing.T) {
			devicetest.Run(t, func(*testing.T) device.Device { return sim.New(&c, sim.Options{}) })
		})
	}
}
