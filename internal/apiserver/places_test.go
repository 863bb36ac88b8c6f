package apiserver_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// operation is one of the document of the API, for the Darkroom photos.
type operation struct {
	method, path, mediaType string
}

// operations returns every operation of the document of the API.
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

// filled returns the path of an operation with the parameters that it needs in a namespace, and a body.
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

// TestWhoSendsSlowlyHoldsNothingOfOthers has ServiceAccounts without any right begin the body of every
// operation, and never end it. Meanwhile an editor uses every operation.
func TestWhoSendsSlowlyHoldsNothingOfOthers(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace).token
	s.want(http.StatusCreated, editor, "POST", "/darkrooms", webFolder(namespace, "photos"))
	address := strings.TrimPrefix(s.url, "http://")
	all := operations(t, namespace)
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
					"\r\nContent-Type: "+held.mediaType+"\r\nContent-Length: 1000\r\n\r\n{")
				began++
			}
		}
	}
	started := time.Now()
	s.want(http.StatusOK, editor, "POST", path(namespace, "photos")+"/review", withHosts(1))
	for _, used := range all {
		if used.path == "/session" {
			continue // it would end the editor's
		}
		var body io.Reader
		if used.method != http.MethodGet && used.method != http.MethodDelete {
			body = strings.NewReader("{}")
		}
		response, err := s.send(t.Context(), editor, used.method, used.path, body, "Content-Type", used.mediaType)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		code := response.StatusCode
		if code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code == http.StatusServiceUnavailable {
			t.Errorf("%s %s of the editor is answered with %s", used.method, used.path, response.Status)
		}
	}
	took := time.Since(started)
	t.Logf("%d requests are held; the editor took %s for %d", began, took, len(all))
	// Nothing waits for a body, which takes 5 s, or for a place, which takes 10 s.
	if took > 30*time.Second {
		t.Errorf("the editor waits %s", took)
	}
}

// TestWhoSeesNothingTakesNoStreamOfOthers has ServiceAccounts of one namespace, without any right,
// open as many streams as they can.
func TestWhoSeesNothingTakesNoStreamOfOthers(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace).token
	s.want(http.StatusCreated, editor, "POST", "/darkrooms", webFolder(namespace, "photos"))
	elsewhere := newNamespace(t)
	var opened atomic.Int64
	most, refusals := int64(0), map[string]int{}
	for i := range 6 {
		nobody := newUser(t, elsewhere, fmt.Sprint("nobody-", i)).token
		for range 17 {
			response, err := s.send(t.Context(), nobody, http.MethodGet, "/events/stream", nil)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode == http.StatusOK {
				most = max(most, opened.Add(1))
				go func() { // The server ends streams too.
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
					opened.Add(-1)
				}()
				continue
			}
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			for _, known := range []string{"each caller may have 16", "ServiceAccounts of your namespace"} {
				if strings.Contains(string(body), known) {
					refusals[known]++
				}
			}
		}
	}
	if most > 32 || refusals["each caller may have 16"] == 0 || refusals["ServiceAccounts of your namespace"] == 0 {
		t.Errorf("%d streams were open, and refused are %v", most, refusals)
	}
	s.follow(editor, "/events/stream").until("synced")
	// Another tenant, who may see nothing yet, can still wait for what is to come.
	s.follow(newUser(t, newNamespace(t), "new").token, "/events/stream").until("synced")
}
