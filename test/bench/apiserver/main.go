package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"text/tabwriter"
	"time"
)

// The load.
const (
	allDarkrooms = 2000
	// openStreams is the number of streams that are open while lists of 100 are requested.
	openStreams, allLists = 200, 1000
	// pacedChanges are made one by one, 20 per second, and then burstChanges as fast as the cluster allows.
	pacedChanges, burstChanges = 300, 500
	// limit is the maximum duration of the measurement.
	limit = 8 * time.Minute
)

// Goals.
const (
	listGoal   = 50 * time.Millisecond
	eventGoal  = 500 * time.Millisecond
	memoryGoal = 256 << 20 // bytes, the limit of config/apiserver
)

func main() {
	log.SetFlags(log.Ltime)
	operator := flag.String("operator", "bin/darkroom-operator", "binary of the operator")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	met, err := run(ctx, *operator)
	cancel()
	stop()
	if err != nil {
		log.Fatal(err)
	}
	if !met {
		os.Exit(1)
	}
}

// run measures, prints the results, and reports whether all goals were met.
func run(ctx context.Context, operator string) (met bool, err error) {
	log.Printf("starting a cluster with %d Darkrooms", allDarkrooms)
	cluster, err := startCluster()
	if err != nil {
		return false, err
	}
	defer cluster.stop()
	if err := cluster.fill(ctx, allDarkrooms); err != nil {
		return false, err
	}
	tokens, err := cluster.people(ctx, (openStreams+streamsEach-1)/streamsEach)
	if err != nil {
		return false, err
	}
	return load(ctx, operator, cluster, tokens)
}

// load measures the server while well-behaved callers have many streams open and request lists.
func load(ctx context.Context, operator string, cluster *cluster, tokens []string) (met bool, err error) {
	// The measurement requests lists back to back, which real callers do not do.
	folder, err := os.MkdirTemp("", "darkroom-load-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	server, err := startServer(ctx, operator, folder, cluster, "--requests-per-second", "100000", "--burst", "100000")
	if server != nil {
		defer func() { err = errors.Join(err, server.End(syscall.SIGTERM)) }()
	}
	if err != nil {
		return false, err
	}
	// Until a server knows a token, it limits the attempts from an address.
	for _, token := range tokens {
		if err := list(ctx, server.URL, token); err != nil {
			return false, err
		}
	}
	log.Printf("opening %d streams", openStreams)
	watch := newWatch(openStreams, pacedChanges+burstChanges)
	closeStreams, err := watch.open(ctx, server.URL, tokens, allDarkrooms)
	if err != nil {
		return false, err
	}
	defer closeStreams()

	log.Printf("requesting %d lists of 100", allLists)
	lists, err := measureLists(ctx, server.URL, tokens, allLists)
	if err != nil {
		return false, err
	}
	log.Printf("making %d changes, 20 a second", pacedChanges)
	if err := cluster.change(ctx, watch, pacedChanges, 1, 20); err != nil {
		return false, err
	}
	paced := watch.latencies()
	log.Printf("making %d changes at once", burstChanges)
	began := time.Now()
	if err := cluster.change(ctx, watch, burstChanges, 16, 0); err != nil {
		return false, err
	}
	rate := float64(burstChanges) / time.Since(began).Seconds()
	burst := watch.latencies()
	peak, err := memory(server.Pid())
	if err != nil {
		return false, err
	}
	return printLoad(lists, paced, burst, rate, watch, peak), nil
}

// printLoad prints the measurements with their goals, and reports whether all goals were met.
func printLoad(lists, paced, burst []time.Duration, rate float64, watch *watch, peak uint64) (met bool) {
	fmt.Printf("\n%d Darkrooms, %d streams, %d processors shared by all\n\n", allDarkrooms, openStreams, runtime.NumCPU())
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\tp50\tp99\tgoal\t")
	met = true
	row := func(what, p50, p99, goal string, fine bool) {
		verdict := ""
		switch {
		case goal != "" && fine:
			verdict = "met"
		case goal != "":
			verdict, met = "MISSED", false
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", what, p50, p99, goal, verdict)
	}
	lost, broken := watch.lost(), watch.broken.Load()
	row(fmt.Sprintf("list of 100 (%d)", len(lists)), ms(at(lists, 50)), ms(at(lists, 99)),
		"p99 < "+ms(listGoal), at(lists, 99) < listGoal)
	row(fmt.Sprintf("change to stream, 20 a second (%d × %d)", pacedChanges, openStreams), ms(at(paced, 50)),
		ms(at(paced, 99)), "p99 < "+ms(eventGoal), at(paced, 99) < eventGoal)
	row(fmt.Sprintf("change to stream, %.0f a second (%d × %d)", rate, burstChanges, openStreams), ms(at(burst, 50)),
		ms(at(burst, 99)), "", true)
	row("changes that a stream did not receive", "", fmt.Sprint(lost), "0", lost == 0)
	row("streams that broke", "", fmt.Sprint(broken), "0", broken == 0)
	row("memory of the API server, at most", "", mib(peak), "< "+mib(memoryGoal), peak < memoryGoal)
	if err := out.Flush(); err != nil {
		log.Print("print: ", err)
	}
	return met
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func mib(bytes uint64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// at returns a percentile of sorted times.
func at(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}
