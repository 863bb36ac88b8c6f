package histories

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/config/crd"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// defining is in the steps that change the CustomResourceDefinition of Darkrooms. They need a cluster of their own.
const defining = "the CustomResourceDefinition of an older version is installed"

// definitionSteps are what happens to the CustomResourceDefinition of Darkrooms.
var definitionSteps = []kind{
	{3, func(t *rapid.T) step {
		lacking := rapid.SliceOfNDistinct(rapid.SampledFrom(partsOfStatus()), 1, 3, rapid.ID[string]).Draw(t, "lacking")
		slices.Sort(lacking)
		// A part of what is lacking is not lacking in addition.
		lacking = slices.DeleteFunc(slices.Clone(lacking), func(part string) bool {
			return slices.ContainsFunc(lacking,
				func(whole string) bool { return part != whole && strings.HasPrefix(part, whole) })
		})
		return step{defining + ", which lacks " + strings.Join(lacking, ", "), func(w *world) error {
			w.policies = append(w.policies, func() error { return w.define() })
			if err := w.define(lacking...); err != nil || w.faults.Current() != "" {
				return err
			}
			return w.operatorsEnd(patience)
		}}
	}},
	platform(2, "the CustomResourceDefinition of this version is installed again",
		func(w *world) error { return w.define() }),
}

// partsOfStatus are the fields and values of the status that an older definition may lack.
var partsOfStatus = sync.OnceValue(func() []string {
	return slices.Sorted(maps.Keys(partsOf("status", statusSchema(currentDefinition()))))
})

// currentDefinition is that of this version.
func currentDefinition() *unstructured.Unstructured {
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(crd.Darkrooms, &definition.Object); err != nil {
		panic(err)
	}
	return definition
}

// statusSchema returns the schema of the status, as a part of a definition.
func statusSchema(definition *unstructured.Unstructured) map[string]any {
	versions := definition.Object["spec"].(map[string]any)["versions"].([]any)
	schema := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	return schema["properties"].(map[string]any)["status"].(map[string]any)
}

// partsOf returns functions that remove a field or a value from a schema, by the names that the operator has for them.
func partsOf(path string, schema map[string]any) map[string]func() {
	parts := map[string]func(){}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for name, property := range properties {
		if !slices.Contains(required, any(name)) {
			parts[path+"."+name] = func() { delete(properties, name) }
		}
		maps.Copy(parts, partsOf(path+"."+name, property.(map[string]any)))
	}
	if items, isList := schema["items"].(map[string]any); isList {
		maps.Copy(parts, partsOf(path+"[]", items))
	}
	if values, isEnum := schema["enum"].([]any); isEnum && len(values) > 1 {
		for _, value := range slices.Clone(values) {
			parts[fmt.Sprintf("%s: %q", path, value)] = func() {
				schema["enum"] = slices.DeleteFunc(schema["enum"].([]any), func(other any) bool { return other == value })
			}
		}
	}
	return parts
}

// define installs the definition of this version without some parts, and waits until it is served.
func (w *world) define(lacking ...string) error {
	if !w.isAlone {
		return errNothingToDo
	}
	wanted := currentDefinition()
	parts := partsOf("status", statusSchema(wanted))
	for _, part := range lacking {
		parts[part]()
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	if err := w.kube.Get(w.ctx, client.ObjectKeyFromObject(wanted), live); err != nil {
		return err
	}
	live.Object["spec"] = wanted.Object["spec"]
	if err := w.kube.Update(w.ctx, live); err != nil {
		return err
	}
	return wait.Limits{Timeout: patience, Period: restPeriod / 5}.Until(w.ctx, "the definition is served",
		func(ctx context.Context) error {
			err := checkDefinition(ctx, w.administrator)
			isServed := err == nil
			if len(lacking) == 0 && isServed || !isServed && strings.Contains(err.Error(), strings.Join(lacking, ", ")+":") {
				return nil
			}
			return fmt.Errorf("another one is served: %v", err) //nolint:errorlint // it may be nil
		})
}

// checkDefinition does what the operator does at its start, and does not wait for another definition.
func checkDefinition(ctx context.Context, kubeconfig *rest.Config) error {
	api, err := discovery.NewDiscoveryClientForConfig(kubeconfig)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := controller.CheckDefinition(ctx, api.RESTClient()); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
