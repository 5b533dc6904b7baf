package exec

import (
	"testing"

	"github.com/tpush/tpush/trace"
)

// line is a Place that the test moves by hand.
type line struct {
	stacks trace.StackTable
	at     int
}

func (l *line) Where() *trace.Stack {
	return l.stacks.Intern([]trace.Frame{{Cell: 1, Func: "(cell)", Line: l.at}})
}
func (l *line) Depth() int { return 1 }

func TestTimeGoesToTheLinesThatAppliedTheOps(t *testing.T) {
	for _, m := range Modes() {
		t.Run(m.Name, func(t *testing.T) {
			d, rec := open(t, m)
			place := &line{at: 1}
			d.SetPlace(place)
			x := vec(t, d, 1, 2, 3)
			place.at = 2
			y := apply(t, d, &neg, nil, x)
			place.at = 3
			z := apply(t, d, &add, nil, y, x)
			place.at = 4
			wantVec(t, d, z, 0, 0, 0)
			ops, ns := map[int]int64{}, map[int]int64{}
			var total int64
			for _, row := range rec.Totals() {
				ops[row.Stack.Top().Line] += row.Ops
				ns[row.Stack.Top().Line] += row.DeviceNS
				total += row.DeviceNS
			}
			if ops[2] != 1 || ops[3] != 1 || ops[4] != 0 {
				t.Errorf("ops by line: %v", ops)
			}
			if ns[2] <= 0 || ns[3] <= 0 || ns[4] != 0 {
				t.Errorf("nanoseconds by line: %v", ns)
			}
			if total != d.Stats().DeviceNS {
				t.Errorf("the lines take %d ns, the launches %d", total, d.Stats().DeviceNS)
			}
		})
	}
}
