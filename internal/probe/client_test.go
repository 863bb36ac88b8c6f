package probe

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// secret is in every body; no message may contain it.
const secret = "internal-secret"

// cat returns a valid target, modified by the test.
func cat(changes ...func(*Target)) Target {
	target := Target{
		Path: "/photos/cat.jpg", Source: v1alpha1.WebFolder,
		Period: time.Minute, Timeout: 10 * time.Second, FailureThreshold: 3,
	}
	for _, change := range changes {
		change(&target)
	}
	return target
}

// encodedImage returns an image of a format and size.
func encodedImage(t testing.TB, format string, w, h int) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	pixels := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black})
	if err = png.Encode(&out, pixels); format == "jpeg" {
		out.Reset()
		err = jpeg.Encode(&out, pixels, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// webP is the header of a lossy image of 16×16 pixels; the standard library has no encoder.
func webP(t *testing.T) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoQABAADsD+JaQAA3AA/uUAAAA=")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// answer serves a fixed response.
func answer(status int, contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if contentType == "" {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
}

// serve starts a server that acts as a Darkroom.
func serve(t testing.TB, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// answerCase is a response to a probe, and what it counts as.
type answerCase struct {
	answer http.HandlerFunc
	// target is cat() if it is zero.
	target Target
	want   string
	says   []string
}

func checkAnswers(t *testing.T, cases map[string]answerCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := test.target
			if target == (Target{}) {
				target = cat()
			}
			got := NewClient().Probe(t.Context(), serve(t, test.answer), target)
			if got.Reason != test.want {
				t.Fatalf("got %+v, want reason %s", got, test.want)
			}
			for _, want := range test.says {
				if !strings.Contains(got.Message, want) {
					t.Errorf("got message %q, want it to contain %q", got.Message, want)
				}
			}
			checkMessage(t, got)
		})
	}
}

func TestImagesOfEachFormatAreServed(t *testing.T) {
	checkAnswers(t, map[string]answerCase{
		"JPEG": {
			answer: answer(200, "image/jpeg", encodedImage(t, "jpeg", 16, 11)),
			want:   v1alpha1.ReasonImageServed, says: []string{"/photos/cat.jpg?w=16", "image/jpeg"},
		},
		"PNG": {
			answer: answer(200, "image/png", encodedImage(t, "png", 16, 300)),
			want:   v1alpha1.ReasonImageServed,
		},
		"WebP": {answer: answer(200, "image/webp", webP(t)), want: v1alpha1.ReasonImageServed},
		"parameter of type": {
			answer: answer(200, "image/jpeg; charset=utf-8", encodedImage(t, "jpeg", 16, 11)),
			want:   v1alpha1.ReasonImageServed,
		},
	})
}

func TestAnythingElseIsNotAnImage(t *testing.T) {
	text := []byte(secret)
	const magic = "PANIC"
	image.RegisterFormat("panic", magic, nil, func(io.Reader) (image.Config, error) { panic("index out of range") })
	checkAnswers(t, map[string]answerCase{
		"error page as 200": {
			answer: answer(200, "text/html; charset=utf-8", text),
			want:   v1alpha1.ReasonNotAnImage, says: []string{"HTTP 200 with content type text/html"},
		},
		"no content type": {
			answer: answer(200, "", encodedImage(t, "jpeg", 16, 11)),
			want:   v1alpha1.ReasonNotAnImage, says: []string{"content type none"},
		},
		"content type of rubbish": {
			answer: answer(200, strings.Repeat("x", 100)+"/"+secret, text),
			want:   v1alpha1.ReasonNotAnImage, says: []string{"content type invalid"},
		},
		"text that says image/png": {
			answer: answer(200, "image/png", text), want: v1alpha1.ReasonNotAnImage,
			says: []string{"cannot be decoded"},
		},
		"one whose decoder panics": {
			answer: answer(200, "image/png", []byte(magic+secret)),
			want:   v1alpha1.ReasonNotAnImage,
		},
		"an image with another status": {
			answer: answer(203, "image/png", encodedImage(t, "png", 16, 16)),
			want:   v1alpha1.ReasonNotAnImage, says: []string{"HTTP 203"},
		},
	})
}

func TestAStatusHasAReason(t *testing.T) {
	text := []byte(secret)
	checkAnswers(t, map[string]answerCase{
		"401": {answer: answer(401, "text/plain", text), want: v1alpha1.ReasonSourceDenied},
		"403": {
			answer: answer(403, "", nil), want: v1alpha1.ReasonSourceDenied,
			says: []string{"HTTP 403"},
		},
		"404": {answer: answer(404, "text/plain", text), want: v1alpha1.ReasonImageNotFound},
		"400": {answer: answer(400, "text/plain", text), want: v1alpha1.ReasonSourceRejected},
		"422": {
			answer: answer(422, "", nil), want: v1alpha1.ReasonImageUnprocessable,
			says: []string{"HTTP 422", "source.baseUrl"},
		},
		"422 of a long path": {
			answer: answer(422, "", nil),
			target: cat(func(t *Target) { t.Path = "/" + strings.Repeat("ü", 500) }), want: v1alpha1.ReasonImageUnprocessable,
			says: []string{"…?w=16"},
		},
		"500":                     {answer: answer(500, "text/plain", text), want: v1alpha1.ReasonSourceFailing},
		"JSON, but no API server": {answer: answer(403, "application/json", text), want: v1alpha1.ReasonSourceDenied},
	})
}

func TestAProblemOfAGateIsQuoted(t *testing.T) {
	text, gated := []byte(secret), cat(func(t *Target) { t.Gate = true })
	checkAnswers(t, map[string]answerCase{
		"problem of a gate": {
			answer: answer(502, "application/problem+json",
				[]byte(`{"status":502,"detail":"the source is at an address that is not allowed"}`)),
			target: gated, want: v1alpha1.ReasonSourceFailing,
			says: []string{"HTTP 502: the source is at an address that is not allowed. "},
		},
		"additional source of a gate": {
			answer: answer(502, "application/problem+json",
				[]byte(`{"detail":"additional source old: the source responded with status 500"}`)),
			target: gated, want: v1alpha1.ReasonSourceFailing,
			says: []string{"additional source old: ", "Check old in spec.additionalSources"},
		},
		"limit of a gate": {
			answer: answer(413, "application/problem+json", []byte(`{"detail":"the original exceeds 10 bytes"}`)),
			target: gated, want: v1alpha1.ReasonImageUnprocessable,
			says: []string{"HTTP 413: the original exceeds 10 bytes", "spec.gate.limits"},
		},
		"source of a gate in time": {answer: answer(504, "application/problem+json",
			[]byte(`{"detail":"the source did not respond in time"}`)), target: gated, want: v1alpha1.ReasonSourceTimeout},
		"problem without a gate": {
			answer: answer(502, "application/problem+json", []byte(`{"detail":"`+secret+`"}`)),
			want:   v1alpha1.ReasonSourceFailing, says: []string{"HTTP 502. "},
		},
		"long problem": {answer: answer(502, "application/problem+json",
			[]byte(`{"detail":"`+strings.Repeat(secret, 20)+`"}`)), target: gated, want: v1alpha1.ReasonSourceFailing},
		"problem of several lines": {
			answer: answer(502, "application/problem+json", []byte(`{"detail":"a\n`+secret+`"}`)),
			target: gated, want: v1alpha1.ReasonSourceFailing,
		},
		"malformed problem": {
			answer: answer(502, "application/problem+json", text), target: gated,
			want: v1alpha1.ReasonSourceFailing, says: []string{"HTTP 502. "},
		},
	})
}

func TestAResponseThatBreaksOffIsUnreachable(t *testing.T) {
	checkAnswers(t, map[string]answerCase{
		"connection closed at once": {
			answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			want:   v1alpha1.ReasonUnreachable, says: []string{"closed without a complete response"},
		},
		"a header of 32 KiB": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Long", strings.Repeat("a", 32<<10))
				answer(200, "image/png", encodedImage(t, "png", 16, 16))(w, r)
			},
			want: v1alpha1.ReasonUnreachable,
		},
		"a body that is cut off": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100000")
				w.Header().Set("Content-Type", "image/png")
				_, _ = w.Write(encodedImage(t, "png", 16, 16))
			},
			want: v1alpha1.ReasonUnreachable, says: []string{"without a complete response"},
		},
	})
}

