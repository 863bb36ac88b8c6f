package apiserver_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// TestNoParameterIsUnderstoodInPart checks each operation in the document. Numbers, booleans and enums without a value
// are rejected, and so are queries that cannot be parsed, with a documented status.
func TestNoParameterIsUnderstoodInPart(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.becomes(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	names := strings.NewReplacer("{namespace}", namespace, "{name}", "photos", "{pod}", "photos-1")
	walked := map[any]bool{}
	for path, operations := range document()["paths"].(map[string]any) {
		for method, operation := range operations.(map[string]any) {
			queries := []string{"a=%zz", "a;b"}
			parameters, _ := operation.(map[string]any)["parameters"].([]any)
			for _, parameter := range parameters {
				parameter := parameter.(map[string]any)
				schema := parameter["schema"].(map[string]any)
				if parameter["in"] != "query" {
					continue
				}
				name := parameter["name"].(string)
				queries = append(queries, fmt.Sprintf("%s=1&%[1]s=1", name))
				if schema["type"] != "string" || schema["enum"] != nil {
					walked[name] = true
					queries = append(queries, name+"=", name, name+"&path=/a.jpg", "path=/a.jpg&"+url.QueryEscape(name)+"=")
				}
			}
			for _, query := range queries {
				got := s.call(token, strings.ToUpper(method), names.Replace(path)+"?"+query, "")
				if got.status != http.StatusBadRequest {
					t.Errorf("%s %s?%s: got status %s", method, path, query, got)
				}
			}
		}
	}
	for _, name := range []string{"dryRun", "expires", "limit", "previous"} {
		if !walked[name] {
			t.Errorf("the document has no %s", name)
		}
	}
}

// TestADeletionOfAVersionThatIsNotNamedDeletesNothing sends If-Match in one header line and in two.
func TestADeletionOfAVersionThatIsNotNamedDeletesNothing(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	one := path(namespace, "photos")
	s.becomes(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	remove := func(query string, lines ...string) int {
		t.Helper()
		connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		expect.NoError(t, err)
		defer connection.Close()
		header := ""
		for _, line := range lines {
			header += "If-Match:" + line + "\r\n"
		}
		_, err = fmt.Fprintf(connection, "DELETE %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n%s"+
			"Connection: close\r\n\r\n", one+query, token, header)
		expect.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		expect.NoError(t, err)
		expect.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	stale := []string{"", " ", ",", " , ", `""`, `W/""`, `"1"`, `W/"1"`, `"*"`, "W/*"}
	for _, first := range stale {
		for _, lines := range [][]string{{first}, {first, ""}, {"", first}, {first, `"1"`}, {`"1"`, first}} {
			if status := remove("", lines...); status != http.StatusPreconditionFailed && status != http.StatusBadRequest {
				t.Fatalf("a deletion with If-Match in the lines %q: got status %d", lines, status)
			}
		}
	}
	tag := wire.ETag(stored(t, namespace, "photos"))
	for _, lines := range [][]string{{`"1"`, tag}, {tag, `"1"`}, {"", tag}, {"*"}, {}} {
		if status := remove("?dryRun=All", lines...); status != http.StatusNoContent {
			t.Errorf("a dry run with If-Match in the lines %q: got status %d", lines, status)
		}
	}
}
