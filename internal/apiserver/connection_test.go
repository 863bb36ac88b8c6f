package apiserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// TestHEADLeavesTheConnectionForTheNextRequest tests every read in the document. A response to HEAD is complete after
// its headers, so proxies may send the next request, of another user, on the same connection.
func TestHEADLeavesTheConnectionForTheNextRequest(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.becomes(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	raw, err := apiserver.Document(testVersion)
	expect.NoError(t, err)
	document := struct {
		Paths map[string]map[string]any `json:"paths"`
	}{}
	expect.NoError(t, json.Unmarshal(raw, &document))
	names := strings.NewReplacer("{namespace}", namespace, "{name}", "photos", "{pod}", "photos-1")
	walked := 0
	for path, operations := range document.Paths {
		if operations["get"] == nil {
			continue
		}
		walked++
		connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		expect.NoError(t, err)
		defer connection.Close()
		expect.NoError(t, connection.SetDeadline(time.Now().Add(wait.Patience)))
		in := bufio.NewReader(connection)
		for _, request := range []string{"HEAD " + names.Replace(path), "GET /healthz"} {
			_, err := fmt.Fprintf(connection, "%s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", request, token)
			expect.NoError(t, err)
			method, _, _ := strings.Cut(request, " ")
			response, err := http.ReadResponse(in, &http.Request{Method: method})
			if err != nil {
				t.Errorf("HEAD %s: %s: %v", path, request, err)
				break
			}
			_ = response.Body.Close()
		}
	}
	if walked < 10 {
		t.Errorf("the document has %d reads", walked)
	}
}

// TestBodiesThatDecodersReadInPartAreRefused tests every operation with a body. JSON is UTF-8, and decoders replace
// other bytes. Of several values with one name, they read only the last or all of them.
func TestBodiesThatDecodersReadInPartAreRefused(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	raw, err := apiserver.Document(testVersion)
	expect.NoError(t, err)
	document := struct {
		Paths map[string]map[string]struct {
			RequestBody *struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}{}
	expect.NoError(t, json.Unmarshal(raw, &document))
	names := strings.NewReplacer("{namespace}", namespace, "{name}", "photos")
	walked := 0
	for path, operations := range document.Paths {
		for method, operation := range operations {
			if operation.RequestBody == nil {
				continue
			}
			for mediaType := range operation.RequestBody.Content {
				walked++
				for body, reason := range map[string]string{
					"{\"token\":\"p\xe4ss\"}": "UTF-8",
					fmt.Sprintf(`{"namespace":%q,"name":"photos","name":"photos"}`, namespace): "twice",
					`{"revision":1,"revision":null,"url":"https://a.example.com/b.jpg"}`:       "twice",
					`{"token":"a","t\u006fken":"b"}`:                                           "twice",
					`{"source":{"baseUrl":"a","a":[{}],"baseUrl":"b"}}`:                        "twice",
					`{"extraEnv":[{"name":"A"},{"name":"A","value":"a","value":"b"}]}`:         "twice",
				} {
					got := s.call(token, strings.ToUpper(method), names.Replace(path), body,
						"Content-Type", mediaType, "If-Match", "*")
					if got.status != http.StatusBadRequest || !strings.Contains(got.body, reason) {
						t.Errorf("%s %s with %q: got status %s", method, path, body, got)
					}
				}
			}
		}
	}
	if walked < 5 {
		t.Errorf("the document has %d bodies", walked)
	}
}

// TestARequestWhoseQueryIsNotUnderstoodChangesNothing sends writes with queries that contain dryRun in some form.
func TestARequestWhoseQueryIsNotUnderstoodChangesNothing(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.becomes(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	before := s.want(http.StatusOK, token, "GET", path(namespace, "photos"), "").body
	queries := []string{"dryRun", "dryRun=", "dryRun=&", "dryRun=all", "dryrun=All", "dryRun=+", "dryRun%3DAll", "dryRun=true"}
	for _, first := range []string{"", "dryRun=&", "a=%zz&", "a;b&", ";", "%&", "&"} {
		for _, last := range []string{"", "%zz", "%", ";", ";a=b", "&dryRun=", "&a=%zz", "&;", "%00", "%ff", "&&"} {
			queries = append(queries, first+"dryRun=All"+last)
		}
	}
	for _, query := range queries {
		for _, each := range []struct{ method, path, body, mediaType string }{
			{"POST", "/darkrooms", webFolder(namespace, "other"), "application/json"},
			{"PATCH", path(namespace, "photos"), `{"labels":{"a":"b"}}`, "application/merge-patch+json"},
			{"PUT", path(namespace, "photos"), `{"source":{"baseUrl":"https://a.example.com"},"subDomains":["b"]}`, "application/json"},
			{"DELETE", path(namespace, "photos"), "", "application/json"},
		} {
			connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			expect.NoError(t, err)
			_, err = fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nIf-Match: *\r\n"+
				"Content-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
				each.method, each.path+"?"+query, token, each.mediaType, len(each.body), each.body)
			expect.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			expect.NoError(t, err)
			_, _ = response.Body.Close(), connection.Close()
			if after := s.call(token, "GET", path(namespace, "photos"), ""); after.body != before {
				t.Fatalf("%s %s got status %d, and it changes the Darkroom: %s", each.method, query, response.StatusCode, after)
			}
			if got := s.call(token, "GET", path(namespace, "other"), ""); got.status != http.StatusNotFound {
				t.Fatalf("%s %s got status %d, and it creates a Darkroom", each.method, query, response.StatusCode)
			}
		}
	}
}
