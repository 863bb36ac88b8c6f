package apiserver

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// Patterns of routes that are counted or logged otherwise than the rest.
const (
	streamRoute = "GET " + streamPath
	readyRoute  = "GET /readyz"
)

// Global settings of huma, for all servers.
func init() {
	huma.NewErrorWithContext = fromHuma
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(nil, status, message, errs...)
	}
}

// fromHuma converts errors of huma itself, such as invalid parameters, to problems. Values
// are not repeated, because they may be secrets. Internal errors are only logged.
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

// newAPI returns huma's API on a mux.
func newAPI(mux *http.ServeMux, version string) huma.API {
	config := huma.DefaultConfig("Darkrooms", version)
	config.Info.Description = description
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	// Without the hooks answers have no $schema and no Link.
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

// Errors of all routes, of those that name a Darkroom, and of writes. They are clipped, because huma appends to them.
var (
	always = []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusServiceUnavailable,
	}
	reading  = slices.Clip(append([]int{http.StatusNotFound}, always...))
	ofWrites = slices.Clip(append([]int{
		http.StatusNotFound, http.StatusConflict,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	}, always...))
	ofUpdate = slices.Clip(append([]int{http.StatusPreconditionFailed, http.StatusPreconditionRequired}, ofWrites...))
)

const (
	onePath     = "/darkrooms/{namespace}/{name}"
	sessionPath = "/session"
	streamPath  = "/events/stream"
)

// maxBody is the largest body of a request, in bytes: as much as Kubernetes stores.
const maxBody = 1 << 20

// maxToken is the largest body with a token, in bytes. It is small because the caller,
// whose share it would count towards, is not known before it is read.
const maxToken = 16 << 10

// registerWrite registers an operation that reads its body by itself, of one media
// type, and documents the body.
func registerWrite[I, O any](
	api huma.API, op huma.Operation, mediaType string, body *huma.Schema, handler func(context.Context, *I) (*O, error),
) {
	op.SkipValidateBody = true
	op.RequestBody = &huma.RequestBody{Required: true}
	huma.Register(api, op, handler)
	op.RequestBody.Content = map[string]*huma.MediaType{mediaType: {Schema: body}}
}

// admitted completes an operation whose body is read before anything that callers share is taken.
func (s *Server) admitted(op huma.Operation, mediaType string, most int64, need rightOf) huma.Operation {
	op.Metadata = map[string]any{admitting: true}
	// One more, because huma refuses a body that has as many.
	op.MaxBodyBytes = most + 1
	op.Middlewares = huma.Middlewares{middleware.RequireMediaType(mediaType), s.admit(most, need)}
	return op
}

// register adds all operations to the API.
func (s *Server) register(api huma.API) {
	api.UseMiddleware(wholeQuery, wholeIfMatch, s.authenticate)
	s.decoder = wire.NewDecoder()
	darkroom := wire.InputOf(api.OpenAPI().Components.Schemas)

	huma.Register(api, huma.Operation{
		OperationID: "listDarkrooms", Method: http.MethodGet, Path: "/darkrooms", Tags: []string{"Darkrooms"},
		Summary: "List the Darkrooms that you may list", Errors: reading,
	}, s.list)
	registerWrite(api, s.admitted(huma.Operation{
		OperationID: "createDarkroom", Method: http.MethodPost, Path: "/darkrooms", Tags: []string{"Darkrooms"},
		Summary: "Create a Darkroom", DefaultStatus: http.StatusCreated, Errors: ofWrites,
	}, reply.TypeJSON, maxBody, inNamespace(v1alpha1.GroupVersion.Group, plural)), reply.TypeJSON, darkroom, s.create)
	huma.Register(api, huma.Operation{
		OperationID: "getDarkroom", Method: http.MethodGet, Path: onePath, Tags: []string{"Darkrooms"},
		Summary: "Get a Darkroom", Errors: append([]int{http.StatusNotModified}, reading...),
	}, s.get)
	registerWrite(api, s.admitted(huma.Operation{
		OperationID: "replaceDarkroom", Method: http.MethodPut, Path: onePath, Tags: []string{"Darkrooms"},
		Summary: "Replace a Darkroom", Errors: ofUpdate,
	}, reply.TypeJSON, maxBody, onDarkroom("update")), reply.TypeJSON, darkroom, s.replace)
	registerWrite(api, s.admitted(huma.Operation{
		OperationID: "patchDarkroom", Method: http.MethodPatch, Path: onePath, Tags: []string{"Darkrooms"},
		Summary: "Change some fields of a Darkroom, by JSON merge patch", Errors: ofUpdate,
	}, reply.TypeMergePatch, maxBody, onDarkroom("update")), reply.TypeMergePatch, &huma.Schema{Ref: wire.PatchRef}, s.patch)
	huma.Register(api, huma.Operation{
		OperationID: "deleteDarkroom", Method: http.MethodDelete, Path: onePath, Tags: []string{"Darkrooms"},
		Summary: "Delete a Darkroom and all its objects", Errors: append([]int{http.StatusPreconditionFailed}, reading...),
		Description: "204: deleted. 202: the operator uninstalls the release first.",
		Responses:   map[string]*huma.Response{"202": {Description: "The operator uninstalls it"}},
	}, s.remove)
	s.registerRelated(api)
	s.registerExplain(api)
	s.registerSecrets(api)
	s.registerSession(api)
	requireIfMatch(api.OpenAPI())
}

