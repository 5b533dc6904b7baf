package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/trace/export"
	"github.com/tpush/tpush/viz"
)

func runtimeCommands() []Command {
	return []Command{
		{
			Name: "mode", Replay: true, Aliases: []string{"m"}, Group: Runtime, Args: "[debug|strict|fuse|compiled]",
			Doc: "shows the eager mode or changes it", Help: modeHelp(), Example: ":mode fuse", Run: mode,
			Complete: func(*repl.Session, string) []string {
				var list []string
				for _, m := range exec.Modes() {
					list = append(list, m.Name)
				}
				return list
			},
		},
		{
			Name: "device", Idle: true, Replay: true, Group: Runtime, Args: "[sim|xla:cpu|tpu|CHIP]",
			Doc:     "shows what computes or moves the session to it: the simulator, or real XLA behind a plug-in",
			Help:    "HBM, layouts and TPU time are always those of the chip's cost model; on xla:cpu the numbers, and the host time of each launch, are real XLA's. tpush plugin add cpu fetches it. Moving is refused while tensors live: their numbers would be lost. The name of a chip is read as :chip.",
			Example: ":device", Run: deviceCommand,
			Complete: func(s *repl.Session, _ string) []string { return append(s.DeviceNames(), chips()...) },
		},
		{
			Name: "chip", Idle: true, Replay: true, Group: Runtime, Args: "[NAME]",
			Doc: "shows the chip or moves the session to another one", Help: "Moving is refused while tensors live: their numbers would be lost.", Example: ":chip", Run: chip,
			Complete: func(*repl.Session, string) []string { return chips() },
		},
		{
			Name: "trace", Replay: true, Aliases: []string{"tr"}, Group: Runtime, Args: "[on|off|show|clear|mark NAME]",
			Doc:     "shows a timeline of the last cell: host, queue, device and HBM, or switches recording",
			Example: "x := tpu.Ones(64, 64)\ny := x.MatMul(x)\n:trace", Run: traceCommand, Complete: words("on", "off", "show", "clear", "mark"),
		},
		{
			Name: "export", Group: Runtime, Args: "FORMAT FILE",
			Doc: "writes what was recorded to a file for other tools", Help: exportHelp(), Example: "x := tpu.Ones(4)\n:export csv $WORK/events.csv", Run: exportCommand,
			Complete: func(*repl.Session, string) []string {
				list := []string{"summary"}
				for _, f := range export.All() {
					list = append(list, f.Name)
				}
				return list
			},
		},
	}
}

func modeHelp() string {
	var b strings.Builder
	for i, m := range exec.Modes() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%-8s  %s", m.Name, m.Doc)
	}
	return b.String()
}

func mode(c *Call) (Answer, error) {
	d := c.Session.Dispatcher()
	if len(c.Args) == 0 {
		return text("%s: %s", d.Mode().Name, d.Mode().Doc)
	}
	if len(c.Args) > 1 {
		return Answer{}, &UsageError{"mode", "[debug|strict|fuse|compiled]", "one mode is wanted"}
	}
	m, err := exec.LookupMode(c.Args[0])
	if err != nil {
		return Answer{}, err
	}
	if err := d.SetMode(m); err != nil {
		return Answer{}, err
	}
	return text("%s: %s", m.Name, m.Doc)
}

func chips() []string {
	var list []string
	for _, c := range device.Chips() {
		list = append(list, c.Name)
	}
	return list
}

// deviceCommand moves the session, or says what it runs on.
func deviceCommand(c *Call) (Answer, error) {
	if len(c.Args) > 0 && slices.Contains(chips(), c.Args[0]) {
		return chip(c)
	}
	if len(c.Args) > 0 {
		if err := c.Session.SetDevice(c.Args[0]); err != nil {
			return Answer{}, err
		}
	}
	doc := "the simulator"
	if a, ok := c.Session.Device().(interface{ Describe() string }); ok {
		doc = a.Describe()
	}
	return text("%s: %s, for %s", c.Session.RunsOn(), doc, c.Session.Device().Chip().Name)
}

func chip(c *Call) (Answer, error) {
	if len(c.Args) > 0 {
		if err := c.Session.SetChip(c.Args[0]); err != nil {
			return Answer{}, err
		}
	}
	x := c.Session.Device().Chip()
	tb := viz.Table{Columns: []viz.Column{{}, {}}, Rows: [][]string{
		{x.Name, x.Doc},
		{"  HBM", fmt.Sprintf("%s usable, %.0f GB/s", viz.Bytes(x.HBMBytes), x.HBMBytesPerSec/1e9)},
		{"  VMEM", viz.Bytes(x.VMEMBytes)},
		{"  MXU", fmt.Sprintf("%d×%d, %.0f TFLOP/s bf16, %.0f TOP/s int8", x.MXUSize, x.MXUSize, x.PeakBF16FLOPs/1e12, x.PeakInt8OPs/1e12)},
		{"  launch", fmt.Sprintf("%s on the device, %s to issue, %s to wait", viz.DurationNS(x.KernelFloorNS), viz.DurationNS(x.HostIssueNS), viz.DurationNS(x.SyncNS))},
	}}
	return Answer{Text: picture(c.Session, width, tb)}, nil
}

func exportHelp() string {
	lines := []string{"summary  JSON with launches, HBM peak, TPU and host time, fusion groups, cache"}
	for _, f := range export.All() {
		lines = append(lines, fmt.Sprintf("%-8s %s", f.Name, f.Doc))
	}
	return strings.Join(lines, "\n")
}
