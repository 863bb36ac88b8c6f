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

// document is the OpenAPI document, which TestOpenAPIDocument compares with the document that servers serve.
var document = sync.OnceValue(func() (out map[string]any) {
	if err := json.Unmarshal(must(apiserver.Document(testVersion)), &out); err != nil {
		panic(err)
	}
	return out
})

var schemas = sync.OnceValue(func() *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("openapi.json", document()); err != nil {
		panic(err)
	}
	return compiler
})

var compiling sync.Mutex

// checkContract checks that a response conforms to the OpenAPI document: its status is listed, and its body is valid.
// It checks every response in every test.
func checkContract(t *testing.T, method, path string, got answer) {
	t.Helper()
	pattern, operation := operationOf(document(), method, path)
	if operation == nil {
		return
	}
	status := fmt.Sprint(got.status)
	response, listed := operation["responses"].(map[string]any)[status].(map[string]any)
	mediaType, _, _ := mime.ParseMediaType(got.header.Get("Content-Type"))
	content, _ := response["content"].(map[string]any)
	if !listed || got.body != "" && len(content) == 0 {
		t.Errorf("%s %s got status %s of type %q, which is not in the document", method, path, got, mediaType)
		return
	}
	if got.body == "" || !strings.HasSuffix(mediaType, "json") {
		return
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	pointer := strings.Join([]string{
		"", "paths", escape(pattern), strings.ToLower(method), "responses", status, "content", escape(mediaType), "schema",
	}, "/")
	compiling.Lock()
	schema, err := schemas().Compile("openapi.json#" + pointer)
	compiling.Unlock()
	if err != nil {
		t.Errorf("schema %s: %v", pointer, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(got.body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("the response does not conform to %s: %v\n%s", pointer, err, got.body)
	}
}

// operationOf returns the operation of a request, or nil.
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

// everySchema calls a function with each schema of an object in a document.
func everySchema(value any, at string, check func(at string, schema map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		if value["type"] == "object" {
			check(at, value)
		}
		for name, inner := range value {
			everySchema(inner, at+"/"+name, check)
		}
	case []any:
		for i, inner := range value {
			everySchema(inner, fmt.Sprint(at, "/", i), check)
		}
	}
}

func TestOpenAPIDocument(t *testing.T) {
	s := start(t)
	got := s.want(http.StatusOK, "", "GET", "/openapi.json", "")
	api := document()
	if !reflect.DeepEqual(into[map[string]any](t, got), api) {
		t.Error("servers serve a different document than Document returns")
	}
	if version := api["openapi"].(string); !strings.HasPrefix(version, "3.1") {
		t.Errorf("openapi is %s, want 3.1", version)
	}

	// Generated clients have no fields for open schemas, and may omit fields that are not required.
	t.Run("generated clients can write", func(t *testing.T) {
		everySchema(api, "", func(at string, schema map[string]any) {
			for _, open := range []string{"properties", "additionalProperties", "oneOf", "anyOf"} {
				if _, found := schema[open]; found {
					return
				}
			}
			t.Errorf("%s is an object without fields", at)
		})
		for path, item := range api["paths"].(map[string]any) {
			for method, operation := range item.(map[string]any) {
				_, needed := operation.(map[string]any)["responses"].(map[string]any)["428"]
				parameters, _ := operation.(map[string]any)["parameters"].([]any)
				required := slices.ContainsFunc(parameters, func(parameter any) bool {
					return parameter.(map[string]any)["name"] == "If-Match" && parameter.(map[string]any)["required"] == true
				})
				if needed != required {
					t.Errorf("%s %s: If-Match is required in the document: %v, want %v", method, path, required, needed)
				}
			}
		}
	})

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
