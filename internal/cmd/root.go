// Package cmd contains the subcommands of darkroom-operator.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/darkroom-operator/darkroom-operator/internal/terminal"
)

// Main runs the command given by the arguments until it ends or receives a termination signal, and returns the exit code.
func Main() int {
	ctx := ctrl.SetupSignalHandler()
	root := newRoot()
	if isPlugin(os.Args[0]) {
		root = newPlugin()
	}
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case errors.As(err, &code):
		return int(code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "Error:", terminal.Escape(err.Error()))
		return 1
	}
	return 0
}

// exitCode makes the program exit with a code and without a message.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func newRoot() *cobra.Command {
	root := newRootNamed("darkroom-operator", "Runs Darkroom image proxies on Kubernetes")
	root.AddCommand(newManager(), newAPIServer())
	root.AddCommand(newPlugin().Commands()...)
	for _, command := range root.Commands() {
		nameEnvironment(command.Flags())
	}
	return root
}

// newRootNamed returns the root command without subcommands.
func newRootNamed(name, short string) *cobra.Command {
	root := &cobra.Command{
		Use:           name,
		Short:         short,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			return setFromEnvironment(command.Flags(), os.Getenv)
		},
	}
	root.SetContext(context.Background())
	return root
}

// buildVersion is set by the linker (-X) in releases.
var buildVersion string

// version returns the version of this build: the version set by the linker, or else the module version recorded by Go,
// which contains the commit.
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
