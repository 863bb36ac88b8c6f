// Package limit enforces limits per caller: on the rate of requests (Rates) and on the number of concurrent requests
// (Shares). Callers lists the limits of the REST API. Both use bounded memory. The error of a caller that exceeds a
// limit is a problem with status 429.
package limit

import (
	"fmt"
	"math"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// exceeded returns the problem of a caller who may try again after wait.
func exceeded(wait time.Duration) error {
	seconds := max(int(math.Ceil(wait.Seconds())), 1)
	detail := fmt.Sprintf("rate limit exceeded; retry after %d seconds", seconds)
	if seconds == 1 {
		detail = "rate limit exceeded; retry after 1 second"
	}
	return problem.TooManyRequests(detail, seconds)
}
