package capi

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// An Executable is a compiled program.
type Executable struct {
	p       *Plugin
	h       uintptr // PJRT_LoadedExecutable, 0 when it was compiled ahead of time
	exe     uintptr // PJRT_Executable
	outputs int
}

func (c *Client) wrap(loaded uintptr) (*Executable, error) {
	exe, err := c.p.callWord(slotLoadedGetExe, loaded)
	if err != nil {
		return nil, err
	}
	n, err := c.p.callWord(slotExeNumOutputs, exe)
	if err != nil {
		return nil, err
	}
	return &Executable{c.p, loaded, exe, int(n)}, nil
}

// Destroy frees the program. Native code does not survive a handle that is
// used afterwards, so ours are zeroed.
func (e *Executable) Destroy() error {
	if e == nil || e.exe == 0 {
		return nil
	}
	exe, h := e.exe, e.h
	e.exe, e.h = 0, 0
	err := e.p.callHandle(slotExeDestroy, exe)
	if h != 0 {
		if lerr := e.p.callHandle(slotLoadedDestroy, h); err == nil {
			err = lerr
		}
	}
	return err
}

// NumOutputs is how many results a run gives; a tuple counts its elements.
func (e *Executable) NumOutputs() int { return e.outputs }

// Name is the name of the module.
func (e *Executable) Name() (string, error) { return e.p.callString(slotExeName, e.exe) }

// Fingerprint tells programs apart.
func (e *Executable) Fingerprint() (string, error) { return e.p.callString(slotExeFingerprint, e.exe) }

// CodeBytes is the size of the machine code.
func (e *Executable) CodeBytes() (int64, error) {
	v, err := e.p.callWord(slotExeCodeSize, e.exe)
	return int64(v), err
}

// Cost is the compiler's own cost analysis, by the names it gives: flops,
// bytes accessed, optimal_seconds, …
func (e *Executable) Cost() (map[string]any, error) {
	a := &padded[inSpanRevArgs]{}
	a.args.in = e.exe
	if err := call(e.p, slotExeCost, a); err != nil {
		return nil, err
	}
	return decodeValues(a.args.ptr, a.args.n), nil
}

// Memory is the compiled program's memory report.
func (e *Executable) Memory() (Memory, error) {
	a := &padded[compiledMemoryArgs]{}
	a.args.exe = e.exe
	err := call(e.p, slotExeMemoryStats, a)
	return a.args.stats, err
}

// OutputTypes lists the element types of the results.
func (e *Executable) OutputTypes() ([]Type, error) {
	return callSpan[Type](e.p, slotExeOutputTypes, e.exe)
}

// OutputDims lists the dimensions of the results.
func (e *Executable) OutputDims() ([][]int64, error) {
	a := &padded[in2SpanArgs]{}
	a.args.in = e.exe
	if err := call(e.p, slotExeOutputDims, a); err != nil || a.args.n == 0 {
		return nil, err
	}
	var all [][]int64
	at := a.args.ptr
	for _, n := range unsafe.Slice((*uintptr)(a.args.lens), a.args.n) {
		all = append(all, append([]int64{}, unsafe.Slice((*int64)(at), n)...))
		at = unsafe.Add(at, n*8)
	}
	return all, nil
}

// Optimized gives the program after the compiler's passes and its format,
// hlo_with_config for a HloModuleProtoWithConfig.
func (e *Executable) Optimized() (code []byte, format string, err error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	g := &padded[programArgs]{}
	g.args.size = unsafe.Sizeof(g.args)
	pin.Pin(g)
	a := &padded[wordArgs]{}
	a.args.in, a.args.out = e.exe, uintptr(unsafe.Pointer(g))
	if err := call(e.p, slotExeOptimized, a); err != nil { // without room it tells the size
		return nil, "", err
	}
	b := make([]byte, g.args.ncode)
	g.args.code, _ = pinBytes(&pin, b)
	if err := call(e.p, slotExeOptimized, a); err != nil {
		return nil, "", err
	}
	return b, goString(g.args.format, g.args.nformat), nil
}

// Serialize gives the compiled program, machine code included.
func (e *Executable) Serialize() ([]byte, error) {
	a := &padded[serializeArgs]{}
	a.args.exe = e.exe
	if err := call(e.p, slotExeSerialize, a); err != nil {
		return nil, err
	}
	b := []byte(goString(a.args.ptr, a.args.n))
	if a.args.deleter != 0 {
		purego.SyscallN(a.args.deleter, a.args.handle)
	}
	return b, nil
}

