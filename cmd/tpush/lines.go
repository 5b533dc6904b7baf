package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/plain"
)

func (a *app) evalCommand() *cobra.Command {
	k := &kernelFlags{}
	cmd := &cobra.Command{
		Use: "eval EXPR", Short: "Print the value of an expression",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("eval: one expression is wanted, quote it for the shell")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := a.configured(k)
			if err != nil {
				return a.fail("%v", err)
			}
			p, err := a.startKernel(k, nil)
			if err != nil {
				return a.fail("%v", err)
			}
			defer p.Stop()
			ctx, stop := a.context(c.Timeout)
			defer stop()
			return exit(a.eval(ctx, p, args[0]))
		},
	}
	k.add(cmd.Flags())
	return cmd
}

// eval runs one cell or command and prints its value on standard output.
func (a *app) eval(ctx context.Context, p *kernel.Process, expr string) int {
	code := plain.ExitOK
	show := func(r kernel.ResultContent) {
		if !r.Warning {
			fmt.Fprintln(a.stdout, r.Data["text/plain"])
		}
	}
	rep, err := p.Execute(ctx, kernel.ExecuteRequest{Code: expr}, kernel.Events{
		Stream: func(s kernel.StreamContent) {
			w := a.stdout
			if s.Name == "stderr" {
				w = a.stderr
			}
			fmt.Fprint(w, s.Text)
		},
		Result: show, Display: show,
		Error: func(e kernel.ErrorContent) {
			plain.PrintError(a.stderr, e, a.colored())
			if code == plain.ExitOK {
				code = plain.ExitCode(e.Name)
			}
		},
	})
	if err != nil {
		fmt.Fprintf(a.stderr, "tpush: %v\n", err)
		return plain.ExitKernelDied
	}
	if rep.Exit != nil {
		return *rep.Exit
	}
	return code
}

func (a *app) replCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "repl", Short: "Read cells line by line from standard input", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.lineREPL(cmd) },
	}
	a.kernel.add(cmd.Flags())
	cmd.Flags().Bool("plain", false, "without a screen")
	return cmd
}

// lineREPL reads cells from standard input; it prompts when that is a terminal.
func (a *app) lineREPL(*cobra.Command) error {
	k := &a.kernel
	c, err := a.configured(k)
	if err != nil {
		return a.fail("%v", err)
	}
	p, err := a.supervise(k, nil)
	if err != nil {
		return a.fail("%v", err)
	}
	defer p.Stop()
	prompt := isTerminal(a.stdin)
	r := &plain.REPL{Options: plain.Options{Stdout: a.stdout, Stderr: a.stderr, Color: a.colored(), Echo: false}, Prompt: prompt}
	r.Values = true
	if prompt {
		info, err := p.Process().Info(context.Background())
		if err != nil {
			return a.fail("%v", err)
		}
		fmt.Fprintf(a.stdout, "%s\nA cell is Go and ends when it is whole. Try  tpu.Of(1, 2, 3).Mul(2)   :hbm   :help   :quit\n", info.Banner)
	}
	r.Context = func() (context.Context, func()) { return a.context(c.Timeout) }
	return exit(r.Loop(p, a.stdin))
}

func (a *app) doctorCommand() *cobra.Command {
	k := &kernelFlags{}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say what this installation is and what it runs on", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := a.startKernel(k, nil)
			if err != nil {
				return a.fail("%v", err)
			}
			defer p.Stop()
			code := a.eval(context.Background(), p, ":doctor")
			for _, l := range configLines() {
				fmt.Fprintln(a.stdout, "config      "+l)
			}
			return exit(code)
		},
	}
	k.add(cmd.Flags())
	return cmd
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.stdout, "tpush", version())
			return nil
		},
	}
}
