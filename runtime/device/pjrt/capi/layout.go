//lint:file-ignore U1000 the layout of a structure is what C says, whether a field is used or not

package capi

import "unsafe"

// Numbers of functions in the interface's table. Functions are only ever
// appended to it, so a number holds for every plug-in whose table is long
// enough (openxla/xla, xla/pjrt/c/pjrt_c_api.h).
const (
	slotErrorDestroy          = 0
	slotErrorMessage          = 1
	slotErrorGetCode          = 2
	slotPluginInitialize      = 3
	slotPluginAttributes      = 4
	slotEventDestroy          = 5
	slotEventAwait            = 8
	slotClientCreate          = 10
	slotClientDestroy         = 11
	slotClientPlatformName    = 12
	slotClientPlatformVersion = 14
	slotClientAddressable     = 16
	slotClientCompile         = 20
	slotClientFromHost        = 22
	slotDescID                = 23
	slotDescAttributes        = 25
	slotDescKind              = 26
	slotDescString            = 28
	slotDeviceDescription     = 29
	slotExeDestroy            = 40
	slotExeName               = 41
	slotExeNumOutputs         = 44
	slotExeCodeSize           = 45
	slotExeCost               = 46
	slotExeOptimized          = 48
	slotExeSerialize          = 49
	slotLoadedDestroy         = 50
	slotLoadedGetExe          = 51
	slotLoadedExecute         = 55
	slotExeDeserialize        = 56
	slotBufferDestroy         = 58
	slotBufferType            = 59
	slotBufferDims            = 60
	slotBufferLayout          = 63
	slotBufferSize            = 64
	slotBufferIsDeleted       = 68
	slotBufferToHost          = 70
	slotTopologyCreate        = 82
	slotTopologyDestroy       = 83
	slotTopologyPlatformName  = 84
	slotTopologyVersion       = 85
	slotTopologyDescriptions  = 86
	slotCompile               = 89
	slotExeOutputTypes        = 90
	slotExeOutputDims         = 91
	slotExeFingerprint        = 94
	slotExeMemoryStats        = 96
)

// header starts every structure of arguments.
type header struct {
	size uintptr
	ext  uintptr
}

type apiHead struct {
	header
	version      header
	major, minor int32
}

type extensionHead struct {
	size uintptr
	typ  int32
	_    int32
	next uintptr
}

type noArgs struct{ header }

type handleArgs struct { // a handle in
	header
	h uintptr
}

type wordArgs struct { // a handle in, a word out: pointer, size, int or bool
	header
	in, out uintptr
}

type inSpanArgs struct { // a handle in, pointer and count out
	header
	in  uintptr
	ptr unsafe.Pointer
	n   uintptr
}

type inSpanRevArgs struct { // a handle in, count and pointer out
	header
	in  uintptr
	n   uintptr
	ptr unsafe.Pointer
}

type in2SpanArgs struct { // a handle in, count and two pointers out
	header
	in   uintptr
	n    uintptr
	ptr  unsafe.Pointer
	lens unsafe.Pointer
}

type spanArgs struct { // pointer and count out
	header
	ptr unsafe.Pointer
	n   uintptr
}

type namedValue struct {
	header
	name  unsafe.Pointer
	nname uintptr
	typ   int32
	_     int32
	value uint64 // pointer, int64, float32 or bool
	n     uintptr
}

type clientCreateArgs struct {
	header
	opts            unsafe.Pointer
	nopts           uintptr
	kvGet, kvGetArg uintptr
	kvPut, kvPutArg uintptr
	client          uintptr
	kvTry, kvTryArg uintptr
}

type programArgs struct {
	header
	code    unsafe.Pointer
	ncode   uintptr
	format  unsafe.Pointer
	nformat uintptr
}

type compileArgs struct {
	header
	client uintptr
	prog   unsafe.Pointer
	opts   unsafe.Pointer
	nopts  uintptr
	exe    uintptr
}

type aotArgs struct {
	header
	topology uintptr
	prog     unsafe.Pointer
	opts     unsafe.Pointer
	nopts    uintptr
	client   uintptr
	exe      uintptr
}

type topologyArgs struct {
	header
	name     unsafe.Pointer
	nname    uintptr
	opts     unsafe.Pointer
	nopts    uintptr
	topology uintptr
}

type fromHostArgs struct {
	header
	client    uintptr
	data      unsafe.Pointer
	typ       int32
	_         int32
	dims      unsafe.Pointer
	ndims     uintptr
	strides   unsafe.Pointer
	nstrides  uintptr
	semantics int32
	_         int32
	device    uintptr
	memory    uintptr
	layout    uintptr
	done      uintptr
	buf       uintptr
}

type toHostArgs struct {
	header
	src    uintptr
	layout unsafe.Pointer
	dst    unsafe.Pointer
	ndst   uintptr
	event  uintptr
}

type tiledLayout struct {
	header
	minorToMajor  unsafe.Pointer
	nMinorToMajor uintptr
	tileDims      unsafe.Pointer
	tileDimSizes  unsafe.Pointer
	nTiles        uintptr
}

type memoryLayout struct {
	header
	tiled tiledLayout // a union with the shorter form of strides
	typ   int32
	_     int32
}

type layoutArgs struct {
	header
	buf    uintptr
	layout memoryLayout
}

type executeOptions struct {
	header
	send, recv   uintptr
	nsend, nrecv uintptr
	launchID     int32
	_            int32
	keep         unsafe.Pointer // inputs that must not be donated
	nkeep        uintptr
	context      uintptr
	location     unsafe.Pointer
	ntasks       uintptr
	tasks        uintptr
	incarnations uintptr
	multiSlice   uintptr
}

type executeArgs struct {
	header
	exe    uintptr
	opts   unsafe.Pointer
	args   unsafe.Pointer
	ndev   uintptr
	nargs  uintptr
	outs   unsafe.Pointer
	events unsafe.Pointer
	device uintptr
}

type serializeArgs struct {
	header
	exe     uintptr
	ptr     unsafe.Pointer
	n       uintptr
	handle  uintptr
	deleter uintptr
}

type deserializeArgs struct {
	header
	client uintptr
	ptr    unsafe.Pointer
	n      uintptr
	exe    uintptr
	opts   unsafe.Pointer
	nopts  uintptr
}

type compiledMemoryArgs struct {
	header
	exe   uintptr
	stats Memory
}

// A Memory is what a compiled program takes, in bytes.
type Memory struct {
	Code, Arguments, Outputs, Alias, Temp                     int64
	HostCode, HostArguments, HostOutputs, HostAlias, HostTemp int64
	Peak, Total, TotalAllocation, Indefinite                  int64
	PeakUnpaddedHeap                                          int64
}

// tpuBytesArgs is bytes in, bytes out. The structures of this extension have a
// size and no extensions of their own.
type tpuBytesArgs struct {
	size    uintptr
	in      unsafe.Pointer
	nin     uintptr
	out     unsafe.Pointer
	nout    uintptr
	owner   uintptr
	deleter uintptr
}

type tpuCostArgs struct {
	size    uintptr
	target  unsafe.Pointer
	ntarget uintptr
	modules unsafe.Pointer // of pointers
	sizes   unsafe.Pointer
	n       uintptr
	out     unsafe.Pointer
	nout    uintptr
	owner   uintptr
	deleter uintptr
}
