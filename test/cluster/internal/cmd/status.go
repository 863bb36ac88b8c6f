package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

func statusCommand() command {
	return command{
		name:    "status",
		summary: "Show whether a cluster is running, and its components",
		help:    "Exits with code 1 when none runs.",
		run: func(_ context.Context, flags *flag.FlagSet, args []string) error {
			dirFlag := flags.String("dir", "", dirFlagHelp)
			if err := parse(flags, args); err != nil {
				return err
			}
			if err := noArguments(flags); err != nil {
				return err
			}
			dir, err := clusterDir(*dirFlag)
			if err != nil {
				return err
			}
			running, err := cluster.Running(dir)
			if err != nil {
				return err
			}
			if !running {
				fmt.Printf("no cluster runs in %s\n", dir)
				return exitError{1}
			}
			state, err := cluster.LoadState(dir)
			if errors.Is(err, os.ErrNotExist) {
				fmt.Printf("the cluster in %s is starting or stopping\n", dir)
				return exitError{1}
			}
			if err != nil {
				return err
			}
			return printState(os.Stdout, state)
		},
	}
}

func printState(out io.Writer, s cluster.State) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "Kubernetes\t%s\n", s.Kubernetes)
	fmt.Fprintf(w, "nodes\t%d %s\n", s.Nodes, s.Node)
	fmt.Fprintf(w, "API server\t%s\n", s.APIServer)
	fmt.Fprintf(w, "ingress\t%s\n", s.Ingress)
	fmt.Fprintf(w, "KUBECONFIG\t%s\n", s.Kubeconfig)
	fmt.Fprintf(w, "logs\t%s\n", s.Logs)
	fmt.Fprintf(w, "running for\t%s (ready after %s)\n", time.Since(s.Started).Round(time.Second), s.ReadyAfter)
	fmt.Fprintf(w, "\nPROGRAM\tPID\t\n")
	fmt.Fprintf(w, "supervisor\t%d\t%s\n", s.Supervisor, alive(s.Supervisor))
	for _, c := range s.Components {
		fmt.Fprintf(w, "%s\t%d\t%s\n", c.Name, c.PID, alive(c.PID))
	}
	return w.Flush()
}

func alive(pid int) string {
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return "not running"
	}
	return "running"
}

func logsCommand() command {
	return command{
		name:      "logs",
		arguments: "[program]",
		summary:   "Print the log of a program, or the names of the logs",
		run: func(_ context.Context, flags *flag.FlagSet, args []string) error {
			dirFlag := flags.String("dir", "", dirFlagHelp)
			if err := parse(flags, args); err != nil {
				return err
			}
			dir, err := clusterDir(*dirFlag)
			if err != nil {
				return err
			}
			logs, err := filepath.Glob(filepath.Join(cluster.Layout{Dir: dir}.Logs(), "*.log"))
			if err != nil {
				return err
			}
			var names []string
			for _, log := range logs {
				name := strings.TrimSuffix(filepath.Base(log), ".log")
				if name == flags.Arg(0) {
					return printFile(log)
				}
				names = append(names, name)
			}
			if flags.NArg() > 0 {
				return fmt.Errorf("there is no log of %q in %s; there are: %s", flags.Arg(0), dir, strings.Join(names, ", "))
			}
			for _, log := range logs {
				fmt.Println(log)
			}
			return nil
		},
	}
}

func printFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(os.Stdout, file)
	return err
}
