package apiserver_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// operation is one operation of the API's document, for the Darkroom photos.
type operation struct {
	method, path, mediaType string
}

// operations returns every operation of the API's document.
func operations(t *testing.T, namespace string) []operation {
	t.Helper()
	document, err := apiserver.Document("test")
	if err != nil {
		t.Fatal(err)
	}
	api := into[struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}](t, answer{body: string(document)})
	var out []operation
	for path, methods := range api.Paths {
		named := strings.NewReplacer("{namespace}", namespace, "{name}", "photos", "{pod}", "photos-1").Replace(path)
		for method, described := range methods {
			one := operation{method: strings.ToUpper(method), path: named, mediaType: "application/json"}
			for mediaType := range described.RequestBody.Content {
				one.mediaType = mediaType
			}
			out = append(out, one)
		}
	}
	if len(out) < 20 {
		t.Fatalf("found only %v", out)
	}
	return out
}

// filled returns the path of an operation with its required parameters in a namespace, and a body.
func (o operation) filled(namespace string) (path, body string) {
	path = o.path
	switch _, last, _ := strings.Cut(path, "/photos/"); {
	case last == "image", last == "signed-url":
		path += "?path=/a.jpg"
	case o.method == http.MethodGet && !strings.Contains(path, namespace):
		path += "?namespace=" + namespace
	case last == "rollback":
		body = `{"revision":1}`
	case path == "/secrets":
		body = fmt.Sprintf(`{"namespace":%q,"name":"keys","accessKey":"a","secretKey":"b"}`, namespace)
	case o.method != http.MethodGet && o.method != http.MethodDelete:
		body = webFolder(namespace, "photos")
	}
	return path, body
}

// ServiceAccounts without permissions begin the body of every operation and never finish it. Meanwhile an editor uses
// every operation.
func TestASlowSenderTakesNoPlaceOfOthers(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace).token
	address := strings.TrimPrefix(s.url, "http://")
	all := operations(t, namespace)
	alone := s.use(editor, namespace, all)
	began := 0
	for i := range 8 {
		nobody := newUser(t, newNamespace(t), fmt.Sprint("nobody-", i)).token
		for _, held := range all {
			for range 2 {
				c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				_, _ = io.WriteString(c, held.method+" "+held.path+" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+nobody+
					"\r\nIf-Match: *\r\nContent-Type: "+held.mediaType+"\r\nContent-Length: 1000\r\n\r\n{")
				began++
			}
		}
	}
	// No request of the editor waits for a body, which takes 5 s, or for a place, which takes 10 s.
	took := s.use(editor, namespace, all)
	t.Logf("%d requests are held; the editor took %s for %d, and %s before", began, took, len(all), alone)
	if took > 30*time.Second+5*alone {
		t.Errorf("the editor waits %s, compared with %s before", took, alone)
	}
}

// use sends a request for each operation, which must get a place, and returns the duration of all.
func (s *server) use(editor, namespace string, all []operation) time.Duration {
	s.t.Helper()
	started := time.Now()
	s.call(editor, "POST", "/darkrooms", webFolder(namespace, "photos"))
	s.want(http.StatusOK, editor, "POST", path(namespace, "photos")+"/review", withHosts(1))
	for _, used := range all {
		if used.path == "/session" {
			continue // it would end the editor's session
		}
		var body io.Reader
		if used.method != http.MethodGet && used.method != http.MethodDelete {
			body = strings.NewReader("{}")
		}
		response, err := s.send(s.t.Context(), editor, used.method, used.path, body,
			"Content-Type", used.mediaType, "If-Match", "*")
		if err != nil {
			s.t.Fatal(err)
		}
		_ = response.Body.Close()
		code := response.StatusCode
		if code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code == http.StatusServiceUnavailable {
			s.t.Errorf("%s %s of the editor: got status %s", used.method, used.path, response.Status)
		}
	}
	return time.Since(started)
}

// ServiceAccounts of one namespace, without permissions, open streams until each is refused one. The server must not
// end a stream meanwhile, even if its reviews take long.
func TestStreamsOfANamespaceAreBounded(t *testing.T) {
	t.Parallel()
	namespace, elsewhere, third := newNamespace(t), newNamespace(t), newNamespace(t)
	// Each stream reviews all namespaces with Darkrooms, and other tests create many of them.
	s := start(t, func(o *apiserver.Options) {
		o.Heartbeat, o.Namespaces = time.Hour, []string{namespace, elsewhere, third}
	})
	editor := newEditor(t, namespace).token
	s.want(http.StatusCreated, editor, "POST", "/darkrooms", webFolder(namespace, "photos"))
	for i, want := range []int{16, 16, 16, 16, 0} {
		opened, refusal := s.openUntilRefused(newUser(t, elsewhere, fmt.Sprint("nobody-", i)).token)
		if opened != want || !strings.Contains(refusal, "each caller may have 16") {
			t.Errorf("account %d opened %d streams until it received %q, want %d", i, opened, refusal, want)
		}
	}
	s.follow(editor, "/events/stream").until("synced")
	// Another tenant, who may not see any Darkroom yet, can still wait for future Darkrooms.
	s.follow(newUser(t, third, "new").token, "/events/stream").until("synced")
}

// openUntilRefused opens streams until the server responds with 429. The streams stay open until the test ends.
func (s *server) openUntilRefused(token string) (opened int, refusal string) {
	s.t.Helper()
	for opened < 100 {
		response, err := s.send(s.t.Context(), token, http.MethodGet, "/events/stream", nil)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = response.Body.Close() })
		switch response.StatusCode {
		case http.StatusOK:
			opened++
		case http.StatusTooManyRequests:
			body, _ := io.ReadAll(response.Body)
			return opened, string(body)
		default:
			s.t.Fatalf("a stream: got status %s", response.Status)
		}
	}
	return opened, "nothing"
}
