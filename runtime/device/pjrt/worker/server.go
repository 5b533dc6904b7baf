package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unsafe"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// About is what the plug-in says of itself.
type About struct {
	Major, Minor  int // of the interface
	Platform      string
	Version       string
	Attributes    map[string]any
	Extensions    []int // by the interface's numbers
	Devices       []DeviceAbout
	NoClient      string // why there is no client: no such hardware, say
	NoClientCode  int
	CompilerBuild string
}

// DeviceAbout is one device.
type DeviceAbout struct {
	ID   int
	Kind string
	Text string
}

// An Output is the type of one result.
type Output struct {
	Type capi.Type
	Dims []int64
}

// The statuses of a reply.
const (
	okReply uint8 = iota
	errorReply
)

// The codes of errors that are the protocol's own, beside those of capi.
const (
	codeProtocol = 100 + iota
)

// maxElements is the most elements of an array that a program may name: XLA's
// compiler divides by zero from 2^37 on.
const maxElements = 1 << 35

// Serve answers requests with a plug-in until r ends. shared is the memory that
// both sides map, nil without one.
func Serve(r io.Reader, w io.Writer, shared []byte, plugin string, options map[string]any) error {
	s := &server{
		w: bufio.NewWriterSize(w, 1<<16), shared: shared,
		buffers: map[uint64]held{}, programs: map[uint64]*capi.Executable{},
	}
	s.open(plugin, options)
	in := bufio.NewReaderSize(r, 1<<20)
	var buf []byte
	for {
		kind, payload, grown, err := readFrame(in, buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		buf = grown
		if err := s.answer(verb(kind), payload); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := s.w.Flush(); err != nil {
				return err
			}
		}
	}
}

// held is a buffer, or why there is none.
type held struct {
	b   *capi.Buffer
	err error
}

type server struct {
	w      *bufio.Writer
	shared []byte
	plugin *capi.Plugin
	client *capi.Client
	broken error // why there is no plug-in
	about  About

	buffers  map[uint64]held
	programs map[uint64]*capi.Executable
	pending  []started     // executions, the oldest first
	busy     time.Duration // that executions took since the last sync
	idle     time.Time     // when the last of them was seen to end
	failed   error         // of one of them

	ins, outs []uint64 // of the request being answered
	found     []*capi.Buffer
}

// open loads the plug-in. A failure is told to whoever asks.
func (s *server) open(path string, options map[string]any) {
	p, err := capi.Load(path)
	if err != nil {
		s.broken = err
		return
	}
	s.plugin = p
	s.about.Major, s.about.Minor = p.Major, p.Minor
	s.about.Attributes, _ = p.Attributes()
	for _, e := range p.Extensions() {
		s.about.Extensions = append(s.about.Extensions, e.Type)
	}
	c, err := p.NewClient(options)
	if err != nil { // a compiler without its hardware still compiles ahead of time
		s.about.NoClient = err.Error()
		var ce *capi.Error
		if errors.As(err, &ce) {
			s.about.NoClient, s.about.NoClientCode = ce.Message, int(ce.Code)
		}
		return
	}
	s.client = c
	s.about.Platform, s.about.Version, _ = c.Platform()
	for _, d := range c.Devices() {
		s.about.Devices = append(s.about.Devices, DeviceAbout{d.ID, d.Kind, d.Text})
	}
}

// answer does one request. The error is one of writing.
func (s *server) answer(v verb, payload []byte) error {
	c := &cursor{b: payload}
	do := verbs[min(v, numVerbs)]
	if do.f == nil {
		return s.fail(&FrameError{fmt.Sprintf("no request %d", v)})
	}
	if s.broken != nil {
		if do.silent {
			return nil
		}
		return s.fail(s.broken)
	}
	reply, err := do.f(s, c)
	if c.bad {
		err = &FrameError{fmt.Sprintf("request %d is cut short", v)}
	}
	switch {
	case do.silent:
		if err != nil && s.failed == nil {
			s.failed = err
		}
		return nil
	case err != nil:
		return s.fail(err)
	}
	return writeFrame(s.w, okReply, reply...)
}

