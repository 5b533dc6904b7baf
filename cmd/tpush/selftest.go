package main

import (
	"encoding/json"
	"fmt"
	"sort"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/plain"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/selftest"
	"github.com/tpush/tpush/viz"
)

// A selftestClass is what became of the records of one file.
type selftestClass struct {
	Class       string   `json:"class"`
	Passed      int      `json:"passed"`
	Failed      []string `json:"failed"`
	Unsupported []string `json:"unsupported"`

	why map[string]string // of what failed
}

func (a *app) selftestCommand() *cobra.Command {
	var dir, mode, programsDir, on string
	var asJSON, verbose, optimized bool
	cmd := &cobra.Command{
		Use: "selftest", Short: "Compare operations with recordings of PyTorch and JAX", Args: cobra.NoArgs,
		Long: `Run recorded calls (a folder of .jsonl files, one class each) through the tensor
layer in every mode, and compare values, types, shapes, gradients and refusals.
Without --vectors the sample inside the program is used. A record passes when
it passes in every mode.`,
		RunE: func(*cobra.Command, []string) error {
			if programsDir != "" {
				return a.selftestPrograms(programsDir, on, asJSON)
			}
			o := selftest.Options{}
			if on != "" && on != repl.Simulator {
				d, err := openDevice(on, !optimized)
				if err != nil {
					fmt.Fprintf(a.stderr, "tpush: selftest: %v\n", err)
					return exitError(plain.ExitDevice)
				}
				defer d.Close()
				o.Open, o.XLA = func() device.Device { return d }, true
			}
			if mode != "" {
				m, err := exec.LookupMode(mode)
				if err != nil {
					return a.fail("%v", err)
				}
				o.Modes = []*exec.Mode{m}
			}
			results, err := selftest.RunAny(dir, o)
			if err != nil {
				return a.fail("selftest: %v", cause(err))
			}
			return exit(a.tellSelftest(classes(results), asJSON, verbose))
		},
	}
	cmd.Flags().StringVar(&dir, "vectors", "", "`DIR` with recordings, one .jsonl file a class")
	cmd.Flags().StringVar(&mode, "mode", "", "one mode instead of all")
	cmd.Flags().StringVar(&programsDir, "stablehlo", "", "`DIR` with StableHLO programs, NAME.mlir and NAME.json each, run on the plug-in of --device")
	cmd.Flags().StringVar(&on, "device", "", "what computes: sim, or xla:cpu through a plug-in (default sim; xla:cpu with --stablehlo)")
	cmd.Flags().BoolVar(&optimized, "optimized", false, "compile the records for --device as a session does, not quickly to slow code")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one object a class on a line")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "say why each record failed")
	return cmd
}

// classes folds the results of all modes: the worst one counts.
func classes(results []selftest.Result) []*selftestClass {
	const passed, unsupported, failed = 0, 1, 2
	state := map[string]int{}
	class := map[string]*selftestClass{}
	var order []string
	for _, r := range results {
		c := class[r.File]
		if c == nil {
			c = &selftestClass{Class: r.File, Failed: []string{}, Unsupported: []string{}, why: map[string]string{}}
			class[r.File] = c
		}
		if _, ok := state[r.ID]; !ok {
			order = append(order, r.ID)
			state[r.ID] = passed
		}
		switch {
		case r.Err != nil:
			state[r.ID] = failed
			c.why[r.ID] = fmt.Sprintf("%s: %v", r.Mode, r.Err)
		case r.Skipped != "":
			state[r.ID] = max(state[r.ID], unsupported)
		}
	}
	of := map[string]string{}
	for _, r := range results {
		of[r.ID] = r.File
	}
	for _, id := range order {
		c := class[of[id]]
		switch state[id] {
		case passed:
			c.Passed++
		case unsupported:
			c.Unsupported = append(c.Unsupported, id)
		default:
			c.Failed = append(c.Failed, id)
		}
	}
	var list []*selftestClass
	for _, c := range class {
		list = append(list, c)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Class < list[j].Class })
	return list
}

func (a *app) tellSelftest(list []*selftestClass, asJSON, verbose bool) int {
	var passed, failed, unsupported int
	tb := viz.Table{Columns: []viz.Column{{Title: "class"}, {Title: "passed", Right: true}, {Title: "failed", Right: true}, {Title: "unsupported", Right: true}}}
	for _, c := range list {
		passed += c.Passed
		failed += len(c.Failed)
		unsupported += len(c.Unsupported)
		if asJSON {
			b, err := json.Marshal(c)
			if err != nil {
				return plain.ExitFailed
			}
			fmt.Fprintf(a.stdout, "%s\n", b)
		}
		tb.Rows = append(tb.Rows, []string{c.Class, fmt.Sprint(c.Passed), fmt.Sprint(len(c.Failed)), fmt.Sprint(len(c.Unsupported))})
	}
	if !asJSON {
		fmt.Fprintln(a.stdout, viz.Text(viz.Plain(), 80, tb))
		for _, c := range list {
			for _, id := range c.Failed {
				if verbose {
					fmt.Fprintf(a.stdout, "failed %s  %s\n", id, c.why[id])
				} else {
					fmt.Fprintf(a.stdout, "failed %s\n", id)
				}
			}
		}
		fmt.Fprintf(a.stdout, "%d passed, %d failed, %d unsupported\n", passed, failed, unsupported)
	}
	if failed > 0 {
		return plain.ExitFailed
	}
	return plain.ExitOK
}
