package worker

import (
	"encoding/json"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// An AOTRequest asks to compile for devices that need not be here.
type AOTRequest struct {
	Topology        string // v5e:1x1
	TopologyOptions map[string]string
	Options         []byte // CompileOptionsProto
	Format          string
}

// An AOTReport is what the compiler says of the program.
type AOTReport struct {
	Platform    string
	Version     string
	Devices     []capi.Description
	Name        string
	Fingerprint []byte
	CodeBytes   int64
	Memory      capi.Memory
	Cost        Cost
	Outputs     []Output
	Format      string // of the optimized program
	Optimized   []byte
	Serialized  []byte
	TPU         TPUReport // empty without libtpu
}

// aot compiles ahead of time and reports.
func (s *server) aot(c *cursor) ([][]byte, error) {
	var r AOTRequest
	if err := json.Unmarshal(c.bytes(), &r); err != nil {
		return nil, err
	}
	code := c.bytes()
	if c.bad {
		return nil, nil
	}
	options := map[string]any{}
	for k, v := range r.TopologyOptions {
		options[k] = v
	}
	t, err := s.plugin.NewTopology(r.Topology, options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Destroy() }()
	rep := AOTReport{}
	if rep.Platform, rep.Version, err = t.Platform(); err != nil {
		return nil, err
	}
	if rep.Devices, err = t.Devices(); err != nil {
		return nil, err
	}
	x, err := t.Compile(r.Format, code, r.Options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = x.Destroy() }()
	if err := report(x, &rep); err != nil {
		return nil, err
	}
	if s.isTPU() {
		if rep.TPU, err = s.tpuReport(rep.Serialized); err != nil {
			return nil, err
		}
		rep.TPU.Module = nil // it is Optimized
	}
	return asJSON(rep)
}

func report(x *capi.Executable, rep *AOTReport) (err error) {
	if rep.Name, err = x.Name(); err != nil {
		return err
	}
	if fp, err := x.Fingerprint(); err == nil {
		rep.Fingerprint = []byte(fp)
	}
	if rep.CodeBytes, err = x.CodeBytes(); err != nil {
		return err
	}
	if rep.Memory, err = x.Memory(); err != nil {
		return err
	}
	if c, err := x.Cost(); err == nil { // not every compiler has one
		rep.Cost = costOf(c)
	}
	types, err := x.OutputTypes()
	if err != nil {
		return err
	}
	dims, err := x.OutputDims()
	if err != nil {
		return err
	}
	for i, t := range types {
		rep.Outputs = append(rep.Outputs, Output{t, dims[i]})
	}
	if rep.Optimized, rep.Format, err = x.Optimized(); err != nil {
		return err
	}
	rep.Serialized, err = x.Serialize()
	return err
}