// requireIfMatch documents the header as required where a request without it is answered with 428, in place of the
// 422 of parameters that huma requires.
func requireIfMatch(document *huma.OpenAPI) {
	for _, item := range document.Paths {
		for _, operation := range []*huma.Operation{item.Put, item.Patch, item.Post} {
			if operation == nil || !slices.Contains(operation.Errors, http.StatusPreconditionRequired) {
				continue
			}
			for _, parameter := range operation.Parameters {
				parameter.Required = parameter.Required || parameter.Name == "If-Match"
			}
		}
	}
}

func (s *Server) registerRelated(api huma.API) {
	tags := []string{"Pods, events, manifests and images"}
	huma.Register(api, huma.Operation{
		OperationID: "listPods", Method: http.MethodGet, Path: onePath + "/pods",
		Tags: tags, Summary: "List the pods of a Darkroom", Errors: reading,
	}, s.pods)
	huma.Register(api, huma.Operation{
		OperationID: "listPodEvents", Method: http.MethodGet, Path: onePath + "/pods/{pod}/events",
		Tags: tags, Summary: "List the events of a pod", Errors: reading,
	}, s.podEvents)
	huma.Register(api, huma.Operation{
		OperationID: "getFigures", Method: http.MethodGet, Path: onePath + "/figures",
		Tags: tags, Summary: "Get what the gates of a Darkroom count", Errors: reading,
		Description: "Requires permission to list pods and to get pods/proxy in the namespace. Counters begin with each pod.",
	}, s.figures)
	huma.Register(api, huma.Operation{
		OperationID: "getLog", Method: http.MethodGet, Path: onePath + "/pods/{pod}/log",
		Tags: tags, Summary: "Get or follow the log of a pod", Errors: reading, Metadata: map[string]any{streaming: true},
		Description: "Requires permission to get pods/log in the namespace. A log that is followed ends after 15 minutes or 8 MiB.",
		Responses:   content("text/plain", "The last lines of the log"),
	}, s.podLog)
	huma.Register(api, huma.Operation{
		OperationID: "listEvents", Method: http.MethodGet, Path: onePath + "/events",
		Tags: tags, Summary: "List the events of a Darkroom", Errors: reading,
	}, s.events)
	huma.Register(api, huma.Operation{
		OperationID: "listRevisions", Method: http.MethodGet, Path: onePath + "/revisions",
		Tags: tags, Summary: "List the revisions of a Darkroom", Errors: reading,
		Description: "Requires permission to list controllerrevisions in the namespace, where the operator records them.",
	}, s.revisions)
	huma.Register(api, s.admitted(huma.Operation{
		OperationID: "rollBackDarkroom", Method: http.MethodPost, Path: onePath + "/rollback", Tags: []string{"Darkrooms"},
		Summary: "Replace the settings of a Darkroom by those of an earlier revision", Errors: ofUpdate,
		Description: "Requires permission to get controllerrevisions in the namespace. Inline keys and literal values of " +
			"variables stay as they are now.",
	}, reply.TypeJSON, maxToken, onDarkroom("update")), s.rollBack)
	huma.Register(api, huma.Operation{
		OperationID: "getManifest", Method: http.MethodGet, Path: onePath + "/manifest",
		Tags: tags, Summary: "Get the manifest of a Darkroom, without secrets", Errors: reading,
		Responses: content("application/yaml", "Kubernetes manifests; "+wire.Redacted+" stands for secrets"),
	}, s.manifest)
	registerWrite(api, s.admitted(huma.Operation{
		OperationID: "reviewDarkroom", Method: http.MethodPost, Path: onePath + "/review",
		Tags: tags, Summary: "Review a change of a Darkroom: manifests, hosts, Secrets and pods", Errors: ofWrites,
		Description: "Stores nothing. Fields that a PUT would keep of an existing Darkroom are kept here too. Secrets are " +
			"looked for with your own token; what you may not read is unknown.",
	}, reply.TypeJSON, maxBody, onDarkroom("get")), reply.TypeJSON, wire.InputOf(api.OpenAPI().Components.Schemas), s.review)
	huma.Register(api, huma.Operation{
		OperationID: "getImage", Method: http.MethodGet, Path: onePath + "/image",
		Tags: tags, Summary: "Fetch an image from the running Darkroom", Errors: append([]int{http.StatusBadGateway}, reading...),
		Description: "Requires permission to get services/proxy in the namespace.",
		Responses:   content("image/*", "The image"),
	}, s.image)
	huma.Register(api, huma.Operation{
		OperationID: "signURL", Method: http.MethodGet, Path: onePath + "/signed-url",
		Tags: tags, Summary: "Sign the URL of an image", Errors: reading,
		Description: "Requires permission to get the Secret of gate.signing. Without gate.signing the URL has no signature.",
	}, s.signURL)
	huma.Register(api, huma.Operation{
		OperationID: "streamEvents", Method: http.MethodGet, Path: streamPath, Tags: []string{"Live events"},
		Summary: "Watch Darkrooms", Errors: reading, Metadata: map[string]any{streaming: true},
		Description: "Server-sent events. added, modified and deleted carry a Darkroom. reset: forget what you have, " +
			"all of it follows. synced: you have everything. After a break the stream begins again.",
		Responses: content("text/event-stream", "Server-sent events"),
	}, s.stream)
}

