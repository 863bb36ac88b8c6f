package histories

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// shrinkPatience limits the time in which shortened histories may come to rest.
const shrinkPatience = 15 * time.Second

// capabilities describe the oldest cluster that the chart supports.
var capabilities = render.Capabilities{Version: "v1.30.0"}

// shrinkTime limits the search for a shorter history.
var shrinkTime = cmp.Or(os.Getenv("SHRINK"), "2m")

// fixedSeeds is the number of histories in `make test`, and workers the number of concurrent ones. They mostly wait.
const (
	fixedSeeds = 6
	workers    = 8
)

// focus selects histories by the sentences of their steps.
var focus = regexp.MustCompile(os.Getenv("FOCUS"))

// TestHistories runs fixed seeds with -short. With FOR, it runs as many seeds as fit into that time, starting at FIRST.
// With SEED, it runs only that seed.
func TestHistories(t *testing.T) {
	t.Parallel()
	if seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		check(t, seed)
		return
	}
	if isFixed && !testing.Short() {
		t.Skip("make histories runs random ones; .ci/run has a separate step for them")
	}
	next, end := uint64(1), time.Time{}
	if duration, err := time.ParseDuration(os.Getenv("FOR")); err == nil {
		next, end = uint64(time.Now().UnixNano()), time.Now().Add(duration)
		if first, err := strconv.ParseUint(os.Getenv("FIRST"), 10, 64); err == nil {
			next = first
		}
	}
	var mu sync.Mutex
	take := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		seed, next = next, next+1
		return seed, end.IsZero() && seed <= fixedSeeds || time.Now().Before(end)
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { check(t, seed) })
			}
		})
	}
	running.Wait()
}

// seeding guards the seed, which is a flag of the library.
var seeding sync.Mutex

// isFixed is set if the seeds are fixed.
var isFixed = os.Getenv("FOR") == "" && os.Getenv("SEED") == ""

// check runs the history of a seed, and shortens it if it violates an invariant.
func check(t *testing.T, seed uint64) {
	checks := "1"
	if testing.Short() {
		checks = "5" // a fifth of them runs with -short
	}
	seeding.Lock()
	for name, value := range map[string]string{
		"rapid.seed": strconv.FormatUint(seed, 10), "rapid.checks": checks, "rapid.nofailfile": "true",
		"rapid.shrinktime": shrinkTime,
	} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	var started sync.Once
	patience := patience
	rapid.Check(t, func(rt *rapid.T) {
		started.Do(seeding.Unlock)
		steps := history().Draw(rt, "history")
		if !focus.MatchString(fmt.Sprintf("%#v", steps)) {
			return
		}
		if violated, err := run(steps, patience); violated != "" {
			if patience != shrinkPatience {
				t.Logf("violated at first, by a history that is shortened now: %s: %v", violated, err) // it may not happen again
			}
			patience = shrinkPatience
			rt.Logf("%v", err)
			rt.Fatalf("violated: %s", violated)
		}
	})
}

// run runs a history and returns the first violated invariant.
func run(steps []step, patience time.Duration) (violated string, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, end, err := newWorld(ctx, shared)
	if err != nil {
		return "the operator starts", err
	}
	defer end()
	for _, step := range steps {
		if err := benign(step.do(w)); err != nil {
			return "the step can be made: " + step.says, err
		}
		most := patience
		if w.faults.Current() != "" || len(w.policies) > 0 {
			most = 2 * time.Second
		}
		if err := w.settle(most); err != nil {
			return "the controllers of Kubernetes work", err
		}
		if violated, err := w.judge(always); err != nil {
			return violated, fmt.Errorf("after %q: %w", step.says, err)
		}
	}
	if violated, err := w.conclude(patience); err != nil {
		return violated, err
	}
	return "", nil
}

