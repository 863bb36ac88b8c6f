package apiserver

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// onePath is the path of a Darkroom.
	onePath = "/darkrooms/{namespace}/{name}"
	// maxBody limits the size of a body, in bytes, to about the largest object that Kubernetes stores.
	maxBody = 1 << 20
	// maxToken limits the size of a body with a token, in bytes. It is small, because limits per caller do not apply
	// before the token is read.
	maxToken = 16 << 10

	getsToo = "Requires permission to get the Darkroom as well."

	ofDarkrooms = "Darkrooms"
	ofObjects   = "Pods, events, manifests and images"
	ofSession   = "Session"
)

// routes returns all operations of the API.
func (s *Server) routes() []route {
	out := s.darkroomRoutes()
	for _, more := range [][]route{s.podRoutes(), s.objectRoutes(), s.streamRoutes(), s.sessionRoutes()} {
		out = append(out, more...)
	}
	return out
}

func (s *Server) darkroomRoutes() []route {
	patch := func(huma.Registry) *huma.Schema { return &huma.Schema{Ref: wire.PatchRef} }
	return []route{{
		method: http.MethodGet, path: "/darkrooms", id: "listDarkrooms", tag: ofDarkrooms, handle: by(s.list),
		summary: "List the Darkrooms that you may list",
		errors:  []int{http.StatusNotFound},
	}, {
		method: http.MethodPost, path: "/darkrooms", id: "createDarkroom", tag: ofDarkrooms, handle: by(s.create),
		summary: "Create a Darkroom",
		body:    &body{reply.TypeJSON, maxBody, inNamespace(v1alpha1.GroupVersion.Group, plural), wire.InputOf},
		status:  http.StatusCreated, errors: []int{http.StatusNotFound, http.StatusConflict},
	}, {
		method: http.MethodGet, path: onePath, id: "getDarkroom", tag: ofDarkrooms, handle: by(s.get),
		summary: "Get a Darkroom",
		errors:  []int{http.StatusNotModified},
	}, {
		method: http.MethodPut, path: onePath, id: "replaceDarkroom", tag: ofDarkrooms, handle: by(s.replace),
		summary: "Replace a Darkroom", description: getsToo,
		body:    &body{reply.TypeJSON, maxBody, onDarkroom("update"), wire.InputOf},
		ifMatch: true, errors: []int{http.StatusConflict},
	}, {
		// Requires update, not patch, because the handler replaces the Darkroom in Kubernetes.
		method: http.MethodPatch, path: onePath, id: "patchDarkroom", tag: ofDarkrooms, handle: by(s.patch),
		summary: "Change some fields of a Darkroom, by JSON merge patch", description: getsToo,
		body:    &body{reply.TypeMergePatch, maxBody, onDarkroom("update"), patch},
		ifMatch: true, errors: []int{http.StatusConflict},
	}, {
		method: http.MethodDelete, path: onePath, id: "deleteDarkroom", tag: ofDarkrooms, handle: by(s.delete),
		summary:     "Delete a Darkroom and all its objects",
		description: "204: deleted. 202: the operator uninstalls the release first.",
		errors:      []int{http.StatusPreconditionFailed},
		responses:   map[string]*huma.Response{"202": {Description: "The operator uninstalls it"}},
	}, {
		method: http.MethodGet, path: onePath + "/revisions", id: "listRevisions", tag: ofObjects, handle: by(s.revisions),
		summary:     "List the revisions of a Darkroom",
		description: "Requires permission to list controllerrevisions in the namespace, where the operator records them.",
	}, {
		method: http.MethodPost, path: onePath + "/rollback", id: "rollBackDarkroom", tag: ofDarkrooms,
		handle: by(s.rollBack), summary: "Restore the settings of an earlier revision",
		description: "Requires permission to get controllerrevisions in the namespace. Inline keys and literal values of " +
			"variables stay as they are now.",
		body:    &body{mediaType: reply.TypeJSON, most: maxToken, right: onDarkroom("update")},
		ifMatch: true, errors: []int{http.StatusConflict},
	}, {
		method: http.MethodPost, path: onePath + "/review", id: "reviewDarkroom", tag: ofObjects, handle: by(s.review),
		summary: "Review a change of a Darkroom: manifests, hosts, Secrets and pods",
		description: "Stores nothing. As in a PUT, omitted write-only fields keep their values. Secrets are " +
			"looked up with your own token; Secrets that you may not read are unknown.",
		body:   &body{reply.TypeJSON, maxBody, onDarkroom("get"), wire.InputOf},
		errors: []int{http.StatusConflict},
	}}
}

