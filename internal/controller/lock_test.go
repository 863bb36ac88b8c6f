package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"
)

// The durations are the defaults of the operator: its processes notice things late.
const (
	leaseOfTests = 60 * time.Second
	renewOfTests = 45 * time.Second
	retryOfTests = 2 * time.Second
)

// leaseOfCandidates is a lease at an API server.
type leaseOfCandidates struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	version int
}

func (l *leaseOfCandidates) delete() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record = nil
}

// candidate is a process that wants to lead, and what it knows of the lease.
type candidate struct {
	resourcelock.Interface // of which nothing else is called
	name                   string
	lease                  *leaseOfCandidates
	version                int
	cutOff, leads          atomic.Bool
}

var (
	errCutOff   = errors.New("the API server does not answer")
	errConflict = errors.New("the lease has changed")
)

func (c *candidate) Identity() string   { return c.name }
func (c *candidate) Describe() string   { return "lease" }
func (c *candidate) RecordEvent(string) {}

func (c *candidate) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	c.lease.mu.Lock()
	defer c.lease.mu.Unlock()
	switch {
	case c.cutOff.Load():
		return nil, nil, errCutOff
	case c.lease.record == nil:
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{}, "lease")
	}
	c.version = c.lease.version
	record := *c.lease.record
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (c *candidate) Create(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	err := c.write(record, func() bool { return c.lease.record == nil })
	if errors.Is(err, errConflict) {
		return apierrors.NewAlreadyExists(schema.GroupResource{}, "lease")
	}
	return err
}

func (c *candidate) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	return c.write(record, func() bool { return c.lease.record != nil && c.lease.version == c.version })
}

func (c *candidate) write(record resourcelock.LeaderElectionRecord, may func() bool) error {
	c.lease.mu.Lock()
	defer c.lease.mu.Unlock()
	switch {
	case c.cutOff.Load():
		return errCutOff
	case !may():
		return errConflict
	}
	c.lease.version++
	c.lease.record, c.version = &record, c.lease.version
	return nil
}

func (c *candidate) run(ctx context.Context, locked resourcelock.Interface) error {
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: locked, LeaseDuration: leaseOfTests, RenewDeadline: renewOfTests, RetryPeriod: retryOfTests,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.leads.Store(true) },
			OnStoppedLeading: func() { c.leads.Store(false) },
		},
	})
	if err == nil {
		elector.Run(klog.NewContext(ctx, logr.Discard()))
	}
	return err
}

// turn is what happens to the processes after some time.
type turn struct {
	after   int // seconds
	cutsOff int // the process that no longer reaches the API server, or does again
}

// elect deletes the lease at a turn. It returns an error if two processes ever lead, or if none does two leases after
// all faults have ended.
func elect(t *testing.T, turns []turn, deletion int) error {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lease := &leaseOfCandidates{}
	candidates := make([]*candidate, 4)
	for i := range candidates {
		c := &candidate{name: fmt.Sprint(i), lease: lease}
		candidates[i] = c
		go func() {
			if err := c.run(ctx, &lock{Interface: c, leaseDuration: leaseOfTests}); err != nil {
				t.Error(err)
			}
		}()
	}
	leading := func() (leaders []string) {
		for _, c := range candidates {
			if c.leads.Load() {
				leaders = append(leaders, c.name)
			}
		}
		return leaders
	}
	wait := func(seconds int) error {
		for range seconds * 10 {
			time.Sleep(time.Second / 10)
			synctest.Wait()
			if leaders := leading(); len(leaders) > 1 {
				return fmt.Errorf("%v lead", leaders)
			}
		}
		return nil
	}
	// A process that starts when the lease is deleted cannot know of its holder.
	if err := wait(int(3 * retryOfTests.Seconds())); err != nil {
		return err
	}
	for i, turn := range turns {
		if err := wait(turn.after); err != nil {
			return err
		}
		if i == deletion {
			lease.delete()
		}
		cut := &candidates[turn.cutsOff].cutOff
		cut.Store(!cut.Load())
	}
	for _, c := range candidates {
		c.cutOff.Store(false)
	}
	if err := wait(2 * int(leaseOfTests.Seconds())); err != nil {
		return err
	}
	if len(leading()) == 0 && len(turns) < len(candidates) { // one that stopped leading has ended
		return errors.New("no process leads")
	}
	return nil
}

// An admin deletes leases, because a runbook says so, or with a namespace. The leader does not know it at once.
func TestALeaseThatIsDeletedMakesNoSecondLeader(t *testing.T) {
	turns := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) turn {
		return turn{
			after: rapid.IntRange(0, 90).Draw(t, "after"), cutsOff: rapid.IntRange(0, 3).Draw(t, "cuts off"),
		}
	}), 1, 8)
	rapid.Check(t, func(rt *rapid.T) {
		history := turns.Draw(rt, "turns")
		deletion := rapid.IntRange(0, len(history)-1).Draw(rt, "turn of the deletion")
		var failure error
		synctest.Test(t, func(t *testing.T) { failure = elect(t, history, deletion) })
		if failure != nil {
			rt.Fatal(failure)
		}
	})
}
