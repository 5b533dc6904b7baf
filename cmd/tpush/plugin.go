package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/runtime/device/pjrt/plugin"
	"github.com/tpush/tpush/viz"
)

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Add, list and remove the libraries of real XLA",
		Long: `tpush plugin add cpu   XLA for this processor: :device xla:cpu runs cells on it
tpush plugin add tpu   Google's TPU compiler: :xla shows what it makes of a cell

The pinned wheel is fetched from the Python package index (pip's configuration
says which) and checked; its one library goes to the data folder. No Python is
needed.`,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.pluginAdd(), a.pluginList(), a.pluginRemove())
	return cmd
}

func pluginNames() string {
	var names []string
	for _, k := range plugin.All() {
		names = append(names, k.Name)
	}
	return strings.Join(names, "|")
}

func (a *app) pluginAdd() *cobra.Command {
	var from string
	var yes bool
	cmd := &cobra.Command{
		Use: "add " + pluginNames(), Short: "Fetch and install a plug-in", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			k, err := plugin.Lookup(args[0])
			if err != nil {
				return a.fail("%v", err)
			}
			ctx, stop := a.context(0)
			defer stop()
			in, err := a.install(ctx, k, from, yes)
			if err != nil {
				fmt.Fprintf(a.stderr, "tpush: plugin add %s: %v\n", k.Name, err)
				return exitError(plain.ExitDevice)
			}
			about, err := probe(ctx, in)
			if err != nil { // what does not load must not be found by the next session
				_ = plugin.Here(os.Getenv).Remove(k.Name)
				fmt.Fprintf(a.stderr, "tpush: plugin add %s: it does not load and was removed: %v\n", k.Name, err)
				return exitError(plain.ExitDevice)
			}
			fmt.Fprintf(a.stdout, "%s %s: %s\n%s\n", in.Name, versionText(in), aboutText(about), in.Path)
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "a wheel or a shared library on this machine instead of the index")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// A refusedError says that the user did not agree.
type refusedError struct{}

func (refusedError) Error() string {
	return "not agreed to: nothing was fetched (--yes agrees without a question)"
}

// install fetches the plug-in, or takes it from a file.
func (a *app) install(ctx context.Context, k plugin.Known, from string, yes bool) (plugin.Installed, error) {
	f := plugin.Here(os.Getenv)
	if from != "" {
		return f.InstallFile(k, from)
	}
	if in, err := f.Find(k.Name); err == nil && in.Env == "" && in.Version == k.Version {
		return in, nil // it is here already
	}
	x, warnings := plugin.FromPip(os.Getenv, os.ReadFile)
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "tpush: warning: %s\n", w)
	}
	fmt.Fprintf(a.stderr, "%s %s, %s, licence: %s\nfrom %s to %s\n", k.Project, k.Version, viz.Bytes(k.Bytes), k.Licence, x.URL, f.Dir)
	if k.Terms != "" {
		fmt.Fprintln(a.stderr, k.Terms)
	}
	if !yes {
		fmt.Fprint(a.stderr, "fetch it? [y/N] ")
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		if !strings.EqualFold(strings.TrimSpace(line), "y") && !strings.EqualFold(strings.TrimSpace(line), "yes") {
			return plugin.Installed{}, refusedError{}
		}
	}
	tmp, err := os.MkdirTemp("", "tpush-plugin-")
	if err != nil {
		return plugin.Installed{}, err
	}
	defer os.RemoveAll(tmp)
	wheel := filepath.Join(tmp, k.Wheel)
	var told int64
	err = x.Fetch(ctx, k, wheel, func(done int64) {
		if isTerminal(a.stderr) && done-told >= 1<<20 {
			told = done
			fmt.Fprintf(a.stderr, "\r%s of %s ", viz.Bytes(done), viz.Bytes(k.Bytes))
		}
	})
	if told > 0 {
		fmt.Fprintln(a.stderr)
	}
	if err != nil {
		return plugin.Installed{}, err
	}
	in, err := f.InstallFile(k, wheel)
	return in, err
}

// versionText is the version of a plug-in; nobody told it of a library that the user gave.
func versionText(in plugin.Installed) string {
	if in.Version == "" {
		return "own file"
	}
	return in.Version
}

func (a *app) pluginList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Say which plug-ins are installed and which there are", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f := plugin.Here(os.Getenv)
			tb := viz.Table{Columns: []viz.Column{{Title: "plug-in"}, {Title: "device"}, {Title: "version"}, {Title: "size", Right: true}, {Title: "where"}}}
			for _, k := range plugin.All() {
				in, err := f.Find(k.Name)
				if err != nil {
					tb.Rows = append(tb.Rows, []string{k.Name, k.Device, k.Version, viz.Bytes(k.Bytes), err.Error()})
					continue
				}
				where := in.Path
				if in.Env != "" {
					where += " (" + in.Env + ")"
				}
				tb.Rows = append(tb.Rows, []string{k.Name, k.Device, versionText(in), viz.Bytes(in.Bytes), where})
			}
			fmt.Fprintln(a.stdout, viz.Text(viz.Plain(), 160, tb))
			return nil
		},
	}
}

func (a *app) pluginRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove " + pluginNames(), Short: "Remove an installed plug-in", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := plugin.Here(os.Getenv).Remove(args[0]); err != nil {
				return a.fail("%v", err)
			}
			fmt.Fprintf(a.stdout, "removed %s\n", args[0])
			return nil
		},
	}
}
