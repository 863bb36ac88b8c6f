package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// A failure is retried soon after a fault ends, no matter how long the fault lasted. A success resets the back-off.
func TestFailuresAreRetriedWithinBounds(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		limiter := workers(Options{}).RateLimiter
		one := reconcile.Request{NamespacedName: types.NamespacedName{Name: "one"}}
		last := retryLeast
		for range rapid.IntRange(1, 200).Draw(t, "failures") {
			wait := limiter.When(one)
			if wait < last || wait > retryMost {
				t.Fatalf("got back-off %s after %s", wait, last)
			}
			last = wait
		}
		if limiter.Forget(one); limiter.When(one) != retryLeast {
			t.Fatal("a success did not reset the back-off")
		}
	})
}
