package export

import (
	"encoding/json"
	"io"

	"github.com/tpush/tpush/trace"
)

var memoryVizFormat = Format{
	Name: "memory_viz", Extension: ".json", Write: writeMemoryViz, Sources: true,
	Doc:   "a snapshot of HBM: every block with the lines that made it, and the history of allocations",
	Opens: "pytorch.org/memory_viz",
}

// The snapshot of PyTorch's allocator, as its viewer reads it: blocks tile
// their segment, addresses are below 2^53.
type (
	vizSnapshot struct {
		Segments []vizSegment      `json:"segments"`
		Traces   [][]vizEvent      `json:"device_traces"` // by device
		Settings map[string]string `json:"allocator_settings"`
	}
	vizSegment struct {
		Device    int        `json:"device"`
		Address   int64      `json:"address"`
		TotalSize int64      `json:"total_size"`
		Allocated int64      `json:"allocated_size"`
		Active    int64      `json:"active_size"`
		Requested int64      `json:"requested_size"`
		Stream    int        `json:"stream"`
		Type      string     `json:"segment_type"`
		Frames    []vizFrame `json:"frames"`
		Blocks    []vizBlock `json:"blocks"`
	}
	vizBlock struct {
		Address   int64      `json:"address"`
		Size      int64      `json:"size"`
		Requested int64      `json:"requested_size"`
		State     string     `json:"state"`
		Frames    []vizFrame `json:"frames"`
		Metadata  string     `json:"user_metadata,omitempty"`
	}
	vizEvent struct {
		Action string     `json:"action"`
		Addr   int64      `json:"addr"`
		Size   int64      `json:"size"`
		Stream int        `json:"stream"`
		TimeUS int64      `json:"time_us"`
		Frames []vizFrame `json:"frames"`
	}
	vizFrame struct {
		File string `json:"filename"`
		Line int    `json:"line"`
		Name string `json:"name"`
	}
)

// Addresses of the snapshot: HBM begins at heapBase; what is not in HBM any
// more has an address of its own above goneBase, because events do not say
// where a block was.
const (
	heapBase = int64(1) << 40
	goneBase = int64(1) << 46
)

func writeMemoryViz(w io.Writer, in Input) error {
	s := vizSnapshot{Segments: []vizSegment{}, Traces: [][]vizEvent{in.vizEvents()}, Settings: map[string]string{"backend": "tpush", "device": in.Meta.Chip}}
	if in.Meta.LimitBytes > 0 {
		s.Segments = append(s.Segments, in.vizSegment())
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(s)
}

// vizSegment is all of HBM, its blocks tiled with the free space between them.
func (in *Input) vizSegment() vizSegment {
	s := vizSegment{Address: heapBase, TotalSize: in.Meta.LimitBytes, Type: "large", Frames: []vizFrame{}, Blocks: []vizBlock{}}
	free := func(from, to int64) {
		if to > from {
			s.Blocks = append(s.Blocks, vizBlock{Address: heapBase + from, Size: to - from, State: "inactive", Frames: []vizFrame{}})
		}
	}
	at := int64(0)
	for _, b := range in.Blocks {
		free(at, b.Addr)
		s.Blocks = append(s.Blocks, vizBlock{Address: heapBase + b.Addr, Size: b.Size, Requested: b.Bytes, State: "active_allocated",
			Frames: in.vizFrames(b.Stack, b.Name), Metadata: b.Spec})
		s.Allocated += b.Size
		s.Requested += b.Bytes
		at = b.Addr + b.Size
	}
	free(at, in.Meta.LimitBytes)
	s.Active = s.Allocated
	return s
}

// vizEvents are the allocations in order. A block that is still there has its
// own address.
func (in *Input) vizEvents() []vizEvent {
	type block struct {
		value uint64
		size  int64
	}
	here := map[block][]int64{} // addresses of what is in HBM now
	for _, b := range in.Blocks {
		k := block{b.Value, b.Size}
		here[k] = append(here[k], heapBase+b.Addr)
	}
	left := map[block]int{} // frees that are to come
	for i := range in.Events {
		if e := &in.Events[i]; e.Kind == trace.Free {
			left[block{e.Value, e.PaddedBytes}]++
		}
	}
	out := []vizEvent{}
	open := map[block][]int64{}
	gone := goneBase
	for i := range in.Events {
		e := &in.Events[i]
		k := block{e.Value, e.PaddedBytes}
		x := vizEvent{Size: e.PaddedBytes, TimeUS: e.AtNS / 1000, Frames: in.vizFrames(e.Stack, e.Name)}
		switch e.Kind {
		case trace.Alloc:
			x.Action = "alloc"
			if left[k] > 0 || len(here[k]) == 0 {
				x.Addr = gone
				gone += (e.PaddedBytes + 511) / 512 * 512
				left[k]--
			} else {
				x.Addr = here[k][0]
				here[k] = here[k][1:]
			}
			open[k] = append(open[k], x.Addr)
			out = append(out, x)
		case trace.Free:
			if n := len(open[k]); n > 0 {
				x.Addr = open[k][0]
				open[k] = open[k][1:]
			} else { // it was taken before the recording begins
				x.Addr = gone
				gone += (e.PaddedBytes + 511) / 512 * 512
			}
			x.Action = "free_requested"
			out = append(out, x)
			x.Action = "free_completed"
			out = append(out, x)
		}
	}
	return out
}

// vizFrames are the lines of a stack, innermost first, below what was made there.
func (in *Input) vizFrames(st *trace.Stack, what string) []vizFrame {
	out := []vizFrame{}
	if what != "" {
		out = append(out, vizFrame{Name: what})
	}
	if st == nil {
		return out
	}
	for _, f := range st.Frames {
		file, line := in.place(f)
		out = append(out, vizFrame{File: file, Line: line, Name: function(f)})
	}
	return out
}
