package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
)

// kernelFlags are the flags that shape a kernel; they are passed on to the child.
type kernelFlags struct {
	mode     string
	chip     string
	device   string
	hbmLimit string
	name     string
	set      []string // settings, as in print.lines=30
}

func (k *kernelFlags) add(f *pflag.FlagSet) {
	f.StringVar(&k.mode, "mode", "", "eager mode: debug, strict, fuse, compiled (default debug, or what the TORCH_TPU_* variables say)")
	f.StringVar(&k.chip, "chip", "", "simulated chip: "+strings.Join(chipNames(), ", ")+" (default v5e)")
	f.StringVar(&k.device, "device", "", "what computes: sim, or xla:cpu and tpu through a plug-in (default sim)")
	f.StringVar(&k.hbmLimit, "hbm-limit", "", "limit of HBM in bytes, with an optional unit: 512MiB, 2GiB")
}

func chipNames() []string {
	var list []string
	for _, c := range device.Chips() {
		list = append(list, c.Name)
	}
	return list
}

// options checks the flags and makes the options of a session.
func (k *kernelFlags) options(args []string) (repl.Options, error) {
	o := repl.Options{Chip: k.chip, Name: k.name, Device: k.device, Openers: openers(), Compiler: startCompiler, Args: args, Checks: checksFromEnv(os.Getenv)}
	if k.mode != "" {
		m, err := exec.LookupMode(k.mode)
		if err != nil {
			return o, err
		}
		o.Mode = m
	} else {
		o.Mode = modeFromEnv(os.Getenv)
	}
	if k.chip != "" {
		if _, err := device.LookupChip(k.chip); err != nil {
			return o, err
		}
	}
	if k.device != "" && k.device != repl.Simulator {
		if _, err := findDevice(k.device); err != nil {
			return o, err
		}
	}
	if k.hbmLimit != "" {
		n, err := parseBytes(k.hbmLimit)
		if err != nil {
			return o, err
		}
		o.HBMBytes = n
	}
	return o, nil
}

// args are the command line of a kernel with these flags.
func (k *kernelFlags) args() []string {
	list := []string{"kernel"}
	for _, f := range []struct{ name, value string }{{"mode", k.mode}, {"chip", k.chip}, {"device", k.device}, {"hbm-limit", k.hbmLimit}, {"name", k.name}} {
		if f.value != "" {
			list = append(list, "--"+f.name+"="+f.value)
		}
	}
	for _, s := range k.set {
		list = append(list, "--set="+s)
	}
	return list
}

// modeFromEnv reads the variables of the real system: 1 and true count.
func modeFromEnv(getenv func(string) string) *exec.Mode {
	switch {
	case truth(getenv("TORCH_TPU_LAUNCH_BLOCKING")):
		return exec.Debug
	case truth(getenv("TORCH_TPU_DEFER_AND_FUSE")):
		return exec.DeferAndFuse
	}
	return exec.Debug
}

func checksFromEnv(getenv func(string) string) exec.Checks {
	v := getenv("TORCH_TPU_ENABLE_DEBUG_CHECKS")
	switch {
	case v == "":
		return exec.ChecksByMode
	case truth(v):
		return exec.ChecksOn
	}
	return exec.ChecksOff
}

func truth(v string) bool { return v == "1" || strings.EqualFold(v, "true") }

// byteUnits are the units of --hbm-limit, longest first.
var byteUnits = []struct {
	name  string
	bytes float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1},
}

// parseBytes reads 1048576, 512MiB or 1.5g.
func parseBytes(s string) (int64, error) {
	num, unit := strings.ToLower(strings.TrimSpace(s)), 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(num, u.name); ok {
			num, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(num, 64)
	if err != nil || !(x*unit >= 1 && x*unit <= 1<<60) { // NaN is no size either
		return 0, fmt.Errorf("hbm-limit: %q is no size, want bytes or a unit such as 512MiB", s)
	}
	return int64(x * unit), nil
}