// checkMessage checks the properties of all messages: they are short sentences without body, address or time, and
// contain a remedy if the probe failed.
func checkMessage(t *testing.T, got Outcome) {
	t.Helper()
	for _, never := range []string{secret, "127.0.0.1", "http://", "\n"} {
		if strings.Contains(got.Message, never) {
			t.Errorf("the message holds %q: %s", never, got.Message)
		}
	}
	if len(got.Message) > 700 {
		t.Errorf("%d bytes: %s", len(got.Message), got.Message)
	}
	if !strings.HasSuffix(got.Message, ".") || got.Served() == strings.Contains(got.Message, ". ") {
		t.Errorf("no sentence, or no second one with the remedy of a failure: %s", got.Message)
	}
}

func TestARedirectIsAnAnswerAndIsNotFollowed(t *testing.T) {
	var followed atomic.Bool
	elsewhere := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	for _, status := range []int{301, 302, 303, 307, 308} {
		address := serve(t, http.RedirectHandler(elsewhere+"/"+secret, status))
		got := NewClient().Probe(t.Context(), address, cat(func(t *Target) { t.Source = v1alpha1.S3 }))
		if got.Reason != v1alpha1.ReasonSourceRedirected || !strings.Contains(got.Message, "source.region") {
			t.Errorf("%d: got %+v", status, got)
		}
		checkMessage(t, got)
	}
	if followed.Load() {
		t.Error("a redirect was followed")
	}
}

