package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/repl/store/atomicfile"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
	"github.com/tpush/tpush/runtime/device/pjrt/plugin"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/viz"
)

// startCompiler starts the TPU compiler's process. The error says how to get it.
func startCompiler(ctx context.Context, env ...string) (*worker.Worker, error) {
	in, err := plugin.Here(os.Getenv).Find("tpu")
	if err != nil {
		return nil, err
	}
	o, err := pluginOptions(in, 1)
	if err != nil {
		return nil, err
	}
	o.Env = env
	return worker.Start(ctx, o)
}

// compiling calls f with the TPU compiler, which starts when f asks it something.
func (a *app) compiling(f func(ctx context.Context, c *ahead.Compiler) error) error {
	ctx, stop := a.context(0)
	defer stop()
	c := ahead.New(startCompiler)
	defer c.Close()
	return f(ctx, c)
}

// aheadFlags are those of the commands that compile ahead of time.
type aheadFlags struct {
	chip, topology, save     string
	bundles, all, json, real bool
}

func (f *aheadFlags) command(name string, file string) string {
	words := []string{":" + name, f.chip, file}
	for _, o := range []struct {
		on   bool
		name string
	}{{f.bundles, "--bundles"}, {f.all, "--all"}, {f.json, "--json"}} {
		if o.on {
			words = append(words, o.name)
		}
	}
	return strings.Join(words, " ")
}

// xlaCommand asks the TPU compiler about a file.
func (a *app) xlaCommand() *cobra.Command {
	f := &aheadFlags{}
	cmd := &cobra.Command{
		Use: "xla FILE.mlir|FILE.tpu", Short: "Compile a program with the real TPU compiler, without a TPU",
		Long: `Compile StableHLO, or the cells of a .tpu file, with the real TPU compiler and
show its fusions, layouts, memory and cost. No TPU is needed. The compiler is
libtpu, which tpush plugin add tpu fetches.

  tpush xla program.mlir --chip v6e
  tpush xla show program.bin      what is in a serialized executable`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if filepath.Ext(args[0]) == ".tpu" {
				if f.save != "" || f.topology != "" {
					return a.fail("xla: --save and --topology are for one module, not for the programs of a .tpu file")
				}
				return a.askKernel(f.command("xla", args[0]))
			}
			return a.xlaModule(args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.chip, "chip", "v5e", "chip: "+strings.Join(chipNames(), ", "))
	cmd.Flags().StringVar(&f.topology, "topology", "", "topology by the compiler's name, v5e:2x2 say; by default the smallest with as many devices as the program wants")
	cmd.Flags().StringVar(&f.save, "save", "", "write the serialized executable to `FILE`; tpush xla show reads it")
	cmd.Flags().BoolVar(&f.bundles, "bundles", false, "read the machine code and show how it fills the VLIW slots")
	cmd.Flags().BoolVar(&f.all, "all", false, "compile every program of a .tpu file, not only the most expensive")
	cmd.Flags().BoolVar(&f.json, "json", false, "write everything as JSON")
	cmd.AddCommand(a.xlaShowCommand())
	return cmd
}

func (a *app) xlaModule(file string, f *aheadFlags) error {
	chip, err := device.LookupChip(f.chip)
	if err != nil {
		return a.fail("%v", err)
	}
	src, err := a.read(file)
	if err != nil {
		return a.fail("%v", err)
	}
	var r *xla.Report
	err = a.compiling(func(ctx context.Context, c *ahead.Compiler) (err error) {
		r, err = xla.LookModule(ctx, file, string(src), chip, c, ahead.Options{Slots: f.bundles, Topology: f.topology})
		return err
	})
	if err != nil {
		fmt.Fprintf(a.stderr, "tpush: xla: %v\n", err)
		return exitError(plain.ExitDevice)
	}
	if err := a.showReport(r, f.json); err != nil {
		return err
	}
	switch c := r.Programs[0].Compiled; {
	case c == nil && r.Programs[0].OOM != nil:
		return exitError(plain.ExitOutOfMemory)
	case c == nil:
		return exitError(plain.ExitFailed)
	case f.save != "":
		return a.saveExecutable(f.save, c.Serialized)
	}
	return nil
}

func (a *app) saveExecutable(file string, code []byte) error {
	_, err := atomicfile.Write(file, 0o644, func(w io.Writer) error {
		_, err := w.Write(code)
		return err
	})
	if err != nil {
		return a.fail("%v", err)
	}
	return nil
}

// showReport writes a report as text or as JSON.
func (a *app) showReport(r *xla.Report, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(a.stdout, r.Text(viz.Plain(), reportWidth))
		return err
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// reportWidth is how wide the tables of the compiler are printed.
const reportWidth = 150

func (a *app) xlaShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show FILE", Short: "Say what is in a serialized TPU executable or a TorchTPU cache entry",
		Long: `Read an executable that the TPU compiler serialized: a file of its bytes, an entry
of TorchTPU's compilation cache (KEY.bin), or one of tpush's own. The library that
wrote it is asked, so libtpu must be installed; no TPU is needed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			src, err := a.read(args[0])
			if err != nil {
				return a.fail("%v", err)
			}
			var rep *xla.Report
			err = a.compiling(func(ctx context.Context, c *ahead.Compiler) error {
				entry, r, err := ahead.OpenFile(ctx, c, args[0], src)
				if err == nil {
					rep = xla.Opened(args[0], r)
					rep.Entry = entry.String()
				}
				return err
			})
			if err != nil {
				fmt.Fprintf(a.stderr, "tpush: xla show: %s: %v\n", args[0], err)
				return exitError(plain.ExitDevice)
			}
			return a.showReport(rep, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write everything as JSON")
	return cmd
}

// planCommand predicts what a file would do, and with --xla asks the compiler too.
func (a *app) planCommand() *cobra.Command {
	f := &aheadFlags{}
	cmd := &cobra.Command{
		Use: "plan [--xla] [CHIP] FILE.tpu", Short: "Predict kernels, TPU time and HBM of a file's programs; --xla asks the real compiler too",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			file := args[len(args)-1]
			if len(args) == 2 {
				f.chip = args[0]
			}
			if _, err := device.LookupChip(f.chip); err != nil {
				return a.fail("%v", err)
			}
			name := "plan"
			if f.real {
				name = "xla"
			}
			return a.askKernel(f.command(name, file))
		},
	}
	cmd.Flags().StringVar(&f.chip, "chip", "v5e", "chip: "+strings.Join(chipNames(), ", "))
	cmd.Flags().BoolVar(&f.real, "xla", false, "compile with the real TPU compiler too and compare")
	cmd.Flags().BoolVar(&f.all, "all", false, "every program, not only the most expensive")
	cmd.Flags().BoolVar(&f.json, "json", false, "write everything as JSON")
	return cmd
}

// askKernel starts a kernel, asks it one command and prints the answer.
func (a *app) askKernel(line string) error {
	p, err := a.startKernel(&kernelFlags{}, nil)
	if err != nil {
		return a.fail("%v", err)
	}
	defer p.Stop()
	ctx, stop := a.context(0)
	defer stop()
	failed := ""
	rep, err := p.Execute(ctx, kernel.ExecuteRequest{Code: line}, kernel.Events{
		Display: func(r kernel.ResultContent) { fmt.Fprintln(a.stdout, r.Data["text/plain"]) },
		Error:   func(e kernel.ErrorContent) { failed = e.Value },
	})
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		return a.fail("%v", err)
	case rep.Status != "ok":
		fmt.Fprintf(a.stderr, "tpush: %s\n", failed)
		return exitError(plain.ExitDevice)
	}
	return nil
}
