package export

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/tpush/tpush/trace"
)

var chromeFormat = Format{
	Name: "chrome", Extension: ".json", Write: writeChrome,
	Doc:   "the timeline as Chrome trace events",
	Opens: "chrome://tracing, ui.perfetto.dev, Speedscope",
}

// chromeEvent is one entry of the Trace Event Format. Times are microseconds.
type chromeEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"` // M metadata, X slice, i instant, C counter
	TS    float64        `json:"ts"`
	Dur   float64        `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Scope string         `json:"s,omitempty"` // of an instant: t, its thread
	Args  map[string]any `json:"args,omitempty"`
}

func writeChrome(w io.Writer, in Input) error {
	bw := bufio.NewWriter(w)
	bw.WriteString("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")
	first := true
	put := func(e chromeEvent) error {
		e.PID = 1
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			bw.WriteString(",\n")
		}
		first = false
		_, err = bw.Write(b)
		return err
	}
	heads := []chromeEvent{{Name: "process_name", Phase: "M", Args: map[string]any{"name": processName(in.Meta)}}}
	for lane := range trace.MemoryLane {
		heads = append(heads,
			chromeEvent{Name: "thread_name", Phase: "M", TID: int(lane) + 1, Args: map[string]any{"name": lane.String()}},
			chromeEvent{Name: "thread_sort_index", Phase: "M", TID: int(lane) + 1, Args: map[string]any{"sort_index": int(lane)}})
	}
	for _, e := range heads {
		if err := put(e); err != nil {
			return err
		}
	}
	for _, s := range trace.Slices(in.Events) {
		e := chromeEvent{Name: s.Name, Phase: "X", TS: float64(s.StartNS) / 1000, Dur: float64(s.EndNS-s.StartNS) / 1000, TID: int(s.Lane) + 1, Args: map[string]any{}}
		if s.EndNS == s.StartNS {
			e.Phase, e.Scope = "i", "t"
		}
		for _, n := range in.notes(&s) {
			if n.text != "" {
				e.Args[n.key] = n.text
			} else {
				e.Args[n.key] = n.number
			}
		}
		if err := put(e); err != nil {
			return err
		}
	}
	for _, p := range trace.Points(in.Events) {
		if err := put(chromeEvent{Name: counterName, Phase: "C", TS: float64(p.AtNS) / 1000, Args: map[string]any{"bytes": p.InUseBytes}}); err != nil {
			return err
		}
	}
	bw.WriteString("\n]}\n")
	return bw.Flush()
}
