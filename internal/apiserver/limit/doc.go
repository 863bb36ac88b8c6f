// Package limit enforces limits per caller: on the rate of requests (Rates) and on the
// number of concurrent ones (Shares). Both use bounded memory and are independent of HTTP.
package limit

import (
	"fmt"
	"math"
	"time"
)

// Exceeded is the error of a caller over a limit.
type Exceeded struct {
	// RetryAfter is how long to wait before the next attempt.
	RetryAfter time.Duration
}

// Seconds returns RetryAfter in whole seconds, at least one.
func (e *Exceeded) Seconds() int {
	return max(int(math.Ceil(e.RetryAfter.Seconds())), 1)
}

// Error implements error.
func (e *Exceeded) Error() string {
	if n := e.Seconds(); n != 1 {
		return fmt.Sprintf("rate limit exceeded; retry after %d seconds", n)
	}
	return "rate limit exceeded; retry after 1 second"
}
