package middleware

import (
	"context"
	"errors"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Refuse responds with the problem of a request that failed. It is for handlers outside huma. The
// text of an unexpected error is only logged.
func Refuse(ctx context.Context, w http.ResponseWriter, err error) {
	var refusal *problem.Details
	switch {
	case errors.As(err, &refusal):
	case errors.Is(err, context.Canceled):
		// The client is gone and does not read the response.
		refusal = problem.Unavailable("the request was canceled")
	default:
		SetError(ctx, err)
		refusal = problem.Internal(http.StatusInternalServerError)
	}
	problem.Write(w, refusal)
}
