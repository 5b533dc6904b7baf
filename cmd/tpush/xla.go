package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt"
	"github.com/tpush/tpush/runtime/device/pjrt/plugin"
	"github.com/tpush/tpush/runtime/device/pjrt/programs"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/trace"
)

// processCommand is the plug-in's process: this program again.
func (a *app) processCommand() *cobra.Command {
	var path, create string
	cmd := &cobra.Command{
		Use: worker.ProcessName, Short: "Run a PJRT plug-in for another process", Args: cobra.NoArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			if err := worker.Child(path, create); err != nil {
				return a.fail("%v", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "plugin", "", "the library")
	cmd.Flags().StringVar(&create, "create", "{}", "options of the client, as JSON")
	return cmd
}

// sharedCacheEnv names a folder of compiled programs that machines share.
const sharedCacheEnv = "TPUSH_XLA_CACHE_SHARED"

// pluginOptions say how to start an installed plug-in with n devices.
func pluginOptions(in plugin.Installed, devices int) (worker.Options, error) {
	self, err := os.Executable()
	if err != nil {
		return worker.Options{}, err
	}
	o := worker.Options{Command: []string{self, worker.ProcessName}, Plugin: in.Path}
	if in.Name == "cpu" {
		o.Create = map[string]any{"cpu_device_count": devices}
	}
	return o, nil
}

// programCache is where compiled programs are kept on disk: this user's
// folder, and a shared one when the environment names it.
func programCache(in plugin.Installed) *pjrt.Cache {
	c := &pjrt.Cache{Library: in.SHA256}
	if dir, err := os.UserCacheDir(); err == nil {
		c.Folders = append(c.Folders, filepath.Join(dir, "tpush", "xla"))
	}
	if dir := os.Getenv(sharedCacheEnv); dir != "" {
		c.Folders = append(c.Folders, dir)
	}
	return c
}

// openers are the devices beside the simulator. The plug-in is looked for when
// somebody asks for one.
func openers() map[string]repl.Opener {
	all := map[string]repl.Opener{}
	for _, k := range plugin.All() {
		all[k.Device] = func(chip *device.Chip, limit int64, devices int, sink trace.Sink) (device.Device, error) {
			in, err := plugin.Here(os.Getenv).Find(k.Name)
			if err != nil {
				return nil, err
			}
			o, err := pluginOptions(in, max(devices, 1))
			if err != nil {
				return nil, err
			}
			return pjrt.Open(pjrt.Options{Worker: o, Cache: programCache(in), Chip: chip, Limit: limit, Sink: sink})
		}
	}
	return all
}

// probe loads a plug-in in a process of its own and says what it is.
func probe(ctx context.Context, in plugin.Installed) (worker.About, error) {
	o, err := pluginOptions(in, 1)
	if err != nil {
		return worker.About{}, err
	}
	w, err := worker.Start(ctx, o)
	if err != nil {
		return worker.About{}, err
	}
	defer w.Kill()
	return w.About(), nil
}

// aboutText is a plug-in in a line.
func aboutText(a worker.About) string {
	what := "compiles ahead of time"
	if len(a.Devices) > 0 {
		what = fmt.Sprintf("runs on %d device(s) of platform %s", len(a.Devices), a.Platform)
	}
	return fmt.Sprintf("PJRT %d.%d, StableHLO %v, %s", a.Major, a.Minor, a.Attributes["stablehlo_current_version"], what)
}

// findDevice gives the plug-in behind the name of a device. It is a
// *repl.UnknownDeviceError or a *plugin.MissingError when there is none.
func findDevice(name string) (plugin.Installed, error) {
	name, _ = repl.SplitDevice(name)
	names := []string{repl.Simulator}
	for _, k := range plugin.All() {
		if k.Device == name {
			return plugin.Here(os.Getenv).Find(k.Name)
		}
		names = append(names, k.Device)
	}
	return plugin.Installed{}, &repl.UnknownDeviceError{Name: name, Names: names}
}

// openDevice opens a device by its name, for the default chip. fast compiles
// quickly to slow code, as suits programs that run once.
func openDevice(name string, fast bool) (device.Device, error) {
	in, err := findDevice(name)
	if err != nil {
		return nil, err
	}
	chip, err := device.LookupChip("v5e")
	if err != nil {
		return nil, err
	}
	o, err := pluginOptions(in, 1)
	if err != nil {
		return nil, err
	}
	return pjrt.Open(pjrt.Options{Worker: o, Cache: programCache(in), Chip: chip, Fast: fast})
}

// selftestPrograms runs a folder of StableHLO programs on a plug-in.
func (a *app) selftestPrograms(dir, on string, asJSON bool) error {
	if on == "" {
		on = "xla:cpu"
	}
	fail := func(err error) error {
		fmt.Fprintf(a.stderr, "tpush: selftest: %v\n", err)
		return exitError(plain.ExitDevice)
	}
	in, err := findDevice(on)
	if err != nil {
		return fail(err)
	}
	o, err := pluginOptions(in, programDevices)
	if err != nil {
		return fail(err)
	}
	ctx, stop := a.context(0)
	defer stop()
	w, err := worker.Start(ctx, o)
	if err != nil {
		return fail(err)
	}
	defer w.Kill()
	results, err := programs.Run(ctx, w, dir)
	if err != nil {
		return a.fail("selftest: %v", err)
	}
	failed := 0
	for _, r := range results {
		text := ""
		if r.Err != nil {
			failed++
			text = r.Err.Error()
		}
		if asJSON {
			b, err := json.Marshal(struct {
				Program string `json:"program"`
				Passed  bool   `json:"passed"`
				Error   string `json:"error,omitempty"`
			}{r.Name, r.Err == nil, text})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s\n", b)
		} else if text != "" {
			fmt.Fprintf(a.stdout, "failed %s  %s\n", r.Name, text)
		}
	}
	if !asJSON {
		fmt.Fprintf(a.stdout, "%d passed, %d failed\n", len(results)-failed, failed)
	}
	if failed > 0 {
		return exitError(plain.ExitFailed)
	}
	return nil
}

// programDevices is how many devices the recorded programs may ask for.
const programDevices = 4
