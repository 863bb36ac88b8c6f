//go:build !linux

package cmd

import (
	"context"
	"flag"
	"fmt"
)

func runOnLinux(_ context.Context, _ *flag.FlagSet, args []string) error {
	return fmt.Errorf("the command %s does not exist, or needs Linux; see: cluster -h", args[0])
}
