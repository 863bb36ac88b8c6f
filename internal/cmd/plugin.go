package cmd

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// pluginName is the name by which kubectl finds the program: kubectl darkroom.
const pluginName = "kubectl-darkroom"

// isPlugin reports whether the program was called by the name of the plugin.
func isPlugin(program string) bool {
	return strings.HasPrefix(filepath.Base(program), pluginName)
}

// newPlugin returns the commands for people, for which kubectl runs the program.
func newPlugin() *cobra.Command {
	root := newRootNamed(pluginName, "Shows and previews Darkrooms")
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl darkroom"}
	root.Long = `Shows and previews Darkrooms. The same program, under the name darkroom-operator, is the operator.

The exit code is 1 after an error; status and plan have others of their own.`
	root.AddCommand(newStatus(), newExplain(), newReport(), newPlan(), newTemplate(), newSign())
	return root
}
