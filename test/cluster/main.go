// Command cluster builds, starts and stops a Kubernetes cluster on this
// machine, for tests and demonstrations. See README.md, or run it with -h.
package main

import (
	"os"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cmd"
)

func main() {
	os.Exit(cmd.Main(os.Args[1:]))
}
