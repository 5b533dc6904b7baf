package device

import "time"

// What an exchange costs beside the links: the same on all generations
// (measured on v6e, v5p and v7x, and those of the scaling book of JAX).
const (
	exchangeFloorNS   = 5_000 // of each exchange; published floors are 2.3 to 13 us
	hopNS             = 1_000 // from a device to its neighbour
	linkEfficiency    = 0.96  // 86.3 of 90 GB/s one way between neighbours
	noWrapEfficiency  = 0.82  // of a line instead of a ring: 560 us predicted, 680 us measured
	allToAllPartOfAll = 0.25  // of an all-gather of the same bytes
)

// wraps says whether n devices in a row are a ring: the ends have a link.
func (c *Chip) wraps(n int) bool {
	return n > 2 && n%c.WrapDevices == 0
}

// ExchangeNS is how long devices of a mesh take to tell each other bytes of
// result each, n devices at a time, over the links between chips.
func (c *Chip) ExchangeNS(op string, bytes int64, n int) int64 {
	if n < 2 || bytes <= 0 {
		return 0
	}
	all := float64(bytes) // of the array put together
	switch op {
	case "reduce-scatter", "all-to-all":
		all *= float64(n)
	case "collective-permute":
		return exchangeFloorNS + seconds(all/(linkEfficiency*c.LinkBytesPerSec))
	}
	var once int64 // an all-gather or a reduce-scatter
	if c.wraps(n) {
		once = max(hopNS*int64(n)/2, seconds(all/(2*linkEfficiency*c.LinkBytesPerSec)))
	} else {
		once = max(hopNS*int64(n-1), seconds(all*float64(n-1)/float64(n)/(noWrapEfficiency*c.LinkBytesPerSec)))
	}
	switch op {
	case "all-reduce":
		once *= 2
	case "all-to-all":
		once = int64(float64(once) * allToAllPartOfAll)
	}
	return exchangeFloorNS + once
}

func seconds(s float64) int64 { return int64(s * float64(time.Second)) }
