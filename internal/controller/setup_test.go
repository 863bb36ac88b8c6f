package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// However long a fault lasts, what failed is tried again soon after its end, and a success forgets the failures.
func TestFailuresAreRetriedWithinBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limiter := workers(Options{}).RateLimiter
		one := reconcile.Request{NamespacedName: types.NamespacedName{Name: "one"}}
		last := retryLeast
		for range rapid.IntRange(1, 200).Draw(t, "failures") {
			wait := limiter.When(one)
			if wait < last || wait > retryMost {
				t.Fatalf("it waits %s after %s", wait, last)
			}
			last = wait
		}
		if limiter.Forget(one); limiter.When(one) != retryLeast {
			t.Fatal("a success does not end the back-off")
		}
	})
}
