// Command tpush is a notebook-style REPL and debugger in a terminal over an
// eager TPU runtime.
//
// This package holds flags, wiring and exit codes, nothing else.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl/plain"
)

func main() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Main runs the program and gives its exit code. Tests call it in process.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &outputWriter{w: stdout}
	app := &app{stdin: stdin, stdout: out, stderr: stderr}
	root := app.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	code := plain.ExitOK
	if err := root.Execute(); err != nil {
		var exit exitError
		if errors.As(err, &exit) {
			code = int(exit)
		} else {
			fmt.Fprintf(stderr, "tpush: %v\n", err)
			code = plain.ExitUsage
		}
	}
	if err := out.failure(); err != nil {
		fmt.Fprintf(stderr, "tpush: standard output: %v\n", cause(err))
		if code == plain.ExitOK {
			code = plain.ExitFailed
		}
	}
	return code
}

// An exitError carries an exit code through cobra; everything was reported already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// app is what the subcommands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	kernel         kernelFlags
	color          string
	screen         screenFlags
}

func (a *app) root() *cobra.Command {
	var plainREPL bool
	root := &cobra.Command{
		Use:   "tpush",
		Short: "A notebook-style REPL and debugger over an eager TPU runtime",
		Long: `tpush runs Go cells on a simulated TPU and shows why something ran, compiled,
padded, ran out of HBM or went out of bounds.

  tpush run FILE.tpu     run a file
  tpush test FILE.tpu    compare its expectations with what happens
  tpush fmt FILE.tpu     format its cells
  tpush export --go FILE.tpu   write it as a plain Go program
  tpush vet FILE.tpu     list its mistakes and warnings without running it
  tpush                  a notebook on the terminal
  tpush FILE.tpu         open a file in it

Without a terminal, with TERM=dumb or with --plain, cells are read line by line.`,
		Args:          noSuchCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if plainREPL || !a.hasScreen(os.Getenv) {
				return a.lineREPL(cmd)
			}
			return a.notebookScreen(args, cmd.Flags())
		},
	}
	root.SetFlagErrorFunc(noSuchFlag)
	root.CompletionOptions.HiddenDefaultCmd = true
	a.color = "auto"
	root.PersistentFlags().Var(&choice{&a.color, []string{"auto", "always", "never"}}, "color", "colour on standard error: auto, always, never")
	a.screen.add(root.Flags())
	root.Flags().BoolVar(&plainREPL, "plain", false, "read cells line by line, without a screen")
	a.kernel.add(root.Flags())
	root.AddCommand(a.runCommand(), a.testCommand(), a.evalCommand(), a.fmtCommand(), a.vetCommand(), a.exportCommand(), a.replCommand(), a.kernelCommand(), a.selftestCommand(), a.doctorCommand(), a.versionCommand(), a.shotCommand(), a.pluginCommand(), a.processCommand())
	root.AddCommand(a.dapCommand(), a.benchCommand())
	root.AddCommand(a.planCommand(), a.xlaCommand())
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = noSuchTopic
	}
	return root
}

// exit ends a subcommand with a code.
func exit(code int) error {
	if code == plain.ExitOK {
		return nil
	}
	return exitError(code)
}

// fail reports a usage error and gives its code, or that of an error that has one.
func (a *app) fail(format string, args ...any) error {
	fmt.Fprintf(a.stderr, "tpush: "+format+"\n", args...)
	for _, x := range args {
		if e, ok := x.(interface{ ExitCode() int }); ok {
			return exitError(e.ExitCode())
		}
	}
	return exitError(plain.ExitUsage)
}
