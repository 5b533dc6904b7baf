package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tpush/tpush/repl/command"
)

// noSuchCommand refuses arguments of the program itself that are no file, and names the command
// that may have been meant.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || len(args) == 1 && strings.HasSuffix(args[0], ".tpu") { // a file to open
		return nil
	}
	return unknownCommand(cmd, args[0])
}

// noSuchTopic refuses to help with a command that there is not.
func noSuchTopic(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err == nil && len(rest) > 0 {
		err = unknownCommand(cmd, rest[0])
	}
	return err
}

func unknownCommand(of *cobra.Command, name string) error {
	var names []string
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s", name, didYouMean(command.Nearest(name, names)))
}

// noSuchFlag adds the flag that may have been meant to an unknown one.
func noSuchFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := command.Nearest(unknown.GetSpecifiedName(), names)
	if near != "" {
		near = "--" + near
	}
	return fmt.Errorf("%w%s", err, didYouMean(near))
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return ", did you mean " + name + "?"
}
