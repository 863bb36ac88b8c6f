package cmd

import (
	"context"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// A leader that cannot renew its lease within the renew deadline exits, and its caches have to be
// filled again after the restart.
func TestTheDefaultsOfTheElectionOutlastAnAPIServerThatRestarts(t *testing.T) {
	const outage = 30 * time.Second
	e := &election{}
	e.addFlags(pflag.NewFlagSet("", pflag.ContinueOnError))
	if err := e.validate(); err != nil {
		t.Fatal(err)
	}
	// The last renewal may be one retry period old when the outage begins, and the next attempt follows up to one
	// period after it ends.
	if e.renewDeadline < outage+2*e.retryPeriod {
		t.Errorf("a leader exits %s after the API server stopped", e.renewDeadline)
	}
}

// client-go panics or returns an error without the name of a flag.
func TestDurationsAreRefusedIfTheElectionRefusesThem(t *testing.T) {
	durations := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(-1, 6).Draw(t, "s")) * time.Second
	})
	property.Check(t, func(t *rapid.T) {
		e := &election{
			leaseDuration: durations.Draw(t, "lease"), renewDeadline: durations.Draw(t, "renew"),
			retryPeriod: durations.Draw(t, "retry"),
		}
		_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:          &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "a"}},
			LeaseDuration: e.leaseDuration, RenewDeadline: e.renewDeadline, RetryPeriod: e.retryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		if (err == nil) != (e.validate() == nil) {
			t.Errorf("%+v: client-go returns %v, validate %v", e, err, e.validate())
		}
	})
}
