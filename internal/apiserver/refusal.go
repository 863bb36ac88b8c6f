package apiserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// withAllErrors adds the remaining errors of a Darkroom to a refusal of Kubernetes, which skips rules after other
// errors. It omits errors that the stored Darkroom, before, also has, because Kubernetes accepts them; before is nil
// when creating. Other kinds of errors are returned unchanged.
func (s *Server) withAllErrors(ctx context.Context, err error, wanted, before *v1alpha1.Darkroom) error {
	var refusal, more, older *problem.Details
	if !errors.As(err, &refusal) || refusal.Status != http.StatusUnprocessableEntity || len(refusal.Errors) == 0 ||
		!errors.As(s.check(ctx, wanted), &more) {
		return err
	}
	if before == nil || !errors.As(s.check(ctx, before), &older) {
		older = &problem.Details{}
	}
	known := refusal.Errors
	for _, field := range more.Errors {
		isKnown := func(k problem.Field) bool { return covers(k.Location, field.Location) }
		if !slices.ContainsFunc(known, isKnown) && !slices.Contains(older.Errors, field) {
			refusal.Errors = append(refusal.Errors, field)
		}
	}
	if len(refusal.Errors) > len(known) {
		refusal.Detail = more.Detail
	}
	return refusal
}

// covers reports whether other equals the location or is within it.
func covers(location, other string) bool {
	rest, isWithin := strings.CutPrefix(other, location)
	return isWithin && (rest == "" || location != "body" && (rest[0] == '.' || rest[0] == '['))
}
