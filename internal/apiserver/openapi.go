package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// huma has global settings only.
func init() {
	huma.NewErrorWithContext = fromHuma
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(nil, status, message, errs...)
	}
}

// fromHuma converts errors of huma, such as invalid parameters, to problems. It omits the values, which may be secrets.
// Internal errors are only logged.
func fromHuma(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	if status >= http.StatusInternalServerError {
		if ctx != nil {
			middleware.SetError(ctx.Context(), errors.Join(errs...))
		}
		return problem.Internal(status)
	}
	return wire.BadInput(status, message, errs...)
}

const description = `Creates, reads, updates, deletes and watches Darkrooms.

Callers are known by a bearer token that the cluster accepts, in the header
Authorization or in the cookie that POST /session sets. Each may do what Kubernetes
lets them do. Errors are problems after RFC 9457. Credentials and the literal values
of extraEnv are write-only: they are never shown, and stay as they are when a PUT or
PATCH leaves them out.`

func newAPI(mux *http.ServeMux, version string) huma.API {
	config := huma.DefaultConfig("Darkrooms", version)
	config.Info.Description = description
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	// The default hooks add a field $schema and a header Link to responses.
	config.CreateHooks = nil
	config.RejectUnknownQueryParameters = true
	config.Formats = map[string]huma.Format{reply.TypeJSON: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "A token that the cluster accepts"},
		"cookie": {
			Type: "apiKey", In: "cookie", Name: oidc.SessionCookie,
			Description: "Set by POST /session and by the sign-in at an OIDC issuer",
		},
	}
	config.Security = []map[string][]string{{"token": {}}, {"cookie": {}}}
	config.Components.Schemas = wire.NewRegistry()
	return humago.New(mux, config)
}

// Document returns the OpenAPI document that servers of a version serve at /openapi.json.
func Document(version string) ([]byte, error) {
	api := newAPI(http.NewServeMux(), version)
	server := &Server{}
	for _, r := range server.routes() {
		server.register(api, &r)
	}
	if err := wire.Describe(api.OpenAPI().Components.Schemas); err != nil {
		return nil, err
	}
	document, err := json.MarshalIndent(api.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode OpenAPI document: %w", err)
	}
	return document, nil
}

// serveDocument serves the OpenAPI document. It is created at the first request, because few servers receive one.
func serveDocument(version string) http.Handler {
	document := sync.OnceValues(func() ([]byte, error) { return Document(version) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := document()
		if err != nil {
			middleware.SetError(r.Context(), err)
			problem.Write(w, problem.Internal(http.StatusInternalServerError))
			return
		}
		sends("application/vnd.oai.openapi+json", body).ServeHTTP(w, r)
	})
}
