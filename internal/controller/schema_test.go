package controller

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/definition"
)

// each calls a function with every schema that is the given one without a field or a value.
func each(
	path string, whole apiextensionsv1.JSONSchemaProps, call func(lacking string, part apiextensionsv1.JSONSchemaProps),
) {
	for name, field := range whole.Properties {
		with := func(change func(map[string]apiextensionsv1.JSONSchemaProps)) apiextensionsv1.JSONSchemaProps {
			part := whole
			part.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
			for name, field := range whole.Properties {
				part.Properties[name] = field
			}
			change(part.Properties)
			return part
		}
		call(path+"."+name, with(func(fields map[string]apiextensionsv1.JSONSchemaProps) { delete(fields, name) }))
		each(path+"."+name, field, func(lacking string, part apiextensionsv1.JSONSchemaProps) {
			call(lacking, with(func(fields map[string]apiextensionsv1.JSONSchemaProps) { fields[name] = part }))
		})
	}
	if whole.Items != nil {
		each(path+"[]", *whole.Items.Schema, func(lacking string, part apiextensionsv1.JSONSchemaProps) {
			item := whole
			item.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &part}
			call(lacking, item)
		})
	}
	for i, value := range whole.Enum {
		part := whole
		part.Enum = slices.Delete(slices.Clone(whole.Enum), i, i+1)
		call(path+": "+string(value.Raw), part)
	}
}

func TestEachFieldThatADefinitionLacksIsNamed(t *testing.T) {
	t.Parallel()
	written, err := definition.Schema()
	if err != nil {
		t.Fatal(err)
	}
	status, found := written.Properties["status"], 0
	if lacking := lacks("status", status, status); len(lacking) > 0 {
		t.Errorf("the own definition lacks %v", lacking)
	}
	each("status", status, func(lacking string, part apiextensionsv1.JSONSchemaProps) {
		found++
		if got := lacks("status", status, part); !slices.Equal(got, []string{lacking}) {
			t.Errorf("without %s, %v are lacking", lacking, got)
		}
	})
	if found < 30 {
		t.Errorf("there are only %d fields and values", found)
	}
}

// The first definition is older for some seconds while the definitions of a release are applied one after the other.
func TestAnOlderDefinitionThatLastsEndsTheManager(t *testing.T) {
	t.Parallel()
	whole, err := definition.Schema()
	if err != nil {
		t.Fatal(err)
	}
	older := whole.DeepCopy()
	delete(older.Properties["status"].Properties, "baseDomain")
	for answers, want := range map[string]bool{
		"+++++":   false,
		"---":     true,
		"+--+--+": false,
		"-?-?-":   true,
		"--?+--":  false,
		"????":    false,
	} {
		asked, read, last, changes := 0, 0, '?', 0
		for _, answer := range answers {
			if answer != '?' && answer != last {
				last = answer
				changes++
			}
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			const document = "/openapi/v3/apis/deployments.example.com/v1alpha1"
			answer := any(map[string]any{"components": map[string]any{"schemas": map[string]any{
				"com.example.deployments.v1alpha1.Darkroom": map[string]any{
					"older":   older,
					"current": whole,
				}[request.URL.Query().Get("hash")],
			}}})
			if request.URL.Path == document {
				read++
			} else {
				hash := map[byte]string{'+': "current", '-': "older"}[answers[asked]]
				asked++
				if hash == "" {
					http.Error(w, "not now", http.StatusServiceUnavailable)
					return
				}
				answer = map[string]any{"paths": map[string]any{
					"apis/deployments.example.com/v1alpha1": map[string]any{"serverRelativeURL": document + "?hash=" + hash},
				}}
			}
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		}))
		api, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		watch := &servedDefinition{api: openapi.NewClientWithContext(api.RESTClient())}
		for asked < len(answers) && err == nil {
			err = watch.check(t.Context())
		}
		if errors.Is(err, ErrClusterChanged) != want || asked != len(answers) {
			t.Errorf("%s: after %d answers: %v", answers, asked, err)
		}
		if read != changes {
			t.Errorf("%s: the document was read %d times, and changed %d times", answers, read, changes)
		}
		server.Close()
	}
}
