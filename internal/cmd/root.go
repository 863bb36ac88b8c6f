// Package cmd holds the subcommands of darkroom-operator.
package cmd

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Main runs the command that the arguments name until it ends or a signal asks
// it to, and returns its exit code.
func Main() int {
	ctx := ctrl.SetupSignalHandler()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
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
	root.AddCommand(newManager(), newTemplate(), newSign(), newAPIServer())
	for _, command := range root.Commands() {
		nameEnvironment(command.Flags())
	}
	return root
}

// buildVersion is set by the linker (-X) in releases.
var buildVersion string

// version returns the version of this build: the one set by the linker, or else the module
// version that Go recorded, which names the commit.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
