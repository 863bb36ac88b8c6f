package apiserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// Problem is an error response (RFC 9457).
type Problem struct {
	Title  string         `json:"title" doc:"Text of the HTTP status"`
	Status int            `json:"status" doc:"The HTTP status"`
	Detail string         `json:"detail" doc:"Cause and remedy"`
	Errors []FieldProblem `json:"errors,omitempty" doc:"Invalid fields"`

	header http.Header
}

// FieldProblem is the error of one field.
type FieldProblem struct {
	Location string `json:"location,omitempty" doc:"Path of the field, for example body.source.baseUrl or query.limit"`
	Message  string `json:"message" doc:"Cause and remedy"`
}

const problemType = "application/problem+json"

// newProblem returns a problem with a status and a sentence on this case of it.
func newProblem(status int, detail string, fields ...FieldProblem) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Detail: detail, Errors: fields}
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return problemType }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.header }

func (p *Problem) with(header, value string) *Problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(header, value)
	return p
}

// write answers a request outside huma with a problem.
func (p *Problem) write(w http.ResponseWriter) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.Header().Del("Content-Length")
	w.WriteHeader(p.Status)
	// The status is sent. An error means that the client is gone.
	_ = json.NewEncoder(w).Encode(p)
}

// unauthorized is the problem of a request without a good token.
func unauthorized(detail string) *Problem {
	return newProblem(http.StatusUnauthorized, detail).with("WWW-Authenticate", `Bearer realm="darkrooms"`)
}

// tooMany is the problem of a caller over a limit. The time is in seconds.
func tooMany(detail string, retryAfter int) *Problem {
	return newProblem(http.StatusTooManyRequests, detail).with("Retry-After", strconv.Itoa(retryAfter))
}

// unavailable is the problem of a cluster that does not answer.
func unavailable(detail string) *Problem {
	return newProblem(http.StatusServiceUnavailable, detail).with("Retry-After", "5")
}

// ownFault is all that callers are told of errors that are not theirs.
const ownFault = "internal error; see the log of the server"

// fromHuma makes huma's own errors, those of parameters, problems. What was sent is
// not repeated: it may be a secret. Errors that are ours are kept for the log.
func fromHuma(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	if status >= http.StatusInternalServerError {
		if ctx != nil {
			noteError(ctx.Context(), errors.Join(errs...))
		}
		return newProblem(status, ownFault)
	}
	return badInput(status, message, errs...)
}

// badInput is the problem of fields that huma refuses.
func badInput(status int, message string, errs ...error) *Problem {
	problem := newProblem(status, message)
	for _, err := range errs {
		var detailer huma.ErrorDetailer
		if errors.As(err, &detailer) {
			detail := detailer.ErrorDetail()
			problem.Errors = append(problem.Errors, FieldProblem{Location: detail.Location, Message: inOurWords(detail.Message)})
		}
	}
	return problem
}

// inOurWords rewords a message of huma about a wrong type or an unknown field like the
// other messages of the API.
func inOurWords(message string) string {
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
