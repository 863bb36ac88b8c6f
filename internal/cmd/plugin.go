package cmd

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// pluginName is the name of the program as the kubectl plugin darkroom.
const pluginName = "kubectl-darkroom"

// isPlugin reports whether the program was called by the name of the plugin.
func isPlugin(program string) bool {
	return strings.HasPrefix(filepath.Base(program), pluginName)
}

// newPlugin returns the commands of the kubectl plugin.
func newPlugin() *cobra.Command {
	root := newRootNamed(pluginName, "Shows and previews Darkrooms")
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl darkroom"}
	root.Long = `Shows and previews Darkrooms. The same program, under the name darkroom-operator, is the operator.

The exit code is 1 after an error. The commands status, explain and plan have further exit codes.`
	root.AddCommand(newStatus(), newExplain(), newReport(), newPlan(), newTemplate(), newSign())
	return root
}
