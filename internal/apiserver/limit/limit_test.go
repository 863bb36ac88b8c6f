package limit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// newTestRates returns Rates with a clock that stands still until the test advances it.
func newTestRates(perSecond float64, burst int) (rates *Rates, pass func(time.Duration)) {
	now := time.Unix(0, 0)
	rates = NewRates(perSecond, burst)
	rates.now = func() time.Time { return now }
	return rates, func(d time.Duration) { now = now.Add(d) }
}

func wantExceeded(t *testing.T, err error, seconds int) {
	t.Helper()
	var refusal *problem.Details
	if !errors.As(err, &refusal) || refusal.GetHeaders().Get("Retry-After") != strconv.Itoa(seconds) {
		t.Fatalf("error is %v, want a limit that ends in %d s", err, seconds)
	}
}

func take(t *testing.T, rates *Rates, who string, n int) {
	t.Helper()
	for range n {
		if err := rates.Take(who); err != nil {
			t.Fatalf("%s: %v", who, err)
		}
	}
}

func TestBurstThenRate(t *testing.T) {
	rates, pass := newTestRates(0.5, 3)
	take(t, rates, "a", 3)
	wantExceeded(t, rates.Take("a"), 2)
	take(t, rates, "b", 3)
	pass(2 * time.Second)
	take(t, rates, "a", 1)
	wantExceeded(t, rates.Take("a"), 2)
	pass(time.Hour)
	take(t, rates, "a", 3)
	wantExceeded(t, rates.Take("a"), 2)
}

func TestACallerThatStopsWaitingTakesNothing(t *testing.T) {
	rates, pass := newTestRates(0.001, 1)
	take(t, rates, "a", 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rates.Wait(ctx, "a", time.Hour); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	pass(1000 * time.Second)
	take(t, rates, "a", 1)
}

func TestRatesTrackABoundedNumberOfCallers(t *testing.T) {
	rates, _ := newTestRates(1, 1)
	for i := range 3 * maxCallers {
		take(t, rates, fmt.Sprint(i), 1)
	}
	if got := rates.callers.Len(); got > maxCallers {
		t.Errorf("%d callers are tracked", got)
	}
}

func enterAs(t *testing.T, shares *Shares, who string) (leave func()) {
	t.Helper()
	leave, err := shares.Enter(t.Context(), who)
	if err != nil {
		t.Fatalf("%s: %v", who, err)
	}
	return leave
}

func refuse(t *testing.T, shares *Shares, who string) {
	t.Helper()
	if leave, err := shares.Enter(t.Context(), who); err == nil {
		leave()
		t.Fatalf("%s gets a place", who)
	} else {
		wantExceeded(t, err, 1)
	}
}

func TestEachHasAShare(t *testing.T) {
	shares := NewShares(Places{All: 3, Each: 2})
	leave := enterAs(t, shares, "greedy")
	enterAs(t, shares, "greedy")
	refuse(t, shares, "greedy")
	other := enterAs(t, shares, "modest")
	refuse(t, shares, "third")
	other()
	other() // once is enough
	enterAs(t, shares, "third")
	leave()
	enterAs(t, shares, "modest")
	refuse(t, shares, "greedy")
}

func TestQueuesAreBounded(t *testing.T) {
	shares := NewShares(Places{All: 2, Each: 1, Queue: 1, Wait: time.Hour})
	leave := enterAs(t, shares, "greedy")
	ctx, giveUp := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() {
		_, err := shares.Enter(ctx, "greedy")
		waited <- err
	}()
	for inside := 0; inside != 2; {
		shares.mu.Lock()
		inside = shares.callers["greedy"].inside
		shares.mu.Unlock()
	}
	refuse(t, shares, "greedy")
	// Callers who wait for their own share do not block others.
	enterAs(t, shares, "modest")()
	giveUp()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	leave()
	if len(shares.callers) != 0 || !shares.places.TryAcquire(2) {
		t.Errorf("something is left: %v", shares.callers)
	}
}

func TestServiceAccountsOfANamespaceShare(t *testing.T) {
	shares := NewShares(Places{All: 8, Each: 2, PerNamespace: 3})
	account := func(namespace string, i int) string {
		return fmt.Sprintf("system:serviceaccount:%s:account-%d", namespace, i)
	}
	for i := range 3 {
		enterAs(t, shares, account("a", i))
	}
	refuse(t, shares, account("a", 3))
	for i := range 3 {
		enterAs(t, shares, account("b", i))
	}
	enterAs(t, shares, "a person")
	enterAs(t, shares, "a person")
	refuse(t, shares, "a person")
	refuse(t, shares, "another")
}
