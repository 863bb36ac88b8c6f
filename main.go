// Command darkroom-operator runs the Darkroom Operator and its companions; see
// package cmd for the subcommands.
package main

import (
	"os"

	"github.com/darkroom-operator/darkroom-operator/internal/cmd"
)

func main() {
	os.Exit(cmd.Main())
}
