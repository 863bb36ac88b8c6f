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

// withAllErrors adds to the refusal of a Darkroom what else is wrong with its fields: an invalid body is not sent to
// Kubernetes, which itself skips rules because of other errors. Errors of a stored Darkroom, nil when creating, are
// older than a rule, and Kubernetes accepts them. Other errors are returned unchanged.
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

// withFields adds fields to a refusal, or makes one of them; nil if there are none.
func withFields(err error, detail string, bad ...problem.Field) error {
	var refusal *problem.Details
	if len(bad) == 0 {
		return err
	}
	if !errors.As(err, &refusal) {
		return problem.New(http.StatusUnprocessableEntity, detail, bad...)
	}
	// The decoder has already refused the field: it is empty.
	for _, field := range bad {
		if !slices.ContainsFunc(refusal.Errors, func(k problem.Field) bool { return k.Location == field.Location }) {
			refusal.Errors = append(refusal.Errors, field)
		}
	}
	refusal.Detail = "the body is invalid; see errors"
	return refusal
}

// covers reports whether a location is another one, or within it.
func covers(location, other string) bool {
	rest, isWithin := strings.CutPrefix(other, location)
	return isWithin && (rest == "" || location != "body" && (rest[0] == '.' || rest[0] == '['))
}
