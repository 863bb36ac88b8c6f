package wire

import (
	"errors"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// BadInput is the problem of fields that huma refuses.
func BadInput(status int, message string, errs ...error) *problem.Details {
	out := problem.New(status, message)
	for _, err := range errs {
		var detailer huma.ErrorDetailer
		if errors.As(err, &detailer) {
			detail := detailer.ErrorDetail()
			out.Errors = append(out.Errors, problem.Field{Location: detail.Location, Message: inOurWords(detail.Message)})
		}
	}
	return out
}

// notJSON are the beginnings of messages of Go's decoder about a body that is not JSON.
var notJSON = []string{"invalid character", "unexpected end of JSON", "unexpected EOF", "EOF"}

// inOurWords rewords a message of huma, or of Go's decoder, about a wrong type or an unknown
// field like the other messages of the API.
func inOurWords(message string) string {
	isOne := func(prefix string) bool { return strings.HasPrefix(message, prefix) }
	switch {
	case slices.ContainsFunc(notJSON, isOne):
		return "must be valid JSON"
	case isOne("json: "):
		return "a value has the wrong type or is out of range"
	}
	switch message {
	case validation.MsgExpectedArray:
		return "must be a list"
	case validation.MsgExpectedObject:
		return "must be an object"
	case validation.MsgExpectedString:
		return "must be a string"
	case validation.MsgExpectedInteger:
		return "must be an integer"
	case validation.MsgExpectedNumber:
		return "must be a number"
	case validation.MsgExpectedBoolean:
		return "must be true or false"
	case validation.MsgUnexpectedProperty:
		return "unknown field"
	}
	return message
}
