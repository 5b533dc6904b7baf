package hlo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The samples are answers of libtpu 0.0.52 for v5e: mlp is two products, a
// bias, relu and softmax; oom three products of 65536 × 65536 that do not fit.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mlp(t testing.TB) (*Module, MemoryStats) {
	t.Helper()
	m, err := ParseWithConfig(sample(t, "mlp.hlo"))
	if err != nil {
		t.Fatal(err)
	}
	return m, ParseMemoryStats(sample(t, "mlp.mem"), m)
}

func TestModule(t *testing.T) {
	m, _ := mlp(t)
	var got []string
	for _, in := range m.Entry.Instructions {
		if !in.Runs() {
			continue
		}
		var ops []string
		for _, p := range m.Places(in) {
			ops = append(ops, p.OpName)
		}
		got = append(got, fmt.Sprintf("%s %s %s cycles=%d vmem=%d unit=%s window=%s at=%s ops=%s", in.Name, in.Opcode, in.Kind, in.Config.Cycles,
			in.Config.ScopedBytes, m.Unit(in), strings.Join(in.Config.Window, "x"), in.Place, strings.Join(ops, " ")))
	}
	want := []string{
		"copy-start copy-start  cycles=-1 vmem=0 unit=DMA window= at= ops=",
		"bias.0 convert  cycles=1834 vmem=8192 unit=VPU window=4 at=cell_1.go:5 ops=cell1/op2/bias",
		"copy-done copy-done  cycles=-1 vmem=0 unit=DMA window= at= ops=",
		"fusion.7 fusion kOutput cycles=84039 vmem=8151040 unit=MXU window=125x4 at=cell_1.go:7 ops=cell1/op4/matmul cell1/op1/matmul cell1/op2/bias cell1/op3/relu cell1/op5/max",
		"fusion.5 fusion kLoop cycles=10899 vmem=4096 unit=EUP window=125x4 at=cell_1.go:10 ops=cell1/op7/sum cell1/op6/exp",
		"copy-start.1 copy-start  cycles=-1 vmem=0 unit=DMA window= at= ops=",
		"divide_convert_fusion fusion kLoop cycles=13360 vmem=1392640 unit=EUP window=125x4 at=cell_1.go:11 ops=cell1/op8/div cell1/op6/exp",
		"copy-done.1 copy-done  cycles=-1 vmem=0 unit=DMA window= at= ops=",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if in := m.Parameters(); len(in) != 4 || in[0].Shape.String() != "bf16[512,1000]{0,1:T(8,128)(2,1)}" || in[2].Shape.Dims[0] != 4096 {
		t.Errorf("parameters %v", in)
	}
	for _, in := range m.Parameters() {
		if in.Shape.PaddedBytes() != map[int64]int64{0: 1024000, 1: 8192000, 2: 8192, 3: 8192000}[in.Index] {
			t.Errorf("parameter %d takes %d bytes", in.Index, in.Shape.PaddedBytes())
		}
	}
}

func TestAssignment(t *testing.T) {
	m, s := mlp(t)
	if s.Arguments != 17416192 || s.Outputs != 1026560 || s.Temp != 0 || s.Alias != 0 || s.Code != 1651200 {
		t.Errorf("%+v", s)
	}
	as := s.Assignment
	if n, at := as.Peak(HBM); n != 18442752 || at != 12 {
		t.Errorf("HBM peak %d at %d", n, at)
	}
	if n, at := as.Peak(VMEM); n != 10258432 || at != 7 {
		t.Errorf("VMEM peak %d at %d", n, at)
	}
	// The padded size that the tiles give is the size of the allocation.
	for _, a := range as.Allocations {
		for _, u := range a.Buffers {
			if u.Def == nil || a.Space != HBM && a.Space != VMEM {
				continue
			}
			if sh, ok := u.Def.Shape.At(u.Path); ok && !sh.IsTuple() && a.Parameter >= 0 && sh.PaddedBytes() != u.Bytes {
				t.Errorf("%s%v %v: %d bytes, tiles give %d", u.Def.Name, u.Path, sh, u.Bytes, sh.PaddedBytes())
			}
		}
	}
	// The weight that is copied ahead lives in VMEM from its copy to the product.
	for _, p := range as.LiveAt(VMEM, 3) {
		if p.Def.Name != "copy-start" || p.First != 1 || p.Last != 7 {
			t.Errorf("live at step 3: %s %d-%d", p.Def.Name, p.First, p.Last)
		}
	}
	if len(m.Slice(m.ByID[m.Entry.Instructions[7].ID])) == 0 {
		t.Error("an instruction cannot be cut out")
	}
}

func TestRefusedPlan(t *testing.T) {
	m, as, err := ParseProto(sample(t, "oom.pb"))
	if err != nil {
		t.Fatal(err)
	}
	n, at := as.Peak(HBM)
	if n != 26031947776 { // as the compiler's own list of live ranges has it
		t.Errorf("peak %d bytes at %d", n, at)
	}
	var got []string
	for _, p := range as.LiveAt(HBM, at) {
		got = append(got, fmt.Sprintf("%s %d %s", p.Def.Name, p.Bytes, p.Def.Place))
	}
	want := []string{"fusion.2 8589934592 cell_7.go:6", "fusion 8589934592 cell_7.go:4", "fusion.1 8589934592 cell_7.go:5", "x.1 131072000 x", "w.1 131072000 w"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if m.Name != "big" {
		t.Errorf("name %q", m.Name)
	}
}

func TestOOMText(t *testing.T) {
	const short = "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (24.24G) exceeds available HBM (15.75G). HLO module: big.\nSee https://openxla.org"
	o, ok := ParseOOM(short)
	if !ok || o.Space != "hbm" || o.Needed>>20 != 24821 || o.Available != 15.75*(1<<30) || len(o.Entries) != 0 || strings.Contains(o.HeadLine, "See") {
		t.Errorf("%+v", o)
	}
	o, ok = ParseOOM(string(sample(t, "oom-long.txt")))
	if !ok || o.Reserved != 258<<20 || o.Arguments != 10.5*(1<<30) || len(o.Entries) != 4 {
		t.Fatalf("%+v", o)
	}
	if e := o.Entries[0]; e.Kind != "global" || e.Bytes != 1<<20 || e.Unpadded != 1<<20 {
		t.Errorf("%+v", e)
	}
	if e := o.Entries[2]; e.Argument() != 1 || e.Kind != "argument" || e.Shape != "f32[1376000,1024]{1,0:T(8,128)}" || e.Bytes != 5.25*(1<<30) {
		t.Errorf("%+v", e)
	}
	if e := o.Entries[3]; e.Argument() != -1 || e.Kind != "output" {
		t.Errorf("%+v", e)
	}
	if _, ok := ParseOOM("another error"); ok {
		t.Error("another error is taken for one of memory")
	}
}

func TestSlots(t *testing.T) {
	s, err := ParseSlots(sample(t, "slots.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Bundles != 97 || len(s.Units) != 11 || s.Units[0].Name != "MATMUL" || s.Units[0].Capacity != 4 || s.Units[7].Name != "VLOAD:FILL" {
		t.Fatalf("%+v", s)
	}
	busy := 0
	for _, u := range s.Units {
		if share := s.Share(u); share < 0 || share > 1 || u.Full > u.Busy || u.Busy > s.Bundles {
			t.Errorf("%+v: share %g", u, share)
		}
		busy += u.Busy
	}
	if busy == 0 || s.Fullest() == nil {
		t.Errorf("nothing is busy: %+v", s)
	}
	for name, want := range map[string]string{
		"1796091849794900077-fusion.7-00-final_hlo-static-per-bundle-utilization.txt":            "fusion.7",
		"1796091849155624921-a-b-00-final_hlo-static-per-bundle-utilization.txt":                 "a-b",
		"1796091849155624921-fusion.7-02-final_bundles.txt":                                      "",
		"final_hlo-static-per-bundle-utilization.txt":                                            "",
		"1796091849155624921-<late-finalization>-00-final_hlo-static-per-bundle-utilization.txt": "<late-finalization>",
	} {
		if got, ok := SlotsFile(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v", name, got, ok)
		}
	}
}

func TestShape(t *testing.T) {
	s := Shape{Type: "tuple", Elems: []Shape{
		{Type: "bf16", Dims: []int64{512, 1000}, Order: []int64{0, 1}, Tiles: [][]int64{{8, 128}, {2, 1}}, Space: VMEM},
		{Type: "u32", Space: Sync},
		{Type: "s4", Dims: []int64{3}, Order: []int64{0}, Tiles: [][]int64{{1024}, {128}, {8, 1}}, Bits: 4},
		{Type: "f32", Tiles: [][]int64{{128}}},
		{Type: "f32", Dims: []int64{5}, Order: []int64{0}, Tiles: [][]int64{{folded, 128}}},
	}}
	if got, want := s.String(), "(bf16[512,1000]{0,1:T(8,128)(2,1)S(1)}, u32[]{:S(2)}, s4[3]{0:T(1024)(128)(8,1)E(4)}, f32[]{:T(128)}, f32[5]{0:T(*,128)})"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, want := range []int64{512 * 1000 * 2, 4, 512, 512, 20} {
		if got := s.Elems[i].PaddedBytes(); got != want {
			t.Errorf("%v takes %d bytes, want %d", s.Elems[i], got, want)
		}
	}
	if len(s.Leaves()) != 5 {
		t.Error("leaves")
	}
	if _, ok := s.At([]int64{5}); ok {
		t.Error("an element that is not there")
	}
}

func TestTarget(t *testing.T) {
	for text, want := range map[string]string{
		"\x12\x04\n\x00\x18\x01\x18\x012\t\b\x04\x12\x04lite\x18": "4 lite", // a varint cut off at the end
		"2\b\b\x06\x18\x01\"\x02ab:\x00":                          "6 ",
		"":                                                        "0 ",
	} {
		g, v := ParseTarget([]byte(text))
		if got := fmt.Sprintf("%d %s", g, v); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestNoModule(t *testing.T) {
	var fe *FormatError
	for _, b := range [][]byte{nil, []byte("no protobuf"), {0x0a, 0x00}} {
		if _, err := ParseWithConfig(b); !errors.As(err, &fe) {
			t.Errorf("%q: %v", b, err)
		}
	}
}

// walk asks everything of a program.
func walk(m *Module, as *Assignment) {
	_ = m.Parameters()
	if r := m.Root(); r != nil {
		_ = r.Shape.Leaves()
	}
	for _, c := range m.Computations {
		for _, in := range c.Instructions {
			_, _, _ = m.Places(in), m.Opcodes(in), m.Unit(in)
			_, _, _ = in.Shape.String(), in.Shape.PaddedBytes(), in.Place.String()
		}
	}
	for _, in := range m.Entry.Instructions[:min(len(m.Entry.Instructions), 3)] {
		_ = m.Slice(in)
	}
	_, at := as.Peak(HBM)
	_ = as.LiveAt(HBM, at)
	_ = as.Use(VMEM)
}

func FuzzModule(f *testing.F) {
	f.Add(sample(f, "mlp.hlo"), sample(f, "mlp.mem"))
	f.Add(sample(f, "oom.pb"), []byte{})
	f.Fuzz(func(_ *testing.T, program, memory []byte) {
		if m, err := ParseWithConfig(program); err == nil {
			walk(m, ParseMemoryStats(memory, m).Assignment)
		}
		if m, as, err := ParseProto(program); err == nil {
			walk(m, as)
		}
	})
}

func FuzzTexts(f *testing.F) {
	f.Add(string(sample(f, "oom-long.txt")))
	f.Add(string(sample(f, "slots.txt")))
	f.Fuzz(func(t *testing.T, text string) {
		if o, ok := ParseOOM(text); ok {
			for i := range o.Entries {
				if o.Entries[i].Argument() < -1 || o.Entries[i].Bytes < 0 {
					t.Error("an entry of less than nothing")
				}
			}
		}
		if s, err := ParseSlots([]byte(text)); err == nil {
			if u := s.Fullest(); u != nil && s.Share(*u) < 0 {
				t.Error("a share below 0")
			}
		}
		_, _ = SlotsFile(text)
	})
}
