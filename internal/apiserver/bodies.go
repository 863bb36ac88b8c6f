package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/listen"
)

// bodyTimeout bounds how long a body is read.
const bodyTimeout = 5 * time.Second

// rightOf returns the right that an operation needs, by its path and its body. None means that the
// operation refuses the request by itself.
type rightOf func(ctx huma.Context, body []byte) (right auth.Right, needed bool)

// onDarkroom is the right of an operation on the Darkroom of its path.
func onDarkroom(verb string) rightOf {
	return func(ctx huma.Context, _ []byte) (auth.Right, bool) {
		return auth.ToDarkrooms(verb, ctx.Param("namespace"), ctx.Param("name")), true
	}
}

// inNamespace is the right to create something in the namespace of the body.
func inNamespace(group, resource string) rightOf {
	return func(_ huma.Context, body []byte) (auth.Right, bool) {
		in := struct {
			Namespace string `json:"namespace"`
		}{Namespace: defaultNamespace}
		if err := json.Unmarshal(body, &in); err != nil {
			return auth.Right{}, false
		}
		if in.Namespace == "" {
			in.Namespace = defaultNamespace
		}
		right := auth.Right{Verb: "create", Group: group, Resource: resource, Namespace: in.Namespace}
		return right, len(validation.IsDNS1123Label(in.Namespace)) == 0
	}
}

// admit lets a request with a body pass in this order: the body is read within a bound of bytes and seconds,
// then the caller must have the right, and only then the request takes places that all callers share. Who
// decides how long something takes thus holds nothing that others wait for. Places for bodies bound the memory
// for them; see limit.Shares for who gets how many.
func (s *Server) admit(of *body) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		_, w := humago.Unwrap(ctx)
		who := auth.CallerOf(ctx.Context()).Name()
		leave, err := s.limits.bodies.Enter(ctx.Context(), who)
		if err != nil {
			middleware.Refuse(ctx.Context(), w, err)
			return
		}
		defer leave()
		body, err := readBody(ctx, w, of.most)
		if err == nil {
			listen.Keep(ctx.Context())
		}
		if err == nil && of.right != nil {
			err = s.requireFor(ctx, body, of.right)
		}
		if err != nil {
			middleware.Refuse(ctx.Context(), w, err)
			return
		}
		places := []*limit.Shares{s.limits.requests, s.limits.writes}
		if of.right == nil {
			places = places[:1]
		}
		for _, places := range places {
			leave, err := places.Enter(ctx.Context(), who)
			if err != nil {
				middleware.Refuse(ctx.Context(), w, err)
				return
			}
			defer leave()
		}
		next(&withBody{ctx, body})
	}
}

// requireFor requires the right of an operation. Namespaces that are not served are refused later.
func (s *Server) requireFor(ctx huma.Context, body []byte, need rightOf) error {
	right, needed := need(ctx, body)
	if !needed || !s.serves(right.Namespace) {
		return nil
	}
	err := s.auth.Access.RequireNow(ctx.Context(), right)
	var refusal *problem.Details
	if right.Resource == "secrets" && errors.As(err, &refusal) && refusal.Status == http.StatusForbidden {
		return mayNotCreateSecrets(right.Namespace)
	}
	return err
}

// readBody reads a body of at most so many bytes.
func readBody(ctx huma.Context, w http.ResponseWriter, most int64) ([]byte, error) {
	control := http.NewResponseController(w)
	// If a connection has no deadlines of its own, as in tests, the server's read timeout applies.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	var tooLarge *http.MaxBytesError
	var network net.Error
	body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), most+1))
	switch {
	case int64(len(body)) > most || errors.As(err, &tooLarge):
		return nil, problem.New(http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body is too large: it may have %d KiB", most>>10))
	case errors.As(err, &network) && network.Timeout():
		return nil, problem.New(http.StatusRequestTimeout, "the body was not received in time; send it again").
			WithHeader("Connection", "close")
	case err != nil:
		// The client is gone.
		return nil, context.Canceled
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, checkBody(body)
}

// checkBody refuses a body that would be understood in part: Go's decoder replaces what is not UTF-8, and a password
// would be another one; and of a name that is given twice it reads one value.
func checkBody(body []byte) error {
	if !utf8.Valid(body) {
		return problem.New(http.StatusBadRequest, "the body is not UTF-8",
			problem.Field{Location: "body", Message: "must be JSON in UTF-8"})
	}
	return wire.CheckShape(body)
}

// request is huma's context of a request, under a name that differs from its method's.
type request = huma.Context

// withBody is a request whose body was read.
type withBody struct {
	request

	body []byte
}

// BodyReader implements huma.Context.
func (c *withBody) BodyReader() io.Reader { return bytes.NewReader(c.body) }

// SetReadDeadline implements huma.Context: nothing is read any more.
func (c *withBody) SetReadDeadline(time.Time) error { return nil }

// Unwrap is for humago.Unwrap.
func (c *withBody) Unwrap() huma.Context { return c.request }
