package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// FromKubernetes converts an error of the Kubernetes API to a problem with the same status.
// redact removes secrets from messages. A request without a response becomes a 503; errors
// of this server are returned unchanged.
func FromKubernetes(err error, redact func(string) string) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		if IsUnreachable(err) {
			return problem.Unavailable("the Kubernetes API is unavailable; try again later")
		}
		return err
	}
	answer := status.Status()
	detail := redact(answer.Message)
	switch code := int(answer.Code); {
	case apierrors.IsInvalid(err):
		return problem.New(http.StatusUnprocessableEntity, "the Darkroom is invalid; see errors",
			fieldProblems(answer.Details, redact)...)
	case code == http.StatusUnauthorized:
		return problem.Unauthorized("the token is no longer valid: sign in again")
	case code == http.StatusTooManyRequests:
		seconds, _ := apierrors.SuggestsClientDelay(err)
		return problem.TooManyRequests(detail, max(seconds, 1))
	case code >= http.StatusInternalServerError:
		return problem.Unavailable(detail)
	case code < http.StatusBadRequest:
		return err
	default:
		return problem.New(code, detail)
	}
}

// IsUnreachable reports whether an error means that there was no response.
func IsUnreachable(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded)
}

// notChecked is the message of Kubernetes about rules that were skipped because of other errors. Users cannot act on
// it.
const notChecked = "some validation rules were not checked"

// fieldProblems returns an entry for each cause, with the path of the field in the flat body.
func fieldProblems(details *metav1.StatusDetails, redact func(string) string) []problem.Field {
	if details == nil {
		return nil
	}
	var out []problem.Field
	for _, cause := range details.Causes {
		if strings.Contains(cause.Message, notChecked) && len(details.Causes) > 1 {
			continue
		}
		entry := problem.Field{Location: bodyPath(cause), Message: redact(withoutValue(cause.Message))}
		// Kubernetes may report the same error twice.
		if entry.Location == "body" || !slices.ContainsFunc(out,
			func(f problem.Field) bool { return f.Location == entry.Location }) {
			out = append(out, entry)
		}
	}
	return out
}

func bodyPath(cause metav1.StatusCause) string {
	path := strings.TrimPrefix(cause.Field, ".")
	switch {
	case path == "" || path == "<nil>":
		// Errors of rules for the whole object contain the field in the message.
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

// withValues are the kinds of errors whose messages contain the rejected value.
var withValues = []field.ErrorType{field.ErrorTypeInvalid, field.ErrorTypeNotSupported, field.ErrorTypeDuplicate}

// fieldInBody matches a field at the beginning of a message.
var fieldInBody = regexp.MustCompile(`^spec\S* in body `)

// emptyValues replaces the messages of Kubernetes about empty values.
var emptyValues = map[string]string{
	"should be at least 1 chars long": "must not be empty",
	"should have at least 1 items":    "must have at least one item",
}

// withoutValue removes the rejected value from a message, because it may be a secret. Kubernetes writes texts in quotes
// and other values in JSON, and omits whole objects.
func withoutValue(message string) string {
	for _, kind := range withValues {
		rest, found := strings.CutPrefix(message, kind.String()+": ")
		if !found {
			continue
		}
		if detail, found := strings.CutPrefix(rest[valueLength(rest):], ": "); found {
			rest = detail
		}
		rest = fieldInBody.ReplaceAllString(rest, "")
		return kind.String() + ": " + cmp.Or(emptyValues[rest], rest)
	}
	return message
}

// valueLength returns the length of the value at the beginning of a text, or 0.
func valueLength(text string) int {
	if quoted, err := strconv.QuotedPrefix(text); err == nil && quoted[0] == '"' {
		return len(quoted)
	}
	var value json.RawMessage
	in := json.NewDecoder(strings.NewReader(text))
	if in.Decode(&value) != nil {
		return 0
	}
	return int(in.InputOffset())
}

// FromTranslator converts errors of the translator to a problem.
func FromTranslator(err error) error {
	var invalid *values.InvalidError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("render preview: %w", err)
	}
	var fields []problem.Field
	for _, bad := range invalid.Fields {
		fields = append(fields, problem.Field{
			Location: bodyPath(metav1.StatusCause{Field: bad.Field}),
			Message:  fieldMessage(bad),
		})
	}
	return problem.New(http.StatusUnprocessableEntity, "the operator cannot install the Darkroom; see errors", fields...)
}

func fieldMessage(bad *field.Error) string {
	return fmt.Sprintf("%s: %s", bad.Type, bad.Detail)
}

// AsIs redacts nothing, for objects without secrets.
func AsIs(message string) string { return message }
