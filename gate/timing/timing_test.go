package timing

import (
	"context"
	"testing"
	"time"
)

func TestPartsAreAddedUpInTheirOrder(t *testing.T) {
	ctx, record := With(context.Background())
	Add(ctx, "fetch", 1500*time.Microsecond)
	Add(ctx, "queue", 0)
	Add(context.WithoutCancel(ctx), "fetch", time.Millisecond)
	Add(context.Background(), "transform", time.Second) // without a record
	if got, want := record.Header("miss"), "cache;desc=miss, fetch;dur=2.5, queue;dur=0.0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
