package device

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
)

var update = flag.Bool("update", false, "rewrite generated files")

func TestChipsPlausible(t *testing.T) {
	within := func(t *testing.T, what string, x, lo, hi float64) {
		t.Helper()
		if !(x >= lo && x <= hi) {
			t.Errorf("%s is %g, want %g to %g", what, x, lo, hi)
		}
	}
	seen := map[string]bool{}
	for _, c := range Chips() {
		t.Run(c.Name, func(t *testing.T) {
			if seen[c.Name] || c.Doc == "" {
				t.Errorf("name %q seen %v, doc %q", c.Name, seen[c.Name], c.Doc)
			}
			seen[c.Name] = true
			within(t, "HBM GiB", float64(c.HBMBytes)/float64(gib), 8, 300)
			within(t, "HBM rate", c.HBMBytesPerSec, 5e11, 1e13)
			within(t, "HBM efficiency", c.HBMEfficiency, 0.8, 1)
			within(t, "VMEM MiB", float64(c.VMEMBytes/mib), 16, 256)
			within(t, "scoped VMEM share", float64(c.ScopedVMEMBytes)/float64(c.VMEMBytes), 0.1, 0.5)
			within(t, "MXU efficiency", c.MXUEfficiency, 0.8, 1)
			within(t, "int8 efficiency", c.Int8Efficiency, 0.5, 1)
			within(t, "bf16 peak", c.PeakBF16FLOPs, 1e14, 1e16)
			within(t, "f8 over bf16", c.PeakFP8FLOPs/c.PeakBF16FLOPs, 1, 2)
			within(t, "f8e5m2 over f8e4m3", c.PeakF8E5M2FLOPs/c.PeakFP8FLOPs, 1, 2)
			within(t, "ridge", c.RidgeFLOPsPerByte(), 100, 1000)
			within(t, "VPU over EUP", c.VPUOpsPerSec/c.EUPOpsPerSec, 3, 16)
			within(t, "VPU over XLU", c.VPUOpsPerSec/c.XLUOpsPerSec, 8, 32)
			within(t, "kernel floor ns", float64(c.KernelFloorNS), 500, 5000)
			within(t, "issue ns", float64(c.HostIssueNS), 10_000, 37_000)
			within(t, "sync ns", float64(c.SyncNS), 95_000, 125_000)
			within(t, "host link", c.HostLinkBytesSec, 1e10, 1e11)
			if c.PeakInt8OPs != 0 {
				within(t, "int8 over bf16", c.PeakInt8OPs/c.PeakBF16FLOPs, 2, 2)
			}
			if c.MXUSize != 128 && c.MXUSize != 256 || c.AlignBytes != 512 || c.FillBytes < mib {
				t.Errorf("MXU %d, align %d, fill %d", c.MXUSize, c.AlignBytes, c.FillBytes)
			}
		})
	}
}

// Published ridge points in bf16, FLOP/B.
func TestChipRidge(t *testing.T) {
	for name, want := range map[string]int{"v5e": 240, "v6e": 560, "v5p": 166, "v7x": 313} {
		c, err := LookupChip(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := int(c.RidgeFLOPsPerByte() + 0.5); got < want || got > want+1 {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestLookupChip(t *testing.T) {
	for name, want := range map[string]string{"v5e": "v5e", " V6E": "v6e", "tpu7x": "v7x", "trillium": "v6e"} {
		if c, err := LookupChip(name); err != nil || c.Name != want {
			t.Errorf("%q: %v, %v", name, c, err)
		}
	}
	for name, want := range map[string]string{"v5": "v5e", "v6": "v6e", "v5f": "v5e", "a100": "", "": "", "v7": "v7x"} {
		_, err := LookupChip(name)
		var unknown *UnknownChipError
		if name == "v7" {
			if err != nil {
				t.Errorf("%q: %v", name, err)
			}
			continue
		}
		if !errors.As(err, &unknown) || unknown.Nearest != want || len(unknown.Known) != 4 {
			t.Errorf("%q: %v, want nearest %q", name, err, want)
		}
	}
	c, _ := LookupChip("v5e")
	c.HBMBytes = 1
	if d, _ := LookupChip("v5e"); d.HBMBytes == 1 {
		t.Error("a looked-up chip is the row of the table itself")
	}
}

func TestMatmulRateByType(t *testing.T) {
	v5e, _ := LookupChip("v5e")
	v7x, _ := LookupChip("v7x")
	for _, c := range []struct {
		chip *Chip
		t    dtype.DType
		want float64
	}{
		{v5e, dtype.BF16, 197e12 * 0.94}, {v5e, dtype.F32, 197e12 * 0.94}, {v5e, dtype.I8, 394e12 * 0.96},
		{v5e, dtype.F8E5M2, 394e12 * 0.94}, {v5e, dtype.F8E4M3, 197e12 * 0.94},
		{v7x, dtype.F8E4M3, 2307e12 * 0.9}, {v7x, dtype.I8, 1153.5e12 * 0.6},
	} {
		if got := c.chip.MatmulRate(c.t); got != c.want {
			t.Errorf("%s %v: %g, want %g", c.chip, c.t, got, c.want)
		}
	}
}

func TestChipsPageIsCurrent(t *testing.T) {
	const path = "../../docs/chips.md"
	if *update {
		if err := os.MkdirAll("../../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != Markdown() {
		t.Errorf("%s is not what the table says (%v): run go test ./runtime/device -update", path, err)
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 512: "512 B", 1024: "1 KiB", 1536: "1.50 KiB", 3296427868: "3.07 GiB", 1575 * gib / 100: "15.75 GiB", 1 << 62: "4 EiB"} {
		if got := FormatBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