func (s *Server) registerExplain(api huma.API) {
	huma.Register(api, s.admitted(huma.Operation{
		OperationID: "explainURL", Method: http.MethodPost, Path: "/explain",
		Tags:    []string{"Pods, events, manifests and images"},
		Summary: "Explain how the URL of an image is served",
		Errors:  append([]int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, always...),
		Description: "Names the Darkroom that has the host, each hop to the source, the one to blame, and what helps. " +
			"Only Darkrooms that you may get are considered. The image is requested from the Service of the Darkroom, never " +
			"from the host of the URL, which requires permission to get services/proxy; what else you may not read is unknown.",
	}, reply.TypeJSON, maxToken, nil), s.explain)
}

func (s *Server) registerSecrets(api huma.API) {
	huma.Register(api, s.admitted(huma.Operation{
		OperationID: "createSecret", Method: http.MethodPost, Path: "/secrets", Tags: []string{"Secrets"},
		Summary: "Store the credentials of a source in a new Secret", DefaultStatus: http.StatusCreated, Errors: ofWrites,
		Description: "Requires permission to create secrets in the namespace. An existing Secret is not overwritten.",
	}, reply.TypeJSON, maxNewSecret, inNamespace("", "secrets")), s.createSecret)
}

func (s *Server) registerSession(api huma.API) {
	anyone, noCache := map[string]any{public: true}, map[string]any{cacheless: true}
	none, ofQueries := []map[string][]string{}, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}
	huma.Register(api, huma.Operation{
		OperationID: "whoAmI", Method: http.MethodGet, Path: sessionPath, Tags: []string{"Session"},
		Summary: "Get the current user", Errors: always, Metadata: noCache,
	}, s.whoAmI)
	huma.Register(api, huma.Operation{
		OperationID: "getAccess", Method: http.MethodGet, Path: "/access", Tags: []string{"Session"},
		Summary: "Get your permissions in a namespace", Errors: always, Metadata: noCache,
	}, s.access)
	huma.Register(api, huma.Operation{
		OperationID: "myNamespaces", Method: http.MethodGet, Path: "/access/namespaces", Tags: []string{"Session"},
		Summary: "Get the namespaces in which you may create and update Darkrooms", Errors: always,
		Description: "Of the namespaces whose Darkrooms you may watch, those that the server serves, default, and that " +
			"of your ServiceAccount.",
	}, s.myNamespaces)
	huma.Register(api, huma.Operation{
		OperationID: "getSettings", Method: http.MethodGet, Path: "/settings", Tags: []string{"Session"},
		Summary: "Get the settings of the server", Errors: always, Metadata: noCache,
	}, s.settings)
	registerWrite(api, huma.Operation{
		OperationID: "signIn", Method: http.MethodPost, Path: sessionPath, Tags: []string{"Session"},
		Summary: "Sign in: store a token in a cookie", Metadata: anyone, Security: none,
		Errors: ofWrites, MaxBodyBytes: maxToken, Middlewares: huma.Middlewares{middleware.RequireMediaType(reply.TypeJSON)},
	}, reply.TypeJSON, api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[SignIn](), true, ""), s.signIn)
	huma.Register(api, huma.Operation{
		OperationID: "signOut", Method: http.MethodDelete, Path: sessionPath, Tags: []string{"Session"},
		Summary:  "Sign out: delete the cookie, and end the session if it is one of an OIDC issuer",
		Metadata: anyone, Security: none, Errors: ofQueries,
	}, s.signOut)
	huma.Register(api, huma.Operation{
		OperationID: "getSignIn", Method: http.MethodGet, Path: "/sign-in", Tags: []string{"Session"},
		Summary: "Get the ways to sign in", Metadata: anyone, Security: none, Errors: ofQueries,
	}, s.waysToSignIn)
}

// content documents a response that is not JSON.
func content(mediaType, text string) map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(http.StatusOK): {Description: text, Content: map[string]*huma.MediaType{
		mediaType: {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
}
