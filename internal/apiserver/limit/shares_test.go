package limit

import (
	"context"
	"errors"
	"testing"
	"time"
)

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
	shares := NewShares(3, 2, 0, 0)
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
	shares := NewShares(2, 1, 1, time.Hour)
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
	// Callers who wait for their own share do not keep others out.
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
