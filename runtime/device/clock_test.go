package device

import "testing"

func TestClock(t *testing.T) {
	var c Clock
	// A stream of launches: the device waits for the host, then the host runs ahead.
	if s := c.Launch(20, 5); s != 20 || c.HostNS != 20 || c.DeviceNS != 25 {
		t.Errorf("first: started at %d, %+v", s, c)
	}
	if s := c.Launch(20, 100); s != 40 || c.DeviceNS != 140 {
		t.Errorf("idle device: started at %d, %+v", s, c)
	}
	if s := c.Launch(20, 10); s != 140 || c.HostNS != 60 || c.DeviceNS != 150 {
		t.Errorf("busy device: started at %d, %+v", s, c)
	}
	if c.Wait(110); c.HostNS != 260 || c.DeviceNS != 150 {
		t.Errorf("wait: %+v", c)
	}
	if c.Wait(110); c.HostNS != 370 {
		t.Errorf("wait for an idle device: %+v", c)
	}
}
