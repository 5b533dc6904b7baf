package capi

import "runtime"

// A Topology describes devices that need not be there, for compiling ahead of time.
type Topology struct {
	p *Plugin
	h uintptr
}

// A Description is what a device says of itself.
type Description struct {
	ID         int
	Kind, Text string
	Attributes map[string]any
}

// NewTopology makes a topology by its name, v5e:2x2 say.
func (p *Plugin) NewTopology(name string, options map[string]any) (*Topology, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[topologyArgs]{}
	a.args.name, a.args.nname = pinBytes(&pin, []byte(name))
	var err error
	if a.args.opts, a.args.nopts, err = encodeValues(&pin, options); err != nil {
		return nil, err
	}
	if err := call(p, slotTopologyCreate, a); err != nil {
		return nil, err
	}
	return &Topology{p, a.args.topology}, nil
}

// Destroy frees the topology.
func (t *Topology) Destroy() error { return t.p.callHandle(slotTopologyDestroy, t.h) }

// Platform is the name and the version of the compiler.
func (t *Topology) Platform() (name, version string, err error) {
	if name, err = t.p.callString(slotTopologyPlatformName, t.h); err != nil {
		return "", "", err
	}
	version, err = t.p.callString(slotTopologyVersion, t.h)
	return name, version, err
}

// Devices describes the devices.
func (t *Topology) Devices() ([]Description, error) {
	handles, err := callSpan[uintptr](t.p, slotTopologyDescriptions, t.h)
	if err != nil {
		return nil, err
	}
	var all []Description
	for _, h := range handles {
		d, err := t.p.describe(h)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// describe reads a description of a device.
func (p *Plugin) describe(h uintptr) (d Description, err error) {
	id, err := p.callWord(slotDescID, h)
	if err != nil {
		return d, err
	}
	d.ID = int(int32(id))
	if d.Kind, err = p.callString(slotDescKind, h); err != nil {
		return d, err
	}
	if d.Text, err = p.callString(slotDescString, h); err != nil {
		return d, err
	}
	a := &padded[inSpanRevArgs]{}
	a.args.in = h
	if err := call(p, slotDescAttributes, a); err != nil {
		return d, err
	}
	d.Attributes = decodeValues(a.args.ptr, a.args.n)
	return d, nil
}

// Compile compiles a program ahead of time. The executable cannot run here.
func (t *Topology) Compile(format string, code, options []byte) (*Executable, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[aotArgs]{}
	a.args.topology, a.args.prog = t.h, program(&pin, format, code)
	a.args.opts, a.args.nopts = pinBytes(&pin, options)
	if err := call(t.p, slotCompile, a); err != nil {
		return nil, err
	}
	n, err := t.p.callWord(slotExeNumOutputs, a.args.exe)
	return &Executable{p: t.p, exe: a.args.exe, outputs: int(n)}, err
}
