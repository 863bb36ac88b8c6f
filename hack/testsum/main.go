// Command testsum runs a test command that prints `go test -json`, shows it as `go
// test` would have, and keeps count, so that the last line of a run over several
// modules can say how many tests passed and failed:
//
//	testsum -tally FILE -- go test -json ./...
//	testsum -sum -tally FILE
//
// A tally is a file of lines {"passed":1,"failed":0,"skipped":0}, one a run.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	os.Exit(code)
}

func run(args []string, out io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("testsum", flag.ContinueOnError)
	verbose := flags.Bool("v", false, "show the output of all tests, not of failed ones alone")
	sum := flags.Bool("sum", false, "run nothing: print the sum of the tally")
	tally := flags.String("tally", "", "file that the counts are added to")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	if *sum {
		total, err := readTally(*tally)
		if err != nil {
			return 1, err
		}
		if total.Skipped > 0 {
			fmt.Fprintln(out, total.Skipped, "skipped")
		}
		fmt.Fprintln(out, total)
		return 0, nil
	}
	if flags.NArg() == 0 {
		return 2, errors.New("no command to run; for example: testsum -- go test -json ./...")
	}
	results := newResults(out, *verbose)
	code, err = runCommand(flags.Args(), results)
	if err == nil && *tally != "" {
		err = addTally(*tally, results.count(code))
	}
	if err != nil {
		return max(code, 1), err
	}
	return code, nil
}

// runCommand runs the command with its standard output read as test events, and
// returns its exit code.
func runCommand(args []string, results *results) (int, error) {
	command := exec.Command(args[0], args[1:]...)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := command.Start(); err != nil {
		return 1, fmt.Errorf("run %s: %w", args[0], err)
	}
	// The command decides what a signal means, and is waited for. A terminal's
	// interrupt reaches it anyway.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		for s := range signals {
			if s == syscall.SIGTERM {
				_ = command.Process.Signal(s)
			}
		}
	}()
	// Lines have no length that is too long: a test may print anything.
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			results.add(line)
		}
		if err != nil {
			break
		}
	}
	err = command.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run %s: %w", args[0], err)
	}
	return 0, nil
}

func addTally(path string, c counts) (err error) {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep count: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.Write(append(line, '\n'))
	return err
}

func readTally(path string) (total counts, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return total, nil
	}
	if err != nil {
		return total, fmt.Errorf("add up: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for decoder := json.NewDecoder(file); ; {
		var c counts
		err := decoder.Decode(&c)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, fmt.Errorf("add up %s: %w", path, err)
		}
		total.Passed += c.Passed
		total.Failed += c.Failed
		total.Skipped += c.Skipped
	}
}