// conclude ends all faults and checks the cluster at rest.
func (w *world) conclude(patience time.Duration) (violated string, err error) {
	w.faults.End()
	w.balances = false
	if err := errors.Join(w.endPolicies(), w.endFinalizers()); err != nil {
		return "policies and finalizers end", err
	}
	if err := benign(w.start(mainInstallation)); err != nil {
		return "the operator starts", err
	}
	limits := wait.Limits{Timeout: patience, Period: 20 * time.Millisecond}
	err = limits.Until(w.ctx, "the cluster is at rest", func(context.Context) error {
		if err := w.settle(5 * time.Second); err != nil {
			return wait.Permanent(err)
		}
		if violated, err = w.judge(atRest); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return cmp.Or(violated, "the controllers of Kubernetes work"), err
	}
	if violated, err := w.judge(slices.Concat(always, afterwards)); err != nil {
		return violated, err
	}
	return "truth: the next process reports the same as this one", w.saysTheSame(limits)
}

// saysTheSame restarts the operator and compares the statuses before and after. Nothing has changed, so a difference
// means that the previous process missed an event.
func (w *world) saysTheSame(limits wait.Limits) error {
	if rests, err := w.rests(limits.Timeout, quietPeriod, w.isTold); !rests {
		return errors.Join(err, fmt.Errorf("the operator does not come to rest within %s", limits.Timeout))
	}
	before, err := w.said()
	if err != nil {
		return err
	}
	// Failed actions may be retried at any moment. In this case something has changed, and there is nothing to compare.
	_, isUntrue := w.judge(atRest)
	w.stop(mainInstallation)
	last, err := w.said()
	if err != nil || isUntrue != nil || !maps.Equal(before, last) {
		return err
	}
	if err := benign(w.start(mainInstallation)); err != nil {
		return err
	}
	return limits.Until(w.ctx, "statuses are equal", func(context.Context) error {
		if rests, err := w.rests(limits.Timeout, quietPeriod, w.isTold); !rests {
			return wait.Permanent(errors.Join(err, errors.New("the next process does not come to rest")))
		}
		after, err := w.said()
		for key, said := range before {
			if now, isSaid := after[key]; isSaid && now != said {
				return fmt.Errorf("the status of %s changed with a restart, although nothing else has changed:\n%s\nbefore:\n%s",
					w.plain(key.String()), now, said)
			}
		}
		return err
	})
}

// quietPeriod is the time without requests after which an operator counts as idle, even on a busy machine.
const quietPeriod = 2 * time.Second

// isTold reports whether the main installation has a leader and all watches of its processes are open.
func (w *world) isTold() bool {
	leads := false
	for _, p := range w.processes(mainInstallation) {
		if o := w.operators[p]; o != nil {
			leads = leads || o.traffic.leads()
			if !o.traffic.isTold() {
				return false
			}
		}
	}
	return leads
}

// said returns the contents of the statuses. It omits Darkrooms that are being retried or wait for another claimant of
// a host, and counters of processes, such as contests.
func (w *world) said() (map[types.NamespacedName]string, error) {
	all, err := w.allDarkrooms()
	said := map[types.NamespacedName]string{}
	isRetried := func(d v1alpha1.Darkroom) bool { return explains(&d) != "" }
	anyIsRetried := slices.ContainsFunc(all, isRetried)
	for i := range all {
		status := all[i].Status
		domains := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionDomainsReady)
		waits := domains != nil && domains.Reason == v1alpha1.ReasonDomainConflict
		if isRetried(all[i]) || waits && anyIsRetried {
			continue
		}
		status.Conditions = slices.DeleteFunc(slices.Clone(status.Conditions), func(condition v1alpha1.Condition) bool {
			return condition.Type == v1alpha1.ConditionContested
		})
		for i := range status.Conditions {
			status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
		said[client.ObjectKeyFromObject(&all[i])] = encoded(status)
	}
	return said, err
}

// judge returns the first violated invariant.
func (w *world) judge(invariants []invariant) (violated string, err error) {
	if w.judging, err = w.objects(); err != nil {
		return "the API server lists objects", err
	}
	for _, invariant := range invariants {
		if err := invariant.holds(w); err != nil {
			return invariant.name, fmt.Errorf("%s", w.plain(err.Error()))
		}
	}
	return "", nil
}

// translate returns the rendered objects of a Darkroom.
func (w *world) translate(d *v1alpha1.Darkroom) ([]*unstructured.Unstructured, error) {
	installation := cmp.Or(v1alpha1.HandledBy(d), mainInstallation)
	translator, err := values.New(w.settingsAt(w.processOf(installation, d), time.Now()).Options)
	if err != nil {
		return nil, err
	}
	r, err := w.replayed()
	if err != nil {
		return nil, err
	}
	var state values.ClusterState
	domains := v1alpha1.FindCondition(d.Status.Conditions, v1alpha1.ConditionDomainsReady)
	explained := domains != nil && domains.Reason == v1alpha1.ReasonDomainConflict
	for _, host := range translator.Hosts(d) {
		// hostsAreRouted checks the hosts of the main installation.
		if !r.isRouted(d, host) && (installation == mainInstallation || explained) {
			state.RefusedHosts = append(state.RefusedHosts, host)
		}
	}
	vals, err := translator.ValuesIn(d, state)
	if err != nil {
		return nil, err
	}
	chrt, err := charts.Darkroom()
	if err != nil {
		return nil, err
	}
	rendered, err := render.Render(chrt, client.ObjectKeyFromObject(d), vals, capabilities)
	if err != nil {
		return nil, err
	}
	return manifest.Parse(rendered.Manifest, d.Namespace)
}

// lacks returns the first field of desired that is missing or different in live; empty if there is none.
func lacks(desired, live any, path string) string {
	switch desired := desired.(type) {
	case map[string]any:
		fields, _ := live.(map[string]any)
		for name, value := range desired {
			if difference := lacks(value, fields[name], path+"."+name); difference != "" {
				return difference
			}
		}
	case []any:
		items, _ := live.([]any)
		if len(items) != len(desired) {
			return fmt.Sprintf("%s has %d items, not %d", path, len(items), len(desired))
		}
		for i := range desired {
			if difference := lacks(desired[i], items[i], fmt.Sprintf("%s[%d]", path, i)); difference != "" {
				return difference
			}
		}
	case nil:
	default:
		// The chart contains floats where the API server returns integers, which are equal in JSON.
		if encoded(desired) != encoded(live) && path != ".spec.replicas" {
			return fmt.Sprintf("%s is %s, not %s", path, encoded(live), encoded(desired))
		}
	}
	return ""
}

func encoded(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// logBuffer contains the logs of all operators.
type logBuffer struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines.Write(p)
}

func (b *logBuffer) has(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.lines.String(), text)
}