func TestTheRequestIsAGetOfAnEscapedPathThatDoesNotLeaveTheService(t *testing.T) {
	var got *http.Request
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		answer(200, "image/png", encodedImage(t, "png", 16, 16))(w, r)
	}))
	// Nothing in the environment may redirect a probe.
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	for path, want := range map[string]string{
		"/cat.jpg":          "/cat.jpg?w=16",
		"/a b/ü.png":        "/a%20b/%C3%BC.png?w=16",
		"/100%.png":         "/100%25.png?w=16",
		"/%2e%2e/x.png":     "/%252e%252e/x.png?w=16",
		"/a&w=1;b=c+d.png":  "/a&w=1;b=c+d.png?w=16",
		"/@host/http:x.y":   "/@host/http:x.y?w=16",
		"/@host/http://x.y": "", "cat.jpg": "", "/../secrets": "", "/a/./b": "", "//host/a": "", "/a?b": "", "/a#b": "",
		"/a\nb": "", "/metrics": "",
	} {
		got = nil
		outcome := NewClient().Probe(t.Context(), address, cat(func(t *Target) { t.Path = path }))
		switch {
		case want == "":
			if got != nil || outcome.Reason != v1alpha1.ReasonProbeInvalid {
				t.Errorf("%s was requested: %+v", path, outcome)
			}
		case got == nil:
			t.Errorf("%s was not requested: %+v", path, outcome)
		case got.Method != http.MethodGet || got.RequestURI != want || got.URL.Path != path ||
			!strings.HasPrefix(address, "http://"+got.Host):
			t.Errorf("%s: %s %s of %s, want GET %s", path, got.Method, got.RequestURI, got.Host, want)
		}
	}
}

