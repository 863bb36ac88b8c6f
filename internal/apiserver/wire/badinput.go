package wire

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// BadInput returns the problem for fields that huma rejects.
func BadInput(status int, message string, errs ...error) *problem.Details {
	out := problem.New(status, message)
	for _, err := range errs {
		var detailer huma.ErrorDetailer
		if errors.As(err, &detailer) {
			detail := detailer.ErrorDetail()
			field := problem.Field{Location: detail.Location, Message: inOurWords(detail.Message)}
			if missing := required.FindStringSubmatch(detail.Message); missing != nil {
				field = problem.Field{Location: detail.Location + "." + missing[1], Message: "required"}
			}
			out.Errors = append(out.Errors, field)
		}
	}
	return out
}

// required matches huma's message about a missing field. Its location is the object that lacks the field.
var required = regexp.MustCompile(`^expected required property (\S+) to be present$`)

// notJSON are prefixes of messages of Go's decoder about invalid JSON.
var notJSON = []string{"invalid character", "unexpected end of JSON", "unexpected EOF", "EOF"}

// ourWords replaces huma's messages about wrong types and unknown fields.
var ourWords = map[string]string{
	validation.MsgExpectedArray:      "must be a list",
	validation.MsgExpectedObject:     "must be an object",
	validation.MsgExpectedString:     "must be a string",
	validation.MsgExpectedInteger:    "must be an integer",
	validation.MsgExpectedNumber:     "must be a number",
	validation.MsgExpectedBoolean:    "must be true or false",
	validation.MsgUnexpectedProperty: "unknown field",
	// Only quantities have several types.
	validation.MsgExpectedMatchExactlyOneSchema: "must be a quantity such as 500m, 2 or 256Mi",
}

// inOurWords rephrases a message of huma or of Go's decoder in the style of the API.
func inOurWords(message string) string {
	isOne := func(prefix string) bool { return strings.HasPrefix(message, prefix) }
	switch {
	case slices.ContainsFunc(notJSON, isOne):
		return "must be valid JSON"
	case isOne("json: "):
		return "a value has the wrong type or is out of range"
	}
	return cmp.Or(ourWords[message], message)
}
