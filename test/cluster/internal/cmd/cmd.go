package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

// command is a subcommand. Its run gets a flag set whose usage is set up, adds
// its flags, parses the arguments, and acts.
type command struct {
	name, arguments, summary string
	// help follows the summary in `cluster NAME -h`.
	help string
	run  func(ctx context.Context, flags *flag.FlagSet, args []string) error
}

func commands() []command {
	return []command{
		buildCommand(), assetsCommand(), upCommand(), downCommand(), execCommand(),
		loadCommand(), pullCommand(), imageCommand(), doctorCommand(),
	}
}

// exitError makes the program exit with a code, without a message.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// errUsage is returned after the usage has been printed.
var errUsage = errors.New("usage")

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	if len(args) > 0 && (args[0] == cluster.SuperviseCommand || args[0] == cluster.InitCommand) {
		return supervise(args)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return code(run(ctx, args), os.Stderr)
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		printHelp(os.Stderr)
		return errUsage
	}
	if name := args[0]; name == "help" || name == "-h" || name == "-help" || name == "--help" {
		printHelp(os.Stdout)
		return nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, c.flags(), args[1:])
		}
	}
	return fmt.Errorf("there is no command %q; see: cluster -h", args[0])
}

func (c command) flags() *flag.FlagSet {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.Usage = func() {
		out := flags.Output()
		fmt.Fprintf(out, "cluster %s\n\n%s.\n", strings.TrimSpace(c.name+" "+c.arguments), c.summary)
		if c.help != "" {
			fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(c.help))
		}
		fmt.Fprintln(out, "\nOptions:")
		flags.PrintDefaults()
	}
	return flags
}

// parse parses args; the error is nil, errUsage or flag.ErrHelp, and what is
// wrong has been said.
func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return errUsage
	}
	return err
}

// noArguments refuses arguments left over after the flags.
func noArguments(flags *flag.FlagSet) error {
	if flags.NArg() > 0 {
		return fmt.Errorf("cluster %s takes no argument, but got %q", flags.Name(), flags.Arg(0))
	}
	return nil
}

func printHelp(out io.Writer) {
	fmt.Fprint(out, `cluster builds, starts and stops a Kubernetes cluster on this machine.

Usage: cluster COMMAND [options] [arguments]

`)
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-8s %s\n", c.name, c.summary)
	}
	fmt.Fprint(out, `
Run "cluster COMMAND -h" for a command's options.
`)
}

// code says err on out, and returns the exit code it stands for.
func code(err error, out io.Writer) int {
	var exit exitError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(out, "interrupted")
		return 130
	default:
		fmt.Fprintf(out, "error: %s\n", err)
		return 1
	}
}
