package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/plain"
)

func (a *app) exportCommand() *cobra.Command {
	var asGo bool
	var out string
	cmd := &cobra.Command{
		Use: "export --go FILE", Short: "Write a .tpu file as a plain Go program",
		Long: `Write a .tpu file as a plain Go program that prints what tpush run prints. It
builds in a module that requires github.com/tpush/tpush. Declarations come first,
the statements of the cells in main; sugar is written as the calls it stands for,
a name that is declared again with another type gets a number. Values that cells
show are not printed, commands become comments, apart from those that set the
mode or the chip. A method that a later cell gives a type exists from the start.`,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return a.fail("export: one file is wanted, or - for standard input")
			case !asGo:
				return a.fail("export: a format is wanted: --go")
			}
			nb, err := a.notebook(args[0])
			if err != nil {
				return a.fail("%v", err)
			}
			text, err := repl.WriteGo(nb)
			var fe *repl.FormatError
			switch {
			case errors.As(err, &fe):
				fmt.Fprintf(a.stderr, "%s:%d:%d: %s\n", fe.File, fe.Line, fe.Column, fe.Msg)
				return exit(plain.ExitFailed)
			case err != nil:
				return a.fail("%s: %v", args[0], err)
			}
			if out == "" {
				_, _ = a.stdout.Write(text) // a failure is remembered by the writer
				return nil
			}
			if err := os.WriteFile(out, text, 0o644); err != nil {
				return a.fail("%s: %v", out, cause(err))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asGo, "go", false, "as a Go program")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}