// A NotLoadedError says that a program was compiled ahead of time for a device
// that is not here.
type NotLoadedError struct{}

// Error says so.
func (*NotLoadedError) Error() string {
	return "the program was compiled ahead of time and cannot run here"
}

// An InputError is an input that is not there any more.
type InputError struct{ Index int }

// Error gives its place.
func (e *InputError) Error() string { return fmt.Sprintf("input %d is a destroyed buffer", e.Index) }

func words(n int) []uintptr { return make([]uintptr, max(n, 1)) }

// Execute runs the program on one device. No input is donated: whose a buffer
// is the caller decides. The results may be inputs of other runs at once; the
// event says when the work is done.
func (e *Executable) Execute(in []*Buffer) ([]*Buffer, Event, error) {
	if e.h == 0 {
		return nil, Event{}, &NotLoadedError{}
	}
	f := e.p.frames.get()
	defer e.p.frames.put(f)
	f.fit(len(in), e.outputs)
	for i, b := range in {
		if b == nil || b.h == 0 {
			return nil, Event{}, &InputError{i}
		}
		f.args[i] = b.h
	}
	clear(f.outs[:e.outputs])
	f.event = 0
	f.o.args = executeOptions{header: header{size: unsafe.Sizeof(f.o.args)}, keep: unsafe.Pointer(&f.keep[0]), nkeep: uintptr(len(in))}
	f.a.args = executeArgs{
		exe: e.h, opts: unsafe.Pointer(&f.o), args: unsafe.Pointer(&f.argLists), ndev: 1,
		nargs: uintptr(len(in)), outs: unsafe.Pointer(&f.outLists), events: unsafe.Pointer(&f.event),
	}
	if err := callPinned(e.p, slotLoadedExecute, unsafe.Pointer(&f.a), unsafe.Sizeof(f.a.args)); err != nil {
		return nil, Event{}, err
	}
	out, made := make([]*Buffer, e.outputs), make([]Buffer, e.outputs)
	for i := range out {
		made[i] = Buffer{e.p, f.outs[i]}
		out[i] = &made[i]
	}
	return out, Event{e.p, f.event}, nil
}

// ExecuteAll runs a program on several devices in one call: in[d] are the
// inputs of the d-th device of its assignment.
func (e *Executable) ExecuteAll(in [][]*Buffer) ([][]*Buffer, []Event, error) {
	if e.h == 0 {
		return nil, nil, &NotLoadedError{}
	}
	n := len(in)
	var pin runtime.Pinner
	defer pin.Unpin()
	argLists, outLists, events := make([]unsafe.Pointer, n), make([]unsafe.Pointer, n), make([]uintptr, n)
	outs := make([][]uintptr, n)
	for d := range in {
		args := words(len(in[d]))
		for i, b := range in[d] {
			if b == nil || b.h == 0 {
				return nil, nil, &InputError{i}
			}
			args[i] = b.h
		}
		outs[d] = words(e.outputs)
		pin.Pin(&args[0])
		pin.Pin(&outs[d][0])
		argLists[d], outLists[d] = unsafe.Pointer(&args[0]), unsafe.Pointer(&outs[d][0])
	}
	pin.Pin(&argLists[0])
	pin.Pin(&outLists[0])
	pin.Pin(&events[0])
	o := &padded[executeOptions]{}
	o.args.size = unsafe.Sizeof(o.args)
	pin.Pin(o)
	a := &padded[executeArgs]{}
	a.args = executeArgs{
		exe: e.h, opts: unsafe.Pointer(o), args: unsafe.Pointer(&argLists[0]), ndev: uintptr(n),
		nargs: uintptr(len(in[0])), outs: unsafe.Pointer(&outLists[0]), events: unsafe.Pointer(&events[0]),
	}
	if err := call(e.p, slotLoadedExecute, a); err != nil {
		return nil, nil, err
	}
	res, evs := make([][]*Buffer, n), make([]Event, n)
	for d := range res {
		for _, h := range outs[d][:e.outputs] {
			res[d] = append(res[d], &Buffer{e.p, h})
		}
		evs[d] = Event{e.p, events[d]}
	}
	return res, evs, nil
}
