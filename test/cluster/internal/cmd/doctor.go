package cmd

import (
	"context"
	"flag"
	"fmt"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

func doctorCommand() command {
	return command{
		name:    "doctor",
		summary: "Tell whether this machine can run a real node, and what it lacks",
		run: func(_ context.Context, flags *flag.FlagSet, args []string) error {
			if err := parse(flags, args); err != nil {
				return err
			}
			if err := noArguments(flags); err != nil {
				return err
			}
			if err := cluster.CheckMachine(); err != nil {
				return err
			}
			fmt.Println("this machine can run a real node")
			return nil
		},
	}
}
