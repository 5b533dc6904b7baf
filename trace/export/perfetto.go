package export

import (
	"bufio"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tpush/tpush/trace"
)

var perfettoFormat = Format{
	Name: "perfetto", Extension: ".pftrace", Write: writePerfetto,
	Doc:   "the timeline: host, queue, device and transfers as tracks, HBM as a counter, flows from cuts to launches",
	Opens: "ui.perfetto.dev, trace_processor",
}

const counterName = "HBM in use"

func processName(m Meta) string {
	name := "tpush"
	if m.Session != "" {
		name += " " + m.Session
	}
	if m.Chip != "" {
		name += " (simulated " + m.Chip + ")"
	}
	return name
}

// A note is an annotation of a slice: text, or a number when text is "".
type note struct {
	key    string
	text   string
	number int64
}

// notes are the annotations of a slice: what its event says beyond name and time.
func (in *Input) notes(s *trace.Slice) []note {
	var out []note
	if spot := in.spot(s.Event.Stack.Top()); spot != "" {
		out = append(out, note{key: "source", text: spot})
	}
	for _, f := range trace.Fields() {
		switch f.Name {
		case "AtNS", "DurationNS", "Name", "Cell", "Stack", "Parts", "InUseBytes":
			continue
		}
		if n, ok := f.Number(s.Event); ok {
			if n != 0 {
				out = append(out, note{key: f.Key, number: n})
			}
		} else if v := f.Get(s.Event); v != "" {
			out = append(out, note{key: f.Key, text: v})
		}
	}
	return out
}

// Field numbers of perfetto/trace: trace_packet.proto, track_descriptor.proto,
// counter_descriptor.proto, track_event.proto, interned_data.proto.
const (
	fieldPacket = 1

	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	flagCleared = 1
	flagNeeds   = 2

	trackUUID     = 1
	trackName     = 2
	trackProcess  = 3
	trackParent   = 5
	trackCounter  = 8
	trackOrdering = 11
	trackRank     = 12

	processPID   = 1
	processTitle = 6
	counterUnit  = 3
	unitBytes    = 3
	explicit     = 3

	eventAnnotation = 4
	eventType       = 9
	eventNameID     = 10
	eventTrack      = 11
	eventCategory   = 22
	eventCounter    = 30
	eventSource     = 33
	eventFlow       = 47

	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4

	internedNames       = 2
	internedAnnotations = 3

	annotationNameID = 1
	annotationInt    = 4
	annotationText   = 6

	sourceFile     = 2
	sourceFunction = 3
	sourceLine     = 4
)

// uuids of the tracks. Those of the lanes follow laneUUID.
const (
	processUUID = 1
	counterUUID = 2
	laneUUID    = 10
)

const sequence = 1

// message is a protobuf message under construction.
type message []byte

func (m *message) uint(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), strings.ToValidUTF8(s, "�"))
}