func (s *Server) podRoutes() []route {
	return []route{{
		method: http.MethodGet, path: onePath + "/pods", id: "listPods", tag: ofObjects, handle: by(s.pods),
		summary: "List the pods of a Darkroom",
	}, {
		method: http.MethodGet, path: onePath + "/pods/{pod}/events", id: "listPodEvents", tag: ofObjects,
		handle: by(s.podEvents), summary: "List the events of a pod",
	}, {
		method: http.MethodGet, path: onePath + "/pods/{pod}/log", id: "getLog", tag: ofObjects, handle: by(s.podLog),
		summary:     "Get or follow the log of a pod",
		description: "Requires permission to get pods/log in the namespace. A followed log ends after 15 minutes or 8 MiB.",
		streams:     true, responses: content("text/plain", "The last lines of the log"),
	}, {
		method: http.MethodGet, path: onePath + "/figures", id: "getFigures", tag: ofObjects, handle: by(s.figures),
		summary:     "Get the counters of the gates of a Darkroom",
		description: "Requires permission to list pods and to get pods/proxy in the namespace. Counters start at 0 in each pod.",
	}, {
		method: http.MethodGet, path: onePath + "/events", id: "listEvents", tag: ofObjects, handle: by(s.events),
		summary: "List the events of a Darkroom",
	}}
}

func (s *Server) objectRoutes() []route {
	return []route{{
		method: http.MethodGet, path: onePath + "/manifest", id: "getManifest", tag: ofObjects, handle: by(s.manifest),
		summary:   "Get the manifest of a Darkroom, without secrets",
		responses: content("application/yaml", "Kubernetes manifests; "+wire.Redacted+" replaces secrets"),
	}, {
		method: http.MethodGet, path: onePath + "/image", id: "getImage", tag: ofObjects, handle: by(s.image),
		summary:     "Fetch an image from the running Darkroom",
		description: "Requires permission to get services/proxy in the namespace.",
		errors:      []int{http.StatusBadGateway}, responses: content("image/*", "The image"),
	}, {
		method: http.MethodGet, path: onePath + "/signed-url", id: "signURL", tag: ofObjects, handle: by(s.signURL),
		summary:     "Sign the URL of an image",
		description: "Requires permission to get the Secret of gate.signing. Without gate.signing the URL has no signature.",
	}, {
		method: http.MethodPost, path: "/explain", id: "explainURL", tag: ofObjects, handle: by(s.explain),
		summary: "Explain how the URL of an image is served",
		description: "Names the Darkroom that holds the host, each hop to the source, the hop to blame, and the remedy. " +
			"Only Darkrooms that you may get are considered. The image is requested from the Service of the Darkroom, never " +
			"from the host of the URL; this requires permission to get services/proxy. What you may not read is unknown.",
		body: &body{mediaType: reply.TypeJSON, most: maxToken},
	}, {
		method: http.MethodPost, path: "/secrets", id: "createSecret", tag: "Secrets", handle: by(s.createSecret),
		summary:     "Store the credentials of a source in a new Secret",
		description: "Requires permission to create secrets in the namespace. An existing Secret is not overwritten.",
		body:        &body{mediaType: reply.TypeJSON, most: maxNewSecret, right: inNamespace("", "secrets")},
		status:      http.StatusCreated, errors: []int{http.StatusNotFound, http.StatusConflict},
	}}
}

