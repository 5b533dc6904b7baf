package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"runtime"
	"strings"
)

// Serve measures on demand, for a program that takes turns with others. It
// first says which cases there are; then a line "CASE DTYPE" asks for one round
// and "drop CASE DTYPE" frees a case. What is not known is passed over. It ends with the input.
func Serve(ctx context.Context, workload string, o Options, in io.Reader, out io.Writer) error {
	o = o.filled()
	cases, err := Cases(workload, o.Mode)
	if err != nil {
		return err
	}
	type key [2]string
	table, ready := map[key]Case{}, [][2]string{}
	for _, c := range cases {
		k := key{c.Name, c.DType.String()}
		table[k] = c
		ready = append(ready, k)
	}
	enc := json.NewEncoder(out)
	if err := enc.Encode(map[string]any{"ready": ready, "peer": "tpush:" + o.Mode.Name}); err != nil {
		return err
	}
	prepared := map[key]*Prepared{}
	lines := bufio.NewScanner(in)
	for lines.Scan() && ctx.Err() == nil {
		words := strings.Fields(lines.Text())
		if len(words) == 3 && words[0] == "drop" {
			delete(prepared, key{words[1], words[2]})
			runtime.GC()
			continue
		}
		if len(words) != 2 {
			continue
		}
		k := key(words)
		c, ok := table[k]
		if !ok {
			continue
		}
		var r Result
		p, err := prepared[k], error(nil)
		if p == nil {
			p, err = Prepare(c, o)
		}
		if err != nil {
			r = failed(c, o, err)
		} else {
			prepared[k] = p
			r = p.round(ctx)
		}
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}
