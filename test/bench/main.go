package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func main() {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		if err := runFloor(ctrl.SetupSignalHandler(), os.Args[2]); err != nil {
			log.Fatal("floor: ", err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		stop()
		log.Fatal("bench: ", err) //nolint:gocritic // the deferred stop has already been called
	}
}

func run(ctx context.Context) error {
	var sizes string
	settings := settings{}
	flag.StringVar(&sizes, "n", "100", "numbers of Darkrooms, comma-separated")
	flag.IntVar(&settings.rounds, "rounds", 3, "number of rounds; medians are reported")
	flag.IntVar(&settings.trials, "trials", 15, "changes per latency")
	withFloor := flag.Bool("floor", true, "also measure the floor")
	flag.StringVar(&settings.operator, "operator", filepath.Join("bin", "darkroom-operator"), "the operator's binary")
	limit := flag.Duration("timeout", 2*time.Hour, "time limit of the measurement")
	budgetFile := flag.String("budget", "", "file with the budget to enforce; none is enforced if empty")
	flag.Parse()
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("the measurement took longer than %s", *limit))
	defer cancel()
	var limits budget
	if *budgetFile != "" {
		var err error
		if limits, err = readBudget(*budgetFile); err != nil {
			return err
		}
	}

	all, err := settings.measureAll(ctx, sizes, *withFloor)
	if err != nil {
		return err
	}
	printTable(os.Stdout, all)
	if over := limits.check(all); len(over) > 0 {
		return fmt.Errorf("over the budget of %s:\n  %s", *budgetFile, strings.Join(over, "\n  "))
	}
	return nil
}

// measureAll measures the subjects with each number of Darkrooms.
func (s *settings) measureAll(ctx context.Context, sizes string, withFloor bool) ([]result, error) {
	var all []result
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(size))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-n %s: must be numbers such as 100,500", sizes)
		}
		s.n = n
		var subjects []subject
		if withFloor {
			subjects = append(subjects, s.floorSubject())
		}
		subjects = append(subjects, s.operatorSubject())
		for _, subject := range subjects {
			var rounds []figures
			for round := range s.rounds {
				log.Printf("%s, N = %d, round %d of %d", subject.name, n, round+1, s.rounds)
				measured, err := s.measure(ctx, subject)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", subject.name, err)
				}
				rounds = append(rounds, measured)
			}
			all = append(all, result{subject.name, n, medians(rounds)})
		}
	}
	return all, nil
}

// operatorName is the name of the operator among the subjects.
const operatorName = "darkroom-operator"

// subject is a program to measure.
type subject struct {
	name string
	// controller is the name of the controller whose reconciles install Darkrooms.
	controller string
	// command starts the program with metrics at an address.
	command func(metricsAddress string, period time.Duration) *exec.Cmd
}

// chartFolder contains the chart of all subjects. The benchmark runs in the root of the repository.
var chartFolder = filepath.Join("helm-charts", "darkroom")

// operatorSubject is the operator with additional arguments.
func (s *settings) operatorSubject(more ...string) subject {
	return subject{operatorName, "darkroom-helm", func(address string, period time.Duration) *exec.Cmd {
		args := []string{
			"manager", "--log-level=error", "--metrics-bind-address=" + address, "--metrics-secure=false",
			"--health-probe-bind-address=0", "--reconcile-period=" + period.String(),
			// The benchmark reads the metrics ten times a second.
			"--metrics-per-darkroom=false",
		}
		return exec.Command(s.operator, append(args, more...)...)
	}}
}

func (s *settings) floorSubject() subject {
	return subject{floorCommand, floorCommand, func(address string, _ time.Duration) *exec.Cmd {
		return exec.Command(os.Args[0], floorCommand, address)
	}}
}
