package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.LookupEnv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run implements Darkroom's command line: `server [-p PORT]`. The environment variable PORT is ignored, as by Darkroom
// since v0.2.0.
func run(ctx context.Context, args []string, lookup func(string) (string, bool), stdout io.Writer) error {
	if len(args) == 0 || args[0] != "server" {
		return fmt.Errorf("unknown command %q for \"darkroom\"", args)
	}
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error explains it
	port := flags.Int("port", 3000, "server port")
	flags.IntVar(port, "p", 3000, "server port (short)")
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("parse flags of server: %w", err)
	}
	return serve(ctx, readConfig(lookup), *port, stdout)
}
