package controller

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// refuses calls all methods of an interface except some with zero values, and expects an error from each that returns
// one. It also fails if a later version of the interface adds a method and the client passes it on.
func refuses[api any](t *testing.T, value api, used ...string) {
	t.Helper()
	methods := reflect.TypeFor[api]()
	for i := range methods.NumMethod() {
		method := methods.Method(i)
		last := method.Type.NumOut() - 1
		if slices.Contains(used, method.Name) || method.Type.Out(last) != reflect.TypeFor[error]() {
			continue
		}
		var arguments []reflect.Value
		for j := range method.Type.NumIn() {
			if !method.Type.IsVariadic() || j < method.Type.NumIn()-1 {
				arguments = append(arguments, reflect.Zero(method.Type.In(j)))
			}
		}
		err, _ := reflect.ValueOf(value).MethodByName(method.Name).Call(arguments)[last].Interface().(error)
		if !errors.Is(err, errRefused) {
			t.Errorf("%s of %s: got error %v, want errRefused", method.Name, methods, err)
		}
	}
}

func TestTheHelmReconcilerCanOnlyReadItsDarkroomAndWriteFinalizerAndConditions(t *testing.T) {
	t.Parallel()
	// A request would need fields that this session does not have.
	c := &helmClient{session: &session{darkroom: darkrooms.New("photos", "team-a").Obj()}}
	refuses[client.Client](t, c, "Get", "Update")
	refuses(t, c.Status(), "Update")
	refuses(t, c.SubResource("status"))
	if kinds := c.Scheme().AllKnownTypes(); len(kinds) > 0 {
		t.Errorf("the scheme has %d types, want none", len(kinds))
	}
	if _, err := c.RESTMapper().RESTMapping(v1alpha1.GroupVersionKind.GroupKind()); err == nil {
		t.Error("the mapper maps kinds to resources")
	}

	other := &unstructured.Unstructured{}
	other.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	other.SetNamespace("team-a")
	other.SetName("cats")
	for name, object := range map[string]client.Object{"another Darkroom": other, "a Secret": &corev1.Secret{}} {
		for method, err := range map[string]error{
			"get":           c.Get(t.Context(), client.ObjectKeyFromObject(object), object),
			"update":        c.Update(t.Context(), object),
			"update status": c.Status().Update(t.Context(), object),
		} {
			if !errors.Is(err, errRefused) {
				t.Errorf("%s of %s: got error %v", method, name, err)
			}
		}
	}
}
