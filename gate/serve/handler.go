// Package serve serves images, health checks and metrics over HTTP.
package serve

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/felixge/httpsnoop"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/pipeline"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/signing"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// Handler serves images to clients.
type Handler struct {
	Pipeline *pipeline.Pipeline
	// Rules parse and check requests.
	Rules request.Rules
	// ID is the name of the gate in the header source.Loop.
	ID string
	// Signing verifies signatures; nil accepts all URLs.
	Signing *signing.Verifier
	// CacheTTL is the max-age of responses.
	CacheTTL time.Duration
	// ServerTiming sends the header Server-Timing.
	ServerTiming bool
	// CrossOrigin allows pages of other origins to read images and their timing.
	CrossOrigin bool
	// AccessLog logs each request.
	AccessLog bool
	Log       *slog.Logger

	sending responseMemory
}

const (
	// statusClientClosed marks clients that have left, in metrics and the access log.
	statusClientClosed = 499
	// minRate is the minimum rate at which a client must read, in bytes per second.
	minRate = 16 << 10
)

// traceparent matches a trace ID (W3C Trace Context).
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}`)

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var entry *cache.Entry
	var state pipeline.State
	response := httpsnoop.CaptureMetricsFn(w, func(w http.ResponseWriter) {
		var err error
		if entry, state, err = h.serve(w, r); err != nil {
			h.fail(w, r, err)
		}
	})
	h.Pipeline.Metrics().Responded(state, entry, response)
	if h.AccessLog {
		h.Log.LogAttrs(r.Context(), slog.LevelInfo, "request",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.String("query", r.URL.RawQuery),
			slog.Int("status", response.Code), slog.Int64("bytes", response.Written), slog.String("cache", string(state)),
			slog.Duration("duration", response.Duration), slog.String("client", clientOf(r)),
			slog.String("traceparent", traceparent.FindString(r.Header.Get("Traceparent"))))
	}
}

// serve sends an entry and returns it, or returns a problem or the error of the context.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (*cache.Entry, pipeline.State, error) {
	if h.CrossOrigin {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		w.Header().Set("Timing-Allow-Origin", "*")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, pipeline.None, h.allow(w, r)
	}
	if r.URL.Path == "/ping" {
		_, _ = w.Write([]byte("pong"))
		return nil, pipeline.None, nil
	}
	maxAge, err := h.verify(r.URL)
	if err != nil {
		return nil, pipeline.None, err
	}
	parsed, err := h.Rules.Parse(r.URL)
	if err != nil {
		return nil, pipeline.None, err
	}
	parsed, varies := parsed.Negotiate(r.Header.Values("Accept"))
	parsed.Via = source.Via(r.Header)
	if h.ID != "" && strings.Contains(parsed.Via, h.ID) {
		return nil, pipeline.None, problem.New(problem.Loop, "the source of the gate leads back to it")
	}
	client := clientOf(r)
	ctx, record := timing.With(r.Context())
	start := time.Now()
	entry, state, err := h.Pipeline.Get(ctx, client, parsed)
	if timing.Add(ctx, "total", time.Since(start)); h.ServerTiming {
		w.Header().Set("Server-Timing", record.Header(string(state)))
	}
	if err != nil {
		return nil, state, err
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(30*time.Second + time.Duration(len(entry.Body)/minRate)*time.Second))
	release, err := h.sending.add(client, entry, h.Pipeline.ResponseMemory(),
		func() { _ = control.SetWriteDeadline(time.Now()) })
	if err != nil {
		return nil, state, err
	}
	defer release()
	w.Header().Set("Cache-Control", cacheControl(entry, state, maxAge))
	if varies {
		w.Header().Set("Vary", "Accept")
	}
	send(w, r, entry)
	return entry, state, nil
}

// allow responds to methods other than GET and HEAD, or returns a problem.
func (h *Handler) allow(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Allow", "GET, HEAD")
	if !h.CrossOrigin || r.Method != http.MethodOptions {
		return problem.New(problem.MethodNotAllowed, "only GET and HEAD are supported")
	}
	// Browsers send a preflight request before requests with unusual headers.
	w.Header().Set("Access-Control-Allow-Headers", "*")
	w.Header().Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// send sends an entry, or a part of it.
func send(w http.ResponseWriter, r *http.Request, entry *cache.Entry) {
	header := w.Header()
	header.Set("Content-Type", entry.ContentType)
	header.Set("ETag", entry.ETag)
	header.Set("X-Content-Type-Options", "nosniff")
	if entry.ContentType == original.SVG {
		header.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'")
	}
	// Ignore ranges of HEAD and in unknown units, which net/http would serve or refuse.
	unit, ranges, _ := strings.Cut(r.Header.Get("Range"), "=")
	if r.Header.Set("Range", "bytes="+ranges); r.Method != http.MethodGet || !strings.EqualFold(unit, "bytes") {
		r.Header.Del("Range")
	}
	http.ServeContent(&content{ResponseWriter: w, request: r}, r, "", time.Time{}, bytes.NewReader(entry.Body))
}

// content is the response writer for http.ServeContent. It hides ReadFrom, so that headers and a small image are sent
// in one write.
type content struct {
	http.ResponseWriter
	request *http.Request
	// failed is set when a problem was sent instead of the body.
	failed bool
}

// WriteHeader sends a problem if a condition or range failed (412, 416). CDNs must not store these in place of the
// image.
func (c *content) WriteHeader(status int) {
	switch c.failed = status >= http.StatusBadRequest; {
	case status == http.StatusRequestedRangeNotSatisfiable:
		c.refuse(status, "the header Range names no part of the image")
	case c.failed:
		c.refuse(status, "a condition of the request is false")
	default:
		c.ResponseWriter.WriteHeader(status)
	}
}

func (c *content) refuse(status int, detail string) {
	c.Header().Set("Cache-Control", "no-store")
	sendDetails(c.ResponseWriter, c.request, status, detail)
}

func (c *content) Write(body []byte) (int, error) {
	if c.failed {
		return len(body), nil
	}
	return c.ResponseWriter.Write(body)
}

// verify verifies the signature of a URL, and returns the maximum age of the response.
func (h *Handler) verify(u *url.URL) (maxAge time.Duration, err error) {
	if h.Signing == nil {
		return h.CacheTTL, nil
	}
	expires, err := h.Signing.Verify(u)
	if expires.IsZero() {
		return h.CacheTTL, err
	}
	return min(h.CacheTTL, max(time.Until(expires), 0)), err
}

func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		w.WriteHeader(statusClientClosed)
		return
	}
	p := problem.Of(err)
	if p.Kind.IsFailure() {
		h.Log.Warn("Request failed", "path", r.URL.Path, "status", statusOf(p.Kind), "error", p)
	}
	// The deadline may have passed while the request waited.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(30 * time.Second))
	sendProblem(w, r, p)
}

// clientOf returns the address of the client, for fairness and the access log. In a cluster, connections come from
// the ingress controller, which appends the client's address to X-Forwarded-For. An IPv6 client is identified by its
// /64 network, because it can use all addresses in that network.
func clientOf(r *http.Request) string {
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	peer := address.Addr().Unmap()
	if forwarded := r.Header.Values("X-Forwarded-For"); len(forwarded) > 0 && (peer.IsPrivate() || peer.IsLoopback()) {
		list := strings.Split(forwarded[len(forwarded)-1], ",")
		last := strings.TrimSpace(list[len(list)-1])
		if client, err := netip.ParseAddr(last); err == nil {
			peer = client.Unmap()
		} else if client, err := netip.ParseAddrPort(last); err == nil { // written by Azure gateways
			peer = client.Addr().Unmap()
		}
	}
	if peer.Is6() {
		return netip.PrefixFrom(peer.WithZone(""), 64).Masked().String()
	}
	return peer.String()
}
