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

// holding returns requests of every operation that has a body, by the document of the API.
func holding(t *testing.T, namespace string) map[string]string {
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
	out := map[string]string{}
	for path, operations := range api.Paths {
		for method, operation := range operations {
			for mediaType := range operation.RequestBody.Content {
				if path == "/session" {
					continue
				}
				named := strings.NewReplacer("{namespace}", namespace, "{name}", "photos").Replace(path)
				out[strings.ToUpper(method)+" "+named] = mediaType
			}
		}
	}
	if len(out) < 6 {
		t.Fatalf("found only %v", out)
	}
	return out
}

// TestWhoSendsSlowlyHoldsNothingOfOthers has ServiceAccounts without any right begin the body of each
// operation that has one, and never end it.
func TestWhoSendsSlowlyHoldsNothingOfOthers(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace).token
	address := strings.TrimPrefix(s.url, "http://")
	began := 0
	for i := range 8 {
		nobody := newUser(t, newNamespace(t), fmt.Sprint("nobody-", i)).token
		for operation, mediaType := range holding(t, namespace) {
			for range 2 {
				c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				_, _ = io.WriteString(c, operation+" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+nobody+
					"\r\nContent-Type: "+mediaType+"\r\nContent-Length: 1000\r\n\r\n{")
				began++
			}
		}
	}
	started := time.Now()
	s.want(http.StatusCreated, editor, "POST", "/darkrooms", webFolder(namespace, "photos"))
	s.want(http.StatusOK, editor, "POST", path(namespace, "photos")+"/review", withHosts(1))
	s.want(http.StatusOK, editor, "GET", path(namespace, "photos"), "")
	t.Logf("%d requests are held; the editor took %s", began, time.Since(started))
	if took := time.Since(started); took > 4*time.Second {
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
	opened, refusals := 0, map[string]int{}
	for i := range 6 {
		nobody := newUser(t, elsewhere, fmt.Sprint("nobody-", i)).token
		for range 17 {
			response, err := s.send(t.Context(), nobody, http.MethodGet, "/events/stream", nil)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode == http.StatusOK {
				opened++
				t.Cleanup(func() { _ = response.Body.Close() })
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
	if opened != 32 || refusals["each caller may have 16"] == 0 || refusals["ServiceAccounts of your namespace"] == 0 {
		t.Errorf("%d streams are open, and refused are %v", opened, refusals)
	}
	s.follow(editor, "/events/stream").until("synced")
	// Another tenant, who may see nothing yet, can still wait for what is to come.
	s.follow(newUser(t, newNamespace(t), "new").token, "/events/stream").until("synced")
}
