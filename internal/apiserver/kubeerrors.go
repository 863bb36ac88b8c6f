package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// fromKubernetes makes an error of the Kubernetes API a problem with the same status.
// redact takes out of messages what must not be repeated. What Kubernetes did not
// answer at all is 503; an error of our own stays as it is.
func fromKubernetes(err error, redact func(string) string) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		if isUnreachable(err) {
			return unavailable("the Kubernetes API does not answer: try again")
		}
		return err
	}
	answer := status.Status()
	detail := redact(answer.Message)
	switch code := int(answer.Code); {
	case apierrors.IsInvalid(err):
		return newProblem(http.StatusUnprocessableEntity, "the Darkroom is not valid: see errors", fieldProblems(answer.Details, redact)...)
	case code == http.StatusUnauthorized:
		return unauthorized("the cluster no longer accepts the token: sign in again")
	case code == http.StatusTooManyRequests:
		seconds, _ := apierrors.SuggestsClientDelay(err)
		return tooMany(detail, max(seconds, 1))
	case code >= http.StatusInternalServerError:
		return unavailable(detail)
	case code < http.StatusBadRequest:
		return err
	default:
		return newProblem(code, detail)
	}
}

func isUnreachable(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded)
}

// notChecked is what Kubernetes adds when some rules could not be tried because the
// object is wrong elsewhere. It says nothing that people can act on.
const notChecked = "some validation rules were not checked"

// fieldProblems makes one entry of each cause, with the path that the field has in
// the flat body.
func fieldProblems(details *metav1.StatusDetails, redact func(string) string) []FieldProblem {
	if details == nil {
		return nil
	}
	var out []FieldProblem
	for _, cause := range details.Causes {
		if strings.Contains(cause.Message, notChecked) && len(details.Causes) > 1 {
			continue
		}
		entry := FieldProblem{Location: bodyPath(cause), Message: redact(withoutValue(cause.Message))}
		// Several of Kubernetes' checks may say the same of one field.
		if entry.Location == "body" || !slices.ContainsFunc(out, func(f FieldProblem) bool { return f.Location == entry.Location }) {
			out = append(out, entry)
		}
	}
	return out
}

func bodyPath(cause metav1.StatusCause) string {
	path := strings.TrimPrefix(cause.Field, ".")
	switch {
	case path == "" || path == "<nil>":
		// Rules of the whole object name the field in their message.
		if strings.Contains(cause.Message, "metadata.name must") {
			return "body.name"
		}
		return "body"
	case path == "spec":
		return "body"
	}
	path = strings.TrimPrefix(path, "spec.")
	return "body." + strings.TrimPrefix(path, "metadata.")
}

// quotedValue is how Kubernetes repeats what was sent.
var quotedValue = regexp.MustCompile(`^(Invalid value|Unsupported value|Duplicate value): (?:"(?:[^"\\]|\\.)*"|[^:"]*): `)

// fieldInBody is how Kubernetes repeats the name of a field.
var fieldInBody = regexp.MustCompile(`^(Invalid value: )spec\S* in body `)

// withoutValue takes out of a message the value that was sent. Whoever sent it knows
// it, and it may be a secret.
func withoutValue(message string) string {
	message = quotedValue.ReplaceAllString(message, "$1: ")
	return fieldInBody.ReplaceAllString(message, "$1")
}

// fromTranslator makes what the operator would refuse a problem.
func fromTranslator(err error) error {
	var invalid *values.InvalidError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("render preview: %w", err)
	}
	var fields []FieldProblem
	for _, bad := range invalid.Fields {
		fields = append(fields, FieldProblem{
			Location: bodyPath(metav1.StatusCause{Field: bad.Field}),
			Message:  withoutValue(fieldMessage(bad)),
		})
	}
	return newProblem(http.StatusUnprocessableEntity, "the operator cannot install this Darkroom until it is changed: see errors", fields...)
}

func fieldMessage(bad *field.Error) string {
	return fmt.Sprintf("%s: %s", bad.Type, bad.Detail)
}

// asIs redacts nothing, for messages about things that hold no secret.
func asIs(message string) string { return message }
