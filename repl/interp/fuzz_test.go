package interp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl/interp/programs"
)

// FuzzPrograms compares programs made of seeds with what Go does. The corpus is
// those that are recorded; of another seed the program is run natively.
func FuzzPrograms(f *testing.F) {
	list, err := programs.Recorded()
	if err != nil {
		f.Fatal(err)
	}
	recorded := map[string]string{}
	for i, p := range list {
		if seed, ok := strings.CutPrefix(p.Name, "random/"); ok {
			recorded[seed] = p.Output
			if i%8 == 0 { // the others are TestRecorded's
				var n uint64
				fmt.Sscan(seed, &n)
				f.Add(n)
			}
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		name := fmt.Sprint(seed)
		p := programs.Program{Name: "random/" + name, Source: programs.Random(seed), Output: recorded[name]}
		if p.Output == "" {
			outs, err := programs.Native([]programs.Program{p})
			if err != nil {
				t.Fatal(err)
			}
			if p.Output = outs[0]; p.Output == programs.Endless {
				t.Skip("does not end")
			}
		}
		checkProgram(t, p, "")
	})
}