// fail answers with an error: its code and text.
func (s *server) fail(err error) error {
	code, text := codeProtocol, err.Error()
	var ce *capi.Error
	if errors.As(err, &ce) {
		code, text = int(ce.Code), ce.Message
	}
	return writeFrame(s.w, errorReply, message(nil).word(uint64(code)).bytes([]byte(text)))
}

// A handler does one verb; silent ones send no reply.
type verbRow struct {
	f      func(s *server, c *cursor) ([][]byte, error)
	silent bool
}

// verbs is the table of requests, indexed by verb.
var verbs = [numVerbs + 1]verbRow{
	hello:      {(*server).hello, false},
	compile:    {(*server).compile, false},
	load:       {(*server).load, false},
	serialize:  {(*server).serialize, false},
	optimized:  {(*server).optimized, false},
	memory:     {(*server).memory, false},
	put:        {(*server).put, true},
	execute:    {(*server).execute, true},
	executeAll: {(*server).executeAll, true},
	get:        {(*server).get, false},
	free:       {(*server).free, true},
	drop:       {(*server).drop, true},
	sync:       {(*server).sync, false},
	aot:        {(*server).aot, false},
	tpuOpen:    {(*server).tpuOpen, false},
	tpuCosts:   {(*server).tpuCosts, false},
}

func asJSON(v any) ([][]byte, error) {
	b, err := json.Marshal(v)
	return [][]byte{b}, err
}

func (s *server) hello(*cursor) ([][]byte, error) { return asJSON(s.about) }

// A NoClientError says why nothing can run.
type noClientError struct{ why string }

func (e *noClientError) Error() string { return e.why }

func (s *server) mayRun() error {
	if s.client == nil {
		return &noClientError{s.about.NoClient}
	}
	return nil
}

func (s *server) compile(c *cursor) ([][]byte, error) {
	id, options, format, code := c.word(), c.bytes(), c.bytes(), c.bytes()
	if err := s.mayRun(); err != nil || c.bad {
		return nil, err
	}
	x, err := s.client.Compile(string(format), code, options)
	return s.keep(id, x, err)
}

func (s *server) load(c *cursor) ([][]byte, error) {
	id, code := c.word(), c.bytes()
	if err := s.mayRun(); err != nil || c.bad {
		return nil, err
	}
	x, err := s.client.Deserialize(code)
	return s.keep(id, x, err)
}

// keep remembers a program and tells its results.
func (s *server) keep(id uint64, x *capi.Executable, err error) ([][]byte, error) {
	if err != nil {
		return nil, err
	}
	types, err := x.OutputTypes()
	if err != nil {
		return nil, err
	}
	dims, err := x.OutputDims()
	if err != nil {
		return nil, err
	}
	s.programs[id] = x
	m := message(nil).word(uint64(len(types)))
	for i, t := range types {
		var d []int64
		if i < len(dims) {
			d = dims[i]
		}
		m = m.word(uint64(t)).dims(d)
	}
	return [][]byte{m}, nil
}

// A MissingError is an id that the worker does not hold.
type missingError struct {
	what string
	id   uint64
}

func (e *missingError) Error() string { return fmt.Sprintf("there is no %s %d", e.what, e.id) }

func (s *server) program(c *cursor) (*capi.Executable, error) {
	id := c.word()
	x := s.programs[id]
	if x == nil && !c.bad {
		return nil, &missingError{"program", id}
	}
	return x, nil
}

func (s *server) serialize(c *cursor) ([][]byte, error) {
	x, err := s.program(c)
	if err != nil || x == nil {
		return nil, err
	}
	b, err := x.Serialize()
	return [][]byte{b}, err
}

func (s *server) optimized(c *cursor) ([][]byte, error) {
	x, err := s.program(c)
	if err != nil || x == nil {
		return nil, err
	}
	code, format, err := x.Optimized()
	return [][]byte{message(nil).bytes([]byte(format)), code}, err
}