func (s *Server) streamRoutes() []route {
	return []route{{
		method: http.MethodGet, path: "/events/stream", id: "streamEvents", tag: "Live events", handle: by(s.stream),
		summary: "Watch Darkrooms",
		description: "Server-sent events. added, modified and deleted carry a Darkroom. reset: discard your copies, " +
			"the complete list follows. synced: the list is complete. After a lost connection the stream begins again.",
		streams: true, errors: []int{http.StatusNotFound},
		responses: content(reply.TypeEvents, "Server-sent events"),
	}}
}

func (s *Server) sessionRoutes() []route {
	const path = "/session"
	return []route{{
		method: http.MethodGet, path: path, id: "whoAmI", tag: ofSession, handle: by(s.whoAmI),
		summary: "Get the current user", uncached: true,
	}, {
		method: http.MethodPost, path: path, id: "signIn", tag: ofSession, handle: by(s.signIn),
		summary: "Sign in: store a token in a cookie",
		public:  true, body: &body{mediaType: reply.TypeJSON, most: maxToken, schema: schemaOf[SignIn]},
		errors: []int{http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable},
	}, {
		method: http.MethodDelete, path: path, id: "signOut", tag: ofSession, handle: by(s.signOut),
		summary: "Sign out: delete the cookie, and end the session if it is a session of an OIDC issuer", public: true,
	}, {
		method: http.MethodGet, path: "/sign-in", id: "getSignIn", tag: ofSession, handle: by(s.waysToSignIn),
		summary: "Get the ways to sign in", public: true,
	}, {
		method: http.MethodGet, path: "/access", id: "getAccess", tag: ofSession, handle: by(s.access),
		summary: "Get your permissions in a namespace", uncached: true,
	}, {
		method: http.MethodGet, path: "/access/namespaces", id: "myNamespaces", tag: ofSession, handle: by(s.myNamespaces),
		summary: "Get the namespaces in which you may create and update Darkrooms",
		description: "Considers the namespaces whose Darkrooms you may watch, the namespaces that the server serves, default, " +
			"and the namespace of your ServiceAccount.",
	}, {
		method: http.MethodGet, path: "/settings", id: "getSettings", tag: ofSession, handle: by(s.settings),
		summary: "Get the settings of the server", uncached: true,
	}}
}

// plainRoute is a route outside the OpenAPI document. It is public unless its handler requires a permission.
type plainRoute struct {
	pattern string
	handler http.Handler
	// probe routes are requested by kubelets, and logged at debug level.
	probe bool
}

func (s *Server) plainRoutes(version []byte, page *page) []plainRoute {
	out := []plainRoute{
		{pattern: "GET /openapi.json", handler: serveDocument(s.options.Version)},
		{pattern: "GET /healthz", handler: sends("text/plain", []byte("ok\n")), probe: true},
		{pattern: "GET /readyz", handler: http.HandlerFunc(s.ready), probe: true},
		{pattern: "GET /version", handler: sends(reply.TypeJSON, version)},
		{pattern: "GET /metrics", handler: s.metricsHandler()},
		// The page has its own routes under /ui/.
		{pattern: "GET /{$}", handler: http.HandlerFunc(page.serveIndex)},
		{pattern: "GET /ui/", handler: http.HandlerFunc(page.serveIndex)},
	}
	for name, file := range page.files {
		out = append(out, plainRoute{pattern: "GET /" + name, handler: file})
	}
	if s.options.OIDC != nil {
		out = append(out,
			plainRoute{pattern: "GET /auth/login", handler: http.HandlerFunc(s.auth.Login)},
			plainRoute{pattern: "GET " + oidc.CallbackPath, handler: http.HandlerFunc(s.auth.Callback)})
	}
	return out
}
