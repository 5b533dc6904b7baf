package capi

import (
	"runtime"
	"unsafe"
)

// A Client owns devices, buffers and executables.
type Client struct {
	p       *Plugin
	h       uintptr
	devices []*Device
}

// A Device is one that this process can reach.
type Device struct {
	h    uintptr
	ID   int
	Kind string
	Text string
}

// NewClient makes a client; the options are those of the plug-in.
func (p *Plugin) NewClient(options map[string]any) (*Client, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[clientCreateArgs]{}
	var err error
	if a.args.opts, a.args.nopts, err = encodeValues(&pin, options); err != nil {
		return nil, err
	}
	if err := call(p, slotClientCreate, a); err != nil {
		return nil, err
	}
	c := &Client{p: p, h: a.args.client}
	handles, err := callSpan[uintptr](p, slotClientAddressable, c.h)
	if err != nil {
		return nil, err
	}
	for _, h := range handles {
		d, err := p.device(h)
		if err != nil {
			return nil, err
		}
		c.devices = append(c.devices, d)
	}
	return c, nil
}

func (p *Plugin) device(h uintptr) (*Device, error) {
	desc, err := p.callWord(slotDeviceDescription, h)
	if err != nil {
		return nil, err
	}
	d, err := p.describe(desc)
	if err != nil {
		return nil, err
	}
	return &Device{h: h, ID: d.ID, Kind: d.Kind, Text: d.Text}, nil
}

// Destroy frees the client. Buffers and executables must be gone by then.
func (c *Client) Destroy() error { return c.p.callHandle(slotClientDestroy, c.h) }

// Platform is the name and the version of what runs below.
func (c *Client) Platform() (name, version string, err error) {
	if name, err = c.p.callString(slotClientPlatformName, c.h); err != nil {
		return "", "", err
	}
	version, err = c.p.callString(slotClientPlatformVersion, c.h)
	return name, version, err
}

// Devices lists the devices of this process.
func (c *Client) Devices() []*Device { return c.devices }

// The formats of programs.
const (
	MLIR = "mlir" // StableHLO, text or bytecode
	HLO  = "hlo"  // HloModuleProto
)

// Compile compiles a program for this client.
func (c *Client) Compile(format string, code, options []byte) (*Executable, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[compileArgs]{}
	a.args.client, a.args.prog = c.h, program(&pin, format, code)
	a.args.opts, a.args.nopts = pinBytes(&pin, options)
	if err := call(c.p, slotClientCompile, a); err != nil {
		return nil, err
	}
	return c.wrap(a.args.exe)
}

func program(pin *runtime.Pinner, format string, code []byte) unsafe.Pointer {
	g := &padded[programArgs]{}
	g.args.size = unsafe.Sizeof(g.args)
	g.args.code, g.args.ncode = pinBytes(pin, code)
	g.args.format, g.args.nformat = pinBytes(pin, []byte(format))
	pin.Pin(g)
	return unsafe.Pointer(g)
}

// Deserialize loads what Executable.Serialize gave. The format has no check of
// its own: bytes of another library give wrong numbers.
func (c *Client) Deserialize(b []byte) (*Executable, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[deserializeArgs]{}
	a.args.client = c.h
	a.args.ptr, a.args.n = pinBytes(&pin, b)
	if err := call(c.p, slotExeDeserialize, a); err != nil {
		return nil, err
	}
	return c.wrap(a.args.exe)
}
