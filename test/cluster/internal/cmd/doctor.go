package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

func doctorCommand() command {
	return command{
		name:    "doctor",
		summary: "Check whether this machine can run a real node, and list what is missing",
		run: func(_ context.Context, flags *flag.FlagSet, args []string) error {
			missing := flags.Bool("missing", false, "only print the package manager (apt, dnf or apk) and the packages to install with it, "+
				"on one line; fail if a real node cannot run with them either")
			if err := parse(flags, args); err != nil {
				return err
			}
			if err := noArguments(flags); err != nil {
				return err
			}
			if *missing {
				return printMissing(os.Stdout)
			}
			if err := cluster.CheckMachine(); err != nil {
				return err
			}
			fmt.Println("this machine can run a real node")
			return nil
		},
	}
}

func printMissing(out io.Writer) error {
	manager, packages, err := cluster.MissingPackages()
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		return errors.New("no package is missing")
	}
	fmt.Fprintln(out, manager, strings.Join(packages, " "))
	return nil
}
