package exec

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/op"
)

// defInfo is what the dispatcher needs of a row at every call, looked up once.
type defInfo struct {
	def     *op.Def
	name    string
	hash    uint64
	dynamic []bool // per attribute, in the row's order
	names   []string
	meta    bool
	single  bool // one result, inferred by Shape and DType

	sites    [sitesOf]*site
	nextSite int
}

func newDefInfo(d *op.Def) *defInfo {
	i := &defInfo{def: d, name: string(d.Name), hash: hashString(seed, string(d.Name)), meta: d.Has(op.MetadataOnly), single: d.Infer == nil}
	for _, p := range d.Attributes() {
		i.dynamic = append(i.dynamic, p.Dynamic)
		i.names = append(i.names, p.Name)
	}
	return i
}

// isDynamic says whether attribute k, called name, is an argument of the
// executable. Attributes come in the row's order, so the guess k nearly always holds.
func (i *defInfo) isDynamic(k int, name string) bool {
	if k < len(i.names) && i.names[k] == name {
		return i.dynamic[k]
	}
	for j, n := range i.names {
		if n == name {
			return i.dynamic[j]
		}
	}
	return false
}

func (d *Dispatcher) info(def *op.Def) *defInfo {
	at := &d.recent[uintptr(unsafe.Pointer(def))/unsafe.Sizeof(*def)%uintptr(len(d.recent))]
	if i := *at; i != nil && i.def == def {
		return i
	}
	i := d.infos[def]
	if i == nil {
		i = newDefInfo(def)
		d.infos[def] = i
	}
	*at = i
	return i
}

// isDims says whether a static attribute is a list of sizes: it then belongs
// to the dimensions of a key, not to its shapeless part.
func (i *defInfo) isDims(name string) bool { return name == "size" || name == "stride" }