func (m *message) fixed(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *message) sub(field protowire.Number, v message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

// perfettoWriter writes packets; names go out once, under ids.
type perfettoWriter struct {
	w           *bufio.Writer
	in          *Input
	err         error
	names       map[string]uint64
	annotations map[string]uint64
	interned    message // new ids for the next packet
}

func writePerfetto(w io.Writer, in Input) error {
	p := &perfettoWriter{w: bufio.NewWriter(w), in: &in, names: map[string]uint64{}, annotations: map[string]uint64{}}
	p.describe()
	slices := trace.Slices(in.Events)
	for len(slices) > 0 {
		n := 1
		for n < len(slices) && slices[n].Lane == slices[0].Lane {
			n++
		}
		p.lane(slices[:n])
		slices = slices[n:]
	}
	for _, at := range trace.Points(in.Events) {
		var e message
		e.uint(eventType, typeCounter)
		e.uint(eventTrack, counterUUID)
		e.uint(eventCounter, uint64(at.InUseBytes))
		p.event(at.AtNS, e)
	}
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// describe writes the descriptors of the process, the lanes and the counter.
func (p *perfettoWriter) describe() {
	var process, d message
	process.uint(processPID, 1)
	process.text(processTitle, processName(p.in.Meta))
	d.uint(trackUUID, processUUID)
	d.sub(trackProcess, process)
	d.uint(trackOrdering, explicit)
	p.descriptor(d, true)
	for lane := range trace.MemoryLane {
		var d message
		d.uint(trackUUID, laneUUID+uint64(lane))
		d.text(trackName, lane.String())
		d.uint(trackParent, processUUID)
		d.uint(trackRank, uint64(lane))
		p.descriptor(d, false)
	}
	var counter, c message
	counter.uint(counterUnit, unitBytes)
	c.uint(trackUUID, counterUUID)
	c.text(trackName, counterName)
	c.uint(trackParent, processUUID)
	c.sub(trackCounter, counter)
	c.uint(trackRank, uint64(trace.MemoryLane))
	p.descriptor(c, false)
}

// lane writes the slices of one lane, which are sorted by start and nest.
func (p *perfettoWriter) lane(slices []trace.Slice) {
	var open []*trace.Slice
	uuid := laneUUID + uint64(slices[0].Lane)
	closeBefore := func(depth int) {
		for len(open) > depth {
			var e message
			e.uint(eventType, typeEnd)
			e.uint(eventTrack, uuid)
			p.event(open[len(open)-1].EndNS, e)
			open = open[:len(open)-1]
		}
	}
	for i := range slices {
		s := &slices[i]
		closeBefore(s.Depth)
		var e message
		e.uint(eventTrack, uuid)
		if s.EndNS > s.StartNS {
			e.uint(eventType, typeBegin)
			open = append(open, s)
		} else {
			e.uint(eventType, typeInstant)
		}
		e.uint(eventNameID, p.id(p.names, internedNames, s.Name))
		e.text(eventCategory, s.Event.Kind.String())
		for _, n := range p.in.notes(s) {
			var a message
			a.uint(annotationNameID, p.id(p.annotations, internedAnnotations, n.key))
			if n.text != "" {
				a.text(annotationText, n.text)
			} else {
				a.uint(annotationInt, uint64(n.number))
			}
			e.sub(eventAnnotation, a)
		}
		if top := s.Event.Stack.Top(); top.Line > 0 {
			file, line := p.in.place(top)
			var loc message
			loc.text(sourceFile, file)
			loc.text(sourceFunction, function(top))
			loc.uint(sourceLine, uint64(line))
			e.sub(eventSource, loc)
		}
		if (s.Event.Kind == trace.Cut || s.Event.Kind == trace.Launch) && s.Event.Launch > 0 {
			e.fixed(eventFlow, uint64(s.Event.Launch))
		}
		p.event(s.StartNS, e)
	}
	closeBefore(0)
}

// id gives the interned id of name and sends it along with the next packet when it is new.
func (p *perfettoWriter) id(ids map[string]uint64, field protowire.Number, name string) uint64 {
	id, ok := ids[name]
	if !ok {
		id = uint64(len(ids) + 1)
		ids[name] = id
		var entry message
		entry.uint(1, id)
		entry.text(2, name)
		p.interned.sub(field, entry)
	}
	return id
}

func (p *perfettoWriter) descriptor(d message, first bool) {
	var m message
	m.uint(packetSequence, sequence)
	if first {
		m.uint(packetFlags, flagCleared)
	}
	m.sub(packetDescriptor, d)
	p.packet(m)
}

func (p *perfettoWriter) event(atNS int64, e message) {
	var m message
	m.uint(packetTimestamp, uint64(max(atNS, 0)))
	m.uint(packetSequence, sequence)
	m.uint(packetFlags, flagNeeds)
	if len(p.interned) > 0 {
		m.sub(packetInterned, p.interned)
		p.interned = p.interned[:0]
	}
	m.sub(packetEvent, e)
	p.packet(m)
}

func (p *perfettoWriter) packet(m message) {
	if p.err != nil {
		return
	}
	var out message
	out.sub(fieldPacket, m)
	_, p.err = p.w.Write(out)
}
