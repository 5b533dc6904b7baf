package exec

import (
	"fmt"
	"time"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// Sharding says on which devices of a mesh the parts of a value are; nil: it
// is on one device. It computes the value.
func (d *Dispatcher) Sharding(v *Value) (*shape.Sharding, error) {
	d.lock()
	defer d.unlock()
	if err := d.force(v, ReasonSync); err != nil {
		return nil, err
	}
	if p, ok := v.buf.(device.Placed); ok {
		return p.Sharding(), nil
	}
	return nil, nil
}

// exchanged tells the trace what the devices of a mesh told each other in a
// launch. The clock stands still: it is that of one chip that computes all.
func (d *Dispatcher) exchanged(number int64, at int64, last *node, opn uint64, list []device.Collective) {
	for _, c := range list {
		from := "real XLA"
		if c.Predicted {
			from = "simulated"
		}
		d.emit(trace.Event{Kind: trace.Collective, AtNS: at, Reason: from, Stack: last.stack, Launch: int(number), Op: opn, Name: c.Op, Text: fmt.Sprintf("%s, %v simulated", c.Groups, time.Duration(c.NS)), Bytes: c.Bytes})
	}
}
