package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/plain"
)

func (a *app) fmtCommand() *cobra.Command {
	var write, diff, list bool
	cmd := &cobra.Command{
		Use: "fmt FILE…", Short: "Format the cells of .tpu files as gofmt would",
		Long: `Format the cells of .tpu files as gofmt would and print the result. The sugar
stays sugar; separators, commands, expectations and comments stay as they are.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.fail("fmt: a file is wanted, or - for standard input")
			}
			code := plain.ExitOK
			for _, file := range args {
				src, out, err := a.format(file)
				var fe *repl.FormatError
				if errors.As(err, &fe) {
					fmt.Fprintf(a.stderr, "%s:%d:%d: syntax: %s\n", fe.File, fe.Line, fe.Column, fe.Msg)
					code = plain.ExitFailed
					continue
				}
				if err != nil {
					return a.fail("%v", err)
				}
				if err := a.formatted(file, src, out, write, diff, list); err != nil {
					return err
				}
			}
			return exit(code)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "rewrite the files that differ")
	cmd.Flags().BoolVarP(&diff, "diff", "d", false, "print what would change")
	cmd.Flags().BoolVarP(&list, "list", "l", false, "print the names of the files that would change")
	return cmd
}

func (a *app) format(file string) (src, out []byte, err error) {
	nb, err := a.notebook(file)
	if err != nil {
		return nil, nil, err
	}
	out, err = repl.Format(nb)
	return nb.Source(), out, err
}

// formatted prints or writes the outcome for one file.
func (a *app) formatted(file string, src, out []byte, write, diff, list bool) error {
	changed := !bytes.Equal(src, out)
	if list && changed {
		fmt.Fprintln(a.stdout, file)
	}
	if diff && changed {
		text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(string(src)), B: difflib.SplitLines(string(out)), FromFile: file, ToFile: file + " formatted", Context: 3,
		})
		if err != nil {
			return a.fail("%s: %v", file, err)
		}
		fmt.Fprint(a.stdout, text)
	}
	switch {
	case write && changed && file != "-":
		mode := os.FileMode(0o644)
		if info, err := os.Stat(file); err == nil {
			mode = info.Mode().Perm()
		}
		if err := os.WriteFile(file, out, mode); err != nil {
			return a.fail("%s: %v", file, cause(err))
		}
	case !write && !diff && !list:
		_, _ = a.stdout.Write(out) // a failure is remembered by the writer
	}
	return nil
}

func (a *app) vetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "vet FILE…", Short: "List mistakes and warnings of .tpu files without running them",
		Long: `Type-check the cells of .tpu files without running them and list what is wrong:
mistakes, unused variables and imports, functions that keep an old definition.
The exit code is 1 when there is anything to list.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.fail("vet: a file is wanted, or - for standard input")
			}
			code := plain.ExitOK
			for _, file := range args {
				nb, err := a.notebook(file)
				if err != nil {
					return a.fail("%v", err)
				}
				found, err := repl.Vet(nb)
				if err != nil {
					return a.fail("%s: %v", file, err)
				}
				for _, f := range found {
					kind := f.Kind
					if !f.Fatal() {
						kind = "warning"
					}
					fmt.Fprintf(a.stdout, "%s:%d:%d: %s: %s\n", file, f.Line, f.Column, kind, f.Msg)
					code = plain.ExitFailed
				}
			}
			return exit(code)
		},
	}
}
