package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl/plain"
)

func (a *app) testCommand() *cobra.Command {
	k := &kernelFlags{}
	var update, keepGoing bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "test FILE…", Short: "Compare the expectations of .tpu files with what happens",
		Long: `Run .tpu files and compare their expectation comments with what happens:
// Output:  everything printed since the last such block
// Out:     the shown value of the cell
// Shows:   what the cell's commands answered
// Error:   the cell fails and its first error line contains the text
A line of three dots matches any lines.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.fail("test: a file is wanted")
			}
			code := plain.ExitOK
			for _, file := range args {
				c, err := a.testFile(k, file, update, keepGoing, timeout)
				if err != nil {
					return err
				}
				code = max(code, c)
			}
			return exit(code)
		},
	}
	k.add(cmd.Flags())
	cmd.Flags().BoolVar(&update, "update", false, "rewrite expectations that differ")
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "go on after a cell that failed unexpectedly")
	cmd.Flags().Var((*limit)(&timeout), "timeout", "end each file after this time (exit 124)")
	return cmd
}

// testFile tests one file in a kernel of its own.
func (a *app) testFile(k *kernelFlags, file string, update, keepGoing bool, timeout time.Duration) (int, error) {
	nb, err := a.notebook(file)
	if err != nil {
		return 0, a.fail("%v", err)
	}
	k.name = file
	p, err := a.supervise(k, []string{file})
	if err != nil {
		return 0, a.fail("%v", err)
	}
	defer p.Stop()
	ctx, stop := a.context(timeout)
	defer stop()
	res := plain.Test(ctx, p, nb, plain.Options{Stdout: a.stdout, Stderr: a.stderr, KeepGoing: keepGoing})
	if update && res.Updated != nil && file != "-" {
		if err := os.WriteFile(file, res.Updated, 0o644); err != nil {
			return 0, a.fail("%v", err)
		}
		fmt.Fprintf(a.stdout, "updated %s\n", file)
		return plain.ExitOK, nil
	}
	if !res.Failed {
		fmt.Fprintf(a.stdout, "ok    %s  (%d expectations)\n", file, res.Checked)
		return plain.ExitOK, nil
	}
	fmt.Fprintf(a.stdout, "FAIL  %s\n%s", file, res.Text)
	return res.Exit, nil
}
