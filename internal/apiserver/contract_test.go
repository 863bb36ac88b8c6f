package apiserver_test

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// document is the OpenAPI document, which TestOpenAPIDocument compares with what servers serve.
var document = sync.OnceValues(func() (map[string]any, error) {
	raw, err := apiserver.Document(testVersion)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(raw, &out)
})

var schemas = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	api, err := document()
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	return compiler, compiler.AddResource("openapi.json", api)
})

var compiling sync.Mutex

// checkContract checks that an answer is as the OpenAPI document says: its status is
// listed, and its body is valid. It looks at every answer of every test.
func checkContract(t *testing.T, method, path string, got answer) {
	t.Helper()
	api, err := document()
	if err != nil {
		t.Fatal(err)
	}
	pattern, operation := operationOf(api, method, path)
	if operation == nil {
		return
	}
	status := fmt.Sprint(got.status)
	responses := operation["responses"].(map[string]any)
	response, listed := responses[status].(map[string]any)
	if !listed {
		t.Errorf("%s %s answers %d, which is not in the document: %s", method, path, got.status, got.body)
		return
	}
	if got.body == "" {
		return
	}
	mediaType, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil {
		t.Errorf("%s %s: content type: %v", method, path, err)
		return
	}
	content, _ := response["content"].(map[string]any)
	if !strings.HasSuffix(mediaType, "json") {
		if len(content) == 0 {
			t.Errorf("%s %s answers %s, which is not in the document", method, path, mediaType)
		}
		return
	}
	pointer := strings.Join([]string{
		"", "paths", escape(pattern), strings.ToLower(method), "responses", status, "content", escape(mediaType), "schema",
	}, "/")
	validate(t, "openapi.json#"+pointer, got.body)
}

func validate(t *testing.T, schemaURL, body string) {
	t.Helper()
	compiler, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	compiling.Lock()
	schema, err := compiler.Compile(schemaURL)
	compiling.Unlock()
	if err != nil {
		t.Errorf("schema %s: %v", schemaURL, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Errorf("not JSON: %v: %s", err, body)
		return
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("answer is not as %s says: %v\n%s", schemaURL, err, body)
	}
}

func escape(part string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
}

// operationOf finds the operation that a request is for, or nil.
func operationOf(api map[string]any, method, path string) (string, map[string]any) {
	path, _, _ = strings.Cut(path, "?")
	for pattern, item := range api["paths"].(map[string]any) {
		want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
		if slices.EqualFunc(want, have, func(w, h string) bool { return w == h || strings.HasPrefix(w, "{") && h != "" }) {
			operation, _ := item.(map[string]any)[strings.ToLower(method)].(map[string]any)
			return pattern, operation
		}
	}
	return "", nil
}

func TestOpenAPIDocument(t *testing.T) {
	s := start(t)
	got := s.want(http.StatusOK, "", "GET", "/openapi.json", "")
	api, err := document()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(into[map[string]any](t, got), api) {
		t.Error("servers serve another document than Document returns")
	}
	if version := api["openapi"].(string); !strings.HasPrefix(version, "3.1") {
		t.Errorf("openapi is %s, want 3.1", version)
	}

	t.Run("every operation is closed unless it is public", func(t *testing.T) {
		open := []any{"signIn", "signOut", "getSignIn"}
		for path, item := range api["paths"].(map[string]any) {
			for method, operation := range item.(map[string]any) {
				if slices.Contains(open, operation.(map[string]any)["operationId"]) {
					continue
				}
				target := strings.NewReplacer("{namespace}", "default", "{name}", "photos").Replace(path)
				answer := s.want(http.StatusUnauthorized, "", strings.ToUpper(method), target, "")
				problemOf(t, answer)
				if answer.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s %s: 401 without WWW-Authenticate", method, path)
				}
			}
		}
	})
}
