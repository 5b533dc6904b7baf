package trace

import "fmt"

// A Law is a rule that every recording obeys.
type Law struct {
	Name  string
	Doc   string
	check func(*history, *Event) string // what is wrong, "" when nothing is
}

// Laws lists the laws.
func Laws() []Law { return laws[:] }

var laws = [...]Law{
	{"sequence", "sequence numbers grow by one; the first event of a recording that dropped some may have any", sequenceGrows},
	{"time", "virtual time never goes backwards in a lane, and no duration is negative", timeMovesOn},
	{"cells", "cells begin and end in pairs and nest; an event between says its cell", cellsNest},
	{"pauses", "a resume follows a pause", pausesResume},
	{"ops", "op numbers of applied ops grow; an op with several results is applied in as many events", opsGrow},
	{"cuts", "the ops of a cut were applied or recomputed before; launch numbers of cuts grow", cutsFollowApplies},
	{"launches", "a launch was cut before it ran", launchesFollowCuts},
	{"device", "launches do not overlap on the device", launchesDoNotOverlap},
	{"memory", "a free gives back an allocation of the same value and size, and the bytes in use add up", memoryAddsUp},
}

// history is what the checks remember of the events before the present one.
type history struct {
	started   bool
	truncated bool // the front of the recording is missing

	seq       uint64
	laneNS    [NumLanes]int64
	cells     []int
	paused    bool
	op        uint64
	applied   map[string]bool
	cut       map[int]bool
	firstCut  int
	lastCut   int
	deviceNS  int64
	blocks    map[block]int
	inUse     int64
	seesInUse bool // inUse is known
}

// Validate checks the laws of traces on a recording and gives the first breach
// as *LawError. The front of a recording may be missing, as when a ring has
// dropped it: what refers to the missing part is then let pass.
func Validate(events []Event) error {
	h := history{applied: map[string]bool{}, cut: map[int]bool{}, blocks: map[block]int{}, lastCut: -1}
	for i := range events {
		e := &events[i]
		if !h.started {
			h.truncated = e.Seq > 1
			h.seesInUse = !h.truncated
		}
		for j := range laws {
			if wrong := laws[j].check(&h, e); wrong != "" {
				return &LawError{Law: laws[j].Name, Seq: e.Seq, Kind: e.Kind, Text: wrong}
			}
		}
		h.started = true
	}
	return nil
}

func sequenceGrows(h *history, e *Event) string {
	prev := h.seq
	h.seq = e.Seq
	switch {
	case e.Seq == 0:
		return "sequence number is 0"
	case h.started && e.Seq != prev+1:
		return fmt.Sprintf("follows event %d", prev)
	}
	return ""
}

func timeMovesOn(h *history, e *Event) string {
	if e.DurationNS < 0 || e.HostNS < 0 || e.RealNS < 0 {
		return fmt.Sprintf("takes %d ns and %d ns on the host", e.DurationNS, e.HostNS)
	}
	if e.Kind.Row().Name == "" {
		return ""
	}
	lane := e.Kind.Row().Lane
	prev := h.laneNS[lane]
	if e.AtNS < prev {
		return fmt.Sprintf("is at %d ns, the %s lane was at %d ns", e.AtNS, lane, prev)
	}
	h.laneNS[lane] = e.AtNS
	return ""
}

func cellsNest(h *history, e *Event) string {
	switch e.Kind {
	case CellBegin:
		h.cells = append(h.cells, e.Cell)
	case CellEnd:
		if len(h.cells) == 0 {
			if h.truncated {
				return ""
			}
			return fmt.Sprintf("cell %d ends and no cell runs", e.Cell)
		}
		if top := h.cells[len(h.cells)-1]; top != e.Cell {
			return fmt.Sprintf("cell %d ends while cell %d runs", e.Cell, top)
		}
		h.cells = h.cells[:len(h.cells)-1]
	case Apply:
		if n := len(h.cells); n > 0 && e.Cell != h.cells[n-1] {
			return fmt.Sprintf("is of cell %d while cell %d runs", e.Cell, h.cells[n-1])
		}
	}
	return ""
}

func pausesResume(h *history, e *Event) string {
	switch e.Kind {
	case Pause:
		if h.paused {
			return "pauses twice"
		}
		h.paused = true
	case Resume:
		if !h.paused && !h.truncated {
			return "nothing was paused"
		}
		h.paused = false
	}
	return ""
}

func opsGrow(h *history, e *Event) string {
	if e.Kind != Apply || e.Op == 0 {
		return ""
	}
	prev := h.op
	h.op = e.Op
	if e.Op < prev {
		return fmt.Sprintf("op #%d follows op #%d", e.Op, prev)
	}
	return ""
}

func cutsFollowApplies(h *history, e *Event) string {
	switch e.Kind {
	case Apply, Recompute:
		h.applied[e.Name] = true
	case Cut:
		if e.Launch <= h.lastCut {
			return fmt.Sprintf("launch %d was cut after launch %d", e.Launch, h.lastCut)
		}
		if h.lastCut < 0 {
			h.firstCut = e.Launch
		}
		h.lastCut = e.Launch
		h.cut[e.Launch] = true
		if h.truncated {
			return ""
		}
		for _, name := range e.Ops {
			if !h.applied[name] {
				return fmt.Sprintf("no %s was applied", name)
			}
		}
	}
	return ""
}

func launchesFollowCuts(h *history, e *Event) string {
	if e.Kind != Launch || h.cut[e.Launch] {
		return ""
	}
	if h.truncated && (h.lastCut < 0 || e.Launch < h.firstCut) {
		return ""
	}
	return fmt.Sprintf("launch %d was not cut", e.Launch)
}

func launchesDoNotOverlap(h *history, e *Event) string {
	if e.Kind != Launch {
		return ""
	}
	prev := h.deviceNS
	h.deviceNS = max(prev, e.AtNS+e.DurationNS)
	if e.AtNS < prev {
		return fmt.Sprintf("begins at %d ns, the launch before ends at %d ns", e.AtNS, prev)
	}
	return ""
}

func memoryAddsUp(h *history, e *Event) string {
	b := block{e.Value, e.PaddedBytes}
	switch e.Kind {
	case Alloc:
		if e.PaddedBytes < 0 || e.Bytes < 0 || e.PaddedBytes < e.Bytes {
			return fmt.Sprintf("takes %d bytes for %d", e.PaddedBytes, e.Bytes)
		}
		h.blocks[b]++
		return h.inUseMovesBy(e, e.PaddedBytes)
	case Free:
		switch n := h.blocks[b]; {
		case n > 1:
			h.blocks[b]--
		case n == 1:
			delete(h.blocks, b)
		case !h.truncated:
			return fmt.Sprintf("no allocation of value %d with %d bytes is live", e.Value, e.PaddedBytes)
		}
		return h.inUseMovesBy(e, -e.PaddedBytes)
	}
	return ""
}

func (h *history) inUseMovesBy(e *Event, delta int64) string {
	prev, known := h.inUse, h.seesInUse
	h.inUse, h.seesInUse = e.InUseBytes, true
	switch {
	case e.InUseBytes < 0:
		return fmt.Sprintf("%d bytes in use", e.InUseBytes)
	case known && e.InUseBytes != prev+delta:
		return fmt.Sprintf("%d bytes in use after %d, want %d", e.InUseBytes, prev, prev+delta)
	}
	return ""
}