func TestUnreachableAndUnresponsiveDarkroomsAreDistinguished(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	listener.Close()

	hangs := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	trickles := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	resets := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}))
	quick := func(t *Target) { t.Timeout = 3 * time.Second } // connecting takes less on any machine
	for name, test := range map[string]struct {
		address, want, says string
	}{
		"no listener":             {closed, v1alpha1.ReasonUnreachable, "connection refused"},
		"no answer":               {hangs, v1alpha1.ReasonSourceTimeout, "no complete response within 3s"},
		"a mesh":                  {resets, v1alpha1.ReasonUnreachable, "was reset, as by a service mesh"},
		"half a response":         {trickles, v1alpha1.ReasonSourceTimeout, "no complete response within 3s"},
		"an address that is none": {"http://me:" + secret + "@[", v1alpha1.ReasonProbeInvalid, "the address is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := NewClient().Probe(t.Context(), test.address, cat(quick))
			if got.Reason != test.want || !strings.Contains(got.Message, test.says) {
				t.Errorf("got %+v, want %s that says %q", got, test.want, test.says)
			}
			if strings.Contains(got.Message, secret) || strings.Contains(got.Message, "127.0.0.1") {
				t.Errorf("the message contains a secret or an address: %s", got.Message)
			}
		})
	}

	t.Run("no connection in time", func(t *testing.T) {
		t.Parallel()
		client := NewClient()
		client.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		got := client.Probe(t.Context(), "http://photos", cat(quick))
		if got.Reason != v1alpha1.ReasonUnreachable || !strings.Contains(got.Message, "no connection within 3s") {
			t.Errorf("got %+v", got)
		}
	})
}

func TestNoMoreThanTheLimitIsReadOfABody(t *testing.T) {
	ended := make(chan struct{})
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		w.Header().Set("Content-Type", "image/png")
		for chunk := make([]byte, 64<<10); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	got := NewClient().Probe(t.Context(), address, cat())
	if got.Reason != v1alpha1.ReasonNotAnImage || !strings.Contains(got.Message, "more than") {
		t.Errorf("got %+v, want %s because of the size", got, v1alpha1.ReasonNotAnImage)
	}
	<-ended // the client has closed the connection
}

// A connection that is kept open leads to the old pod after a rollout.
func TestNoConnectionIsKept(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(answer(200, "image/png", encodedImage(t, "png", 16, 16)))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := NewClient()
	for probe := range int64(3) {
		if got := client.Probe(t.Context(), server.URL, cat()); !got.Served() {
			t.Fatal(got)
		}
		if got := connections.Load(); got != probe+1 {
			t.Errorf("%d connections after probe %d", got, probe+1)
		}
	}
}

func TestEachReasonHasARemedyForEachTypeOfSource(t *testing.T) {
	types := []v1alpha1.SourceType{
		v1alpha1.WebFolder, v1alpha1.S3, v1alpha1.GoogleCloudStorage,
		v1alpha1.CloudFront, "Later",
	}
	for reason, bySource := range remedies {
		for _, kind := range types {
			if text := remedy(reason, Target{Source: kind}); text == "" || !strings.HasSuffix(text, ".") {
				t.Errorf("%s of %s: %q", reason, kind, text)
			}
		}
		if bySource[anySource] == "" {
			t.Errorf("%s has no remedy for other types of source", reason)
		}
	}
	for status := 300; status < 600; status++ {
		if _, found := remedies[Classify(status)]; !found {
			t.Errorf("HTTP %d is %s, which has no remedy", status, Classify(status))
		}
	}
}

func TestProbesGoToTheAddressOfTheServiceOrThePod(t *testing.T) {
	address := strings.TrimPrefix(serve(t, answer(200, "image/png", encodedImage(t, "png", 16, 16))), "http://")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient()
	for name, to := range map[string]func(*Target){
		"the Service": func(target *Target) { target.Address = address },
		"a pod":       func(target *Target) { target.Pod = Pod{Name: "photos-1", IP: host, Port: port} },
	} {
		if got := client.ProbeDarkroom(t.Context(), photos, cat(to)); !got.Served() {
			t.Errorf("%s: got %+v, want an image", name, got)
		}
	}
}

