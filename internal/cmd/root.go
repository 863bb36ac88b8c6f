// Package cmd holds the subcommands of darkroom-operator.
package cmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Exit codes of the command.
const (
	exitOK    = 0
	exitError = 1
)

// Main runs the command that the arguments name until it ends or a signal asks
// it to, and returns its exit code.
func Main() int {
	ctx := ctrl.SetupSignalHandler()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return exitError
	}
	return exitOK
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "darkroom-operator",
		Short:         "Runs Darkroom image proxies on Kubernetes",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			return setFromEnvironment(command.Flags())
		},
	}
	root.SetContext(context.Background())
	root.AddCommand(newManager(), newTemplate(), newAPIServer())
	for _, command := range root.Commands() {
		nameEnvironment(command.Flags())
	}
	return root
}
