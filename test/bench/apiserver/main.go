package main

import (
	"context"
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

// settings say how much load there is.
type settings struct {
	operator            string
	darkrooms, streams  int
	lists, changes, all int
	limit               time.Duration
	// each is for how long each way of abuse is tried; only leaves out all else.
	each time.Duration
	only bool
}

// Goals.
const (
	listGoal   = 50 * time.Millisecond
	eventGoal  = 500 * time.Millisecond
	memoryGoal = 300 << 20 // bytes
)

func main() {
	log.SetFlags(log.Ltime)
	s := settings{}
	flag.StringVar(&s.operator, "operator", "bin/darkroom-operator", "binary of the operator")
	flag.IntVar(&s.darkrooms, "darkrooms", 2000, "Darkrooms in the cluster")
	flag.IntVar(&s.streams, "streams", 200, "streams of live events that are open")
	flag.IntVar(&s.lists, "lists", 1000, "lists of 100 that are asked for while the streams are open")
	flag.IntVar(&s.changes, "changes", 300, "changes that are made one by one, 20 a second")
	flag.IntVar(&s.all, "burst", 500, "changes that are then made as fast as the cluster takes them")
	flag.DurationVar(&s.each, "abuse", 8*time.Second, "how long each way of abuse is tried; 0 means none")
	flag.BoolVar(&s.only, "abuse-only", false, "measure nothing but the abuse")
	flag.DurationVar(&s.limit, "limit", 8*time.Minute, "end after this long in any case")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	met, err := s.run(ctx)
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
func (s *settings) run(ctx context.Context) (met bool, err error) {
	log.Printf("starting a cluster with %d Darkrooms", s.darkrooms)
	cluster, err := startCluster()
	if err != nil {
		return false, err
	}
	defer cluster.stop()
	if err := cluster.fill(ctx, s.darkrooms); err != nil {
		return false, err
	}
	tokens, err := cluster.people(ctx, max((s.streams+streamsEach-1)/streamsEach, 1+len(abuses("", ""))))
	if err != nil {
		return false, err
	}
	met = true
	if !s.only {
		if met, err = s.load(ctx, cluster, tokens); err != nil {
			return false, err
		}
	}
	if s.each > 0 {
		unharmed, err := s.abuse(ctx, cluster, tokens)
		if err != nil {
			return false, err
		}
		met = met && unharmed
	}
	return met, nil
}

// load measures many streams and lists of well-behaved callers.
func (s *settings) load(ctx context.Context, cluster *cluster, tokens []string) (met bool, err error) {
	// The measurement requests lists back to back, which real callers do not do.
	server, err := startServer(ctx, s.operator, cluster, "--requests-per-second", "100000", "--burst", "100000")
	if err != nil {
		return false, err
	}
	defer server.stop()
	idle, err := server.memory()
	if err != nil {
		return false, err
	}

	// A server that does not know a token yet lets an address try few at a time.
	for _, token := range tokens {
		if err := list(ctx, server.url, token); err != nil {
			return false, err
		}
	}
	log.Printf("opening %d streams", s.streams)
	watch := newWatch(s.streams, s.changes+s.all)
	closeStreams, err := watch.open(ctx, server.url, tokens, s.darkrooms)
	if err != nil {
		return false, err
	}
	defer closeStreams()

	log.Printf("asking for %d lists of 100", s.lists)
	lists, err := measureLists(ctx, server.url, tokens, s.lists)
	if err != nil {
		return false, err
	}
	log.Printf("making %d changes, 20 a second", s.changes)
	if err := cluster.change(ctx, watch, s.changes, 1, 20); err != nil {
		return false, err
	}
	paced := watch.latencies()
	log.Printf("making %d changes at once", s.all)
	began := time.Now()
	if err := cluster.change(ctx, watch, s.all, 16, 0); err != nil {
		return false, err
	}
	rate := float64(s.all) / time.Since(began).Seconds()
	burst := watch.latencies()
	peak, err := server.memory()
	if err != nil {
		return false, err
	}
	return s.print(lists, paced, burst, rate, watch, idle, peak), nil
}

func (s *settings) print(lists, paced, burst []time.Duration, rate float64, watch *watch, idle, peak int64) bool {
	lost, broken := watch.lost(), watch.broken.Load()
	t := newTable(fmt.Sprintf("%d Darkrooms, %d streams, %d processors shared by all", s.darkrooms, s.streams, runtime.NumCPU()))
	t.row(fmt.Sprintf("list of 100 (%d)", len(lists)), ms(at(lists, 50)), ms(at(lists, 99)), "p99 < "+ms(listGoal), at(lists, 99) < listGoal)
	t.row(fmt.Sprintf("change to stream, 20 a second (%d × %d)", s.changes, s.streams), ms(at(paced, 50)), ms(at(paced, 99)), "p99 < "+ms(eventGoal), at(paced, 99) < eventGoal)
	t.row(fmt.Sprintf("change to stream, %.0f a second (%d × %d)", rate, s.all, s.streams), ms(at(burst, 50)), ms(at(burst, 99)), "", true)
	t.row("changes that a stream did not see", "", fmt.Sprint(lost), "0", lost == 0)
	t.row("streams that broke", "", fmt.Sprint(broken), "0", broken == 0)
	t.row("memory of the API server, at most", "", mib(peak), "< "+mib(memoryGoal), peak < memoryGoal)
	t.row("memory before the streams", "", mib(idle), "", true)
	return t.print()
}

// table shows measurements and their goals.
type table struct {
	out *tabwriter.Writer
	met bool
}

func newTable(title string) *table {
	fmt.Printf("\n%s\n\n", title)
	t := &table{out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0), met: true}
	fmt.Fprintln(t.out, "\tp50\tp99\tgoal\t")
	return t
}

// row adds a line. Without a goal there is no verdict.
func (t *table) row(what, p50, p99, goal string, fine bool) {
	verdict := ""
	switch {
	case goal != "" && fine:
		verdict = "met"
	case goal != "":
		verdict, t.met = "MISSED", false
	}
	fmt.Fprintf(t.out, "%s\t%s\t%s\t%s\t%s\n", what, p50, p99, goal, verdict)
}

// print prints the table, and reports whether all goals were met.
func (t *table) print() bool {
	if err := t.out.Flush(); err != nil {
		log.Print("print: ", err)
	}
	return t.met
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func mib(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// at returns a percentile of sorted times.
func at(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}