func TestADarkroomWithoutAnAddressIsUnreachable(t *testing.T) {
	if got := NewClient().ProbeDarkroom(t.Context(), photos, cat()); got.Reason != v1alpha1.ReasonUnreachable {
		t.Errorf("got %+v, want the reason %s", got, v1alpha1.ReasonUnreachable)
	}
}

func TestProbesFromOutsideTheClusterGoThroughTheAPIServer(t *testing.T) {
	proxy, err := NewProxyClient(&rest.Config{Host: "https://api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	got := proxy.podAddress("team-a", Pod{Name: "photos-1", Port: "3000"})
	expect.Equal(t, "the address", "https://api.example.com/api/v1/namespaces/team-a/pods/http:photos-1:3000/proxy", got)
}

func TestPodsAndServicesWithIPv6AreProbed(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip(err) // the machine has no IPv6
	}
	server := &httptest.Server{
		Listener: listener,
		Config:   &http.Server{Handler: answer(200, "image/png", encodedImage(t, "png", 16, 16))},
	}
	server.Start()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for name, to := range map[string]func(*Target){
		"the Service": func(target *Target) { target.Address = listener.Addr().String() },
		"a pod":       func(target *Target) { target.Pod = Pod{Name: "photos-1", IP: "::1", Port: port} },
	} {
		if got := NewClient().ProbeDarkroom(t.Context(), photos, cat(to)); !got.Served() {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// TestProbesThroughTheAPIServer uses a fake of the API server's proxy, which forwards the responses of Darkroom and
// sends its own as JSON.
func TestProbesThroughTheAPIServer(t *testing.T) {
	const refusal = `{"kind":"Status","message":"` + secret + `"}`
	body := encodedImage(t, "jpeg", 16, 11)
	for name, test := range map[string]struct {
		answer     http.HandlerFunc
		want, says string
	}{
		"an image":             {answer(200, "image/jpeg", body), v1alpha1.ReasonImageServed, "image/jpeg"},
		"denied by the source": {answer(403, "", nil), v1alpha1.ReasonSourceDenied, "HTTP 403."},
		"denied by the API server": {
			answer(403, "application/json", []byte(refusal)), v1alpha1.ReasonProbeForbidden,
			"get on services/proxy and pods/proxy",
		},
		"a token that has run out": {
			answer(401, "application/json", []byte(refusal)), v1alpha1.ReasonProbeForbidden,
			"get on services/proxy and pods/proxy",
		},
		"no endpoints": {
			answer(503, "application/json", []byte(refusal)), v1alpha1.ReasonUnreachable,
			"HTTP 503 of the Kubernetes API server",
		},
		"no Service": {
			answer(404, "application/json", []byte(refusal)), v1alpha1.ReasonUnreachable,
			"HTTP 404 of the Kubernetes API server",
		},
		"no image, says the Darkroom": {answer(404, "text/plain", nil), v1alpha1.ReasonImageNotFound, "HTTP 404."},
	} {
		var path, token string
		address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path, token = r.RequestURI, r.Header.Get("Authorization")
			test.answer(w, r)
		}))
		client, err := NewProxyClient(&rest.Config{Host: address + "/clusters/one/", BearerToken: "token"})
		if err != nil {
			t.Fatal(err)
		}
		got := client.ProbeDarkroom(t.Context(), photos, cat())
		if got.Reason != test.want || !strings.Contains(got.Message, test.says) || strings.Contains(got.Message, secret) {
			t.Errorf("%s: %+v, want %s that says %q", name, got, test.want, test.says)
		}
		want := "/clusters/one/api/v1/namespaces/team-a/services/http:photos:http/proxy/photos/cat.jpg?w=16"
		if path != want {
			t.Errorf("%s: requested %s, want %s", name, path, want)
		}
		if token != "Bearer token" {
			t.Errorf("%s: authorized by %q", name, token)
		}
	}
}
