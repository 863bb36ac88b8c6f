package middleware

import (
	"context"
	"errors"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Refuse responds with a problem, outside of huma. Unexpected errors are only logged.
func Refuse(ctx context.Context, w http.ResponseWriter, err error) {
	var refusal *problem.Details
	switch {
	case errors.As(err, &refusal):
	case errors.Is(err, context.Canceled):
		// The client is gone.
		refusal = problem.Unavailable("the request was canceled")
	default:
		SetError(ctx, err)
		refusal = problem.Internal(http.StatusInternalServerError)
	}
	problem.Write(w, refusal)
}
