package capi

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The extension of libtpu for its executables, and the functions of it that
// are used, by their places after the head (openxla/xla,
// xla/pjrt/c/pjrt_c_api_tpu_executable_extension.h).
const (
	tpuExecutable = 17

	tpuTarget      = 0 // serialized executable → the chip it is for
	tpuModule      = 1 // serialized executable → HloModuleProtoWithConfig
	tpuMemoryStats = 3 // serialized executable → CompiledMemoryStatsProto
	tpuCost        = 4 // chip and modules → named values
)

// TPUTarget gives the chip that a serialized executable is for, as TPUCost
// wants it. The error is Unimplemented for a plug-in that is not libtpu's.
func (p *Plugin) TPUTarget(serialized []byte) ([]byte, error) {
	return p.tpuBytes(tpuTarget, serialized)
}

// TPUModule gives the optimized program of a serialized executable, a
// HloModuleProtoWithConfig.
func (p *Plugin) TPUModule(serialized []byte) ([]byte, error) {
	return p.tpuBytes(tpuModule, serialized)
}

// TPUMemoryStats gives the memory report of a serialized executable with its
// buffer assignment, a CompiledMemoryStatsProto.
func (p *Plugin) TPUMemoryStats(serialized []byte) ([]byte, error) {
	return p.tpuBytes(tpuMemoryStats, serialized)
}

// extension gives a function of an extension, 0 when there is none.
func (p *Plugin) extension(typ, i int) uintptr {
	for _, x := range p.Extensions() {
		if at := int(unsafe.Sizeof(extensionHead{})) + 8*i; x.Type == typ && at+8 <= x.Bytes {
			return *(*uintptr)(unsafe.Add(x.at, at))
		}
	}
	return 0
}

// callTPU calls a function of the extension with its arguments.
func callTPU[T any](p *Plugin, i int, a *padded[T]) error {
	fn := p.extension(tpuExecutable, i)
	if fn == 0 {
		return &Error{Code: Unimplemented, Message: fmt.Sprintf("this plug-in lacks function %d of the TPU executable extension", i)}
	}
	*(*uintptr)(unsafe.Pointer(&a.args)) = unsafe.Sizeof(a.args)
	var pin runtime.Pinner
	pin.Pin(a)
	r, _, _ := purego.SyscallN(fn, uintptr(unsafe.Pointer(a)))
	pin.Unpin()
	if r == 0 {
		return nil
	}
	return p.takeError(r)
}

func (p *Plugin) tpuBytes(i int, in []byte) ([]byte, error) {
	if len(in) == 0 {
		return nil, &Error{Code: InvalidArgument, Message: "an empty executable"}
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[tpuBytesArgs]{}
	a.args.in, a.args.nin = pinBytes(&pin, in)
	if err := callTPU(p, i, a); err != nil {
		return nil, err
	}
	out := []byte(goString(a.args.out, a.args.nout))
	if a.args.deleter != 0 {
		purego.SyscallN(a.args.deleter, a.args.owner)
	}
	return out, nil
}

// TPUCost runs the compiler's cost model for a chip over a program, a
// HloModuleProtoWithConfig: flops, bytes accessed, optimal_seconds, …
func (p *Plugin) TPUCost(target, module []byte) (map[string]any, error) {
	if len(module) == 0 {
		return nil, &Error{Code: InvalidArgument, Message: "an empty program"}
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[tpuCostArgs]{}
	a.args.target, a.args.ntarget = pinBytes(&pin, target)
	at, n := pinBytes(&pin, module)
	modules, sizes := []unsafe.Pointer{at}, []uintptr{n}
	pin.Pin(&modules[0])
	pin.Pin(&sizes[0])
	a.args.modules, a.args.sizes, a.args.n = unsafe.Pointer(&modules[0]), unsafe.Pointer(&sizes[0]), 1
	if err := callTPU(p, tpuCost, a); err != nil {
		return nil, err
	}
	out := decodeValues(a.args.out, a.args.nout)
	if a.args.deleter != 0 {
		purego.SyscallN(a.args.deleter, a.args.owner)
	}
	return out, nil
}