func (s *server) memory(c *cursor) ([][]byte, error) {
	x, err := s.program(c)
	if err != nil || x == nil {
		return nil, err
	}
	m, err := x.Memory()
	if err != nil {
		return nil, err
	}
	return asJSON(m)
}

func (s *server) drop(c *cursor) ([][]byte, error) {
	id := c.word()
	x := s.programs[id]
	delete(s.programs, id)
	return nil, x.Destroy()
}

// put makes a buffer of bytes that follow or that lie in the shared memory.
func (s *server) put(c *cursor) ([][]byte, error) {
	id, dev, typ, dims, place, inline := c.word(), c.word(), capi.Type(c.word()), c.dims(), c.word(), c.bytes()
	b, err := s.putBuffer(dev, typ, dims, place, inline)
	if err != nil && !c.bad {
		s.buffers[id] = held{err: err}
		return nil, nil
	}
	s.buffers[id] = held{b: b}
	return nil, nil
}

func (s *server) putBuffer(dev uint64, typ capi.Type, dims []int64, place uint64, inline []byte) (*capi.Buffer, error) {
	if err := s.mayRun(); err != nil {
		return nil, err
	}
	devices := s.client.Devices()
	if dev >= uint64(len(devices)) {
		return nil, &missingError{"device", dev}
	}
	n, err := hostBytes(typ, dims)
	if err != nil {
		return nil, err
	}
	if place == nowhere {
		if len(inline) != n {
			return nil, &FrameError{fmt.Sprintf("%d bytes for an array of %d", len(inline), n)}
		}
		return s.client.FromBytes(devices[dev], inline, typ, dims)
	}
	at, err := s.span(place, n)
	if err != nil {
		return nil, err
	}
	return s.client.FromHost(devices[dev], at, typ, dims, capi.OnlyDuringCall)
}

// hostBytes is the size of an array, checked: native code trusts what it is told.
func hostBytes(typ capi.Type, dims []int64) (int, error) {
	if typ.HostBytes() == 0 {
		return 0, &capi.TypeError{Name: typ.String()}
	}
	n := int64(1)
	for _, d := range dims {
		if d < 0 || d > 0 && n > maxElements/d {
			return 0, &FrameError{fmt.Sprintf("an array of dimensions %v", dims)}
		}
		n *= d
	}
	return int(n) * typ.HostBytes(), nil
}

// nowhere is the place of bytes that are not in the shared memory.
const nowhere = ^uint64(0)

// span gives the address of n bytes of the shared memory.
func (s *server) span(place uint64, n int) (unsafe.Pointer, error) {
	if place > uint64(len(s.shared)) || uint64(n) > uint64(len(s.shared))-place || len(s.shared) == 0 {
		return nil, &FrameError{fmt.Sprintf("%d bytes at %d are outside the shared memory", n, place)}
	}
	return unsafe.Pointer(unsafe.SliceData(s.shared[place:])), nil
}

// inputs appends the buffers of an execution; a buffer that failed makes it fail.
func (s *server) inputs(into []*capi.Buffer, ids []uint64) ([]*capi.Buffer, error) {
	for _, id := range ids {
		h, ok := s.buffers[id]
		if !ok {
			return into, &missingError{"buffer", id}
		}
		if h.err != nil {
			return into, h.err
		}
		into = append(into, h.b)
	}
	return into, nil
}

func (s *server) execute(c *cursor) ([][]byte, error) {
	id := c.word()
	s.ins, s.outs = c.ids(s.ins[:0]), c.ids(s.outs[:0])
	if c.bad {
		return nil, nil
	}
	ins, outs := s.ins, s.outs
	at := time.Now()
	res, ev, err := s.run(id, ins, len(outs))
	for i, o := range outs {
		if err != nil {
			s.buffers[o] = held{err: err}
			continue
		}
		s.buffers[o] = held{b: res[i]}
	}
	if err == nil {
		s.track(ev, at)
	}
	return nil, nil // the outputs carry the error
}

