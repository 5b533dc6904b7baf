package main

import "github.com/spf13/cobra"

func (a *app) selftestCommand() *cobra.Command {
	return &cobra.Command{Use: "selftest", Hidden: true}
}