func (s *server) run(id uint64, ins []uint64, outs int) ([]*capi.Buffer, capi.Event, error) {
	x := s.programs[id]
	if x == nil {
		return nil, capi.Event{}, &missingError{"program", id}
	}
	if outs != x.NumOutputs() {
		return nil, capi.Event{}, &FrameError{fmt.Sprintf("%d results asked of a program with %d", outs, x.NumOutputs())}
	}
	var err error
	if s.found, err = s.inputs(s.found[:0], ins); err != nil {
		return nil, capi.Event{}, err
	}
	return x.Execute(s.found)
}

func (s *server) executeAll(c *cursor) ([][]byte, error) {
	id := c.word()
	ins, outs := make([][]uint64, c.count(16)), [][]uint64(nil)
	for d := range ins {
		ins[d] = c.ids(nil)
		outs = append(outs, c.ids(nil))
	}
	if c.bad {
		return nil, nil
	}
	at := time.Now()
	res, evs, err := s.runAll(id, ins)
	for d := range outs {
		for i, o := range outs[d] {
			if err != nil {
				s.buffers[o] = held{err: err}
				continue
			}
			if i < len(res[d]) {
				s.buffers[o] = held{b: res[d][i]}
			}
		}
	}
	for _, ev := range evs {
		s.track(ev, at)
	}
	return nil, nil
}

func (s *server) runAll(id uint64, ins [][]uint64) ([][]*capi.Buffer, []capi.Event, error) {
	x := s.programs[id]
	if x == nil || len(ins) == 0 {
		return nil, nil, &missingError{"program", id}
	}
	all := make([][]*capi.Buffer, len(ins))
	for d := range ins {
		in, err := s.inputs(nil, ins[d])
		if err != nil {
			return nil, nil, err
		}
		all[d] = in
	}
	return x.ExecuteAll(all)
}

// maxPending is how many executions may be under way before the oldest is awaited.
const maxPending = 64

// started is an execution under way.
type started struct {
	ev capi.Event
	at time.Time
}

func (s *server) track(ev capi.Event, at time.Time) {
	s.pending = append(s.pending, started{ev, at})
	if len(s.pending) > maxPending {
		s.await(len(s.pending) / 2)
	}
}

// await waits for the oldest n executions. One that began before another ended
// counts from there.
func (s *server) await(n int) {
	for _, p := range s.pending[:n] {
		if err := p.ev.Wait(); err != nil && s.failed == nil {
			s.failed = err
		}
		now := time.Now()
		if s.idle.After(p.at) {
			p.at = s.idle
		}
		s.busy += now.Sub(p.at)
		s.idle = now
	}
	s.pending = append(s.pending[:0], s.pending[n:]...)
}

func (s *server) sync(*cursor) ([][]byte, error) {
	s.await(len(s.pending))
	err, busy := s.failed, s.busy
	s.failed, s.busy = nil, 0
	return [][]byte{message(nil).word(uint64(busy))}, err
}

// get copies a buffer to the shared memory, or into the reply.
func (s *server) get(c *cursor) ([][]byte, error) {
	id, place := c.word(), c.word()
	if c.bad {
		return nil, nil
	}
	in, err := s.inputs(s.found[:0], []uint64{id})
	if err != nil {
		return nil, err
	}
	if place == nowhere {
		b, err := in[0].Bytes()
		return [][]byte{b}, err
	}
	n, err := in[0].HostBytes()
	if err != nil {
		return nil, err
	}
	at, err := s.span(place, n)
	if err != nil {
		return nil, err
	}
	return nil, in[0].ToHost(at, n)
}

func (s *server) free(c *cursor) ([][]byte, error) {
	var first error
	s.ins = c.ids(s.ins[:0])
	for _, id := range s.ins {
		if h, ok := s.buffers[id]; ok {
			if err := h.b.Destroy(); err != nil && first == nil {
				first = err
			}
			delete(s.buffers, id)
		}
	}
	return nil, first
}
