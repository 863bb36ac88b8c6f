package install

import (
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// texts are the values of text fields in security contexts, for all fields.
var texts = []string{
	"Unconfined", "RuntimeDefault", "Localhost", "Unmasked", "spc_t", "SYS_ADMIN",
	"NET_BIND_SERVICE", "ALL", "Always",
}

// variants returns values of a type; for a struct, values with one of its fields set.
func variants(kind reflect.Type) []reflect.Value {
	var all []reflect.Value
	add := func(value any) { all = append(all, reflect.ValueOf(value).Convert(kind)) }
	switch kind.Kind() {
	case reflect.Bool:
		add(true)
		add(false)
	case reflect.Int64:
		add(0)
		add(1000)
	case reflect.String:
		for _, text := range texts {
			add(text)
		}
	case reflect.Pointer:
		for _, value := range variants(kind.Elem()) {
			pointer := reflect.New(kind.Elem())
			pointer.Elem().Set(value)
			all = append(all, pointer)
		}
	case reflect.Slice:
		for _, value := range variants(kind.Elem()) {
			all = append(all, reflect.Append(reflect.Zero(kind), value))
		}
	case reflect.Struct:
		for i := range kind.NumField() {
			for _, value := range variants(kind.Field(i).Type) {
				holder := reflect.New(kind).Elem()
				holder.Field(i).Set(value)
				all = append(all, holder)
			}
		}
	}
	return all
}

// withEachField calls a function with an object for each value of each of its fields. The field is set only during the
// call.
func withEachField(object any, do func(name string)) {
	holder := reflect.ValueOf(object).Elem()
	for i := range holder.NumField() {
		before := reflect.New(holder.Field(i).Type()).Elem()
		before.Set(holder.Field(i))
		for _, value := range variants(holder.Type().Field(i).Type) {
			holder.Field(i).Set(value)
			do(holder.Type().Field(i).Name)
		}
		holder.Field(i).Set(before)
	}
}

// TestTheGuardRefusesPodsThatTheStandardRestrictedForbids tries all fields of pods. The API server itself reports
// violations of the Pod Security Standard restricted, by a warning to the administrator.
func TestTheGuardRefusesPodsThatTheStandardRestrictedForbids(t *testing.T) {
	_, operator := guardedOperator(t)
	kube, warnings := connect(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "restricted-", Labels: map[string]string{"pod-security.kubernetes.io/warn": "restricted"},
	}}
	must(t, kube.Create(t.Context(), namespace))
	deployment := convert[appsv1.Deployment](t, decode(t, []byte(pod("", "")))[0])
	deployment.Namespace = namespace.Name
	judged, forbidden := 0, 0
	judge := func(name string) {
		warnings.Reset()
		if kube.Create(t.Context(), deployment.DeepCopy(), client.DryRunAll) != nil {
			return // not a valid pod
		}
		judged++
		err := operator.Create(t.Context(), deployment.DeepCopy(), client.DryRunAll)
		if strings.Contains(warnings.String(), "would violate PodSecurity") {
			forbidden++
			if err == nil {
				t.Errorf("%s: the guard lets through %+v\n%s", name, deployment.Spec.Template.Spec, warnings)
			}
		}
	}
	judge("nothing")
	if judged != 1 || forbidden != 0 {
		t.Fatalf("the test's own pod violates the standard: %s", warnings)
	}
	pod := &deployment.Spec.Template.Spec
	withEachField(pod.SecurityContext, judge)
	withEachField(pod.Containers[0].SecurityContext, judge)
	for _, field := range []*bool{&pod.HostNetwork, &pod.HostPID, &pod.HostIPC} {
		*field = true
		judge("namespaces of the node")
		*field = false
	}
	if judged < 60 || forbidden < 30 {
		t.Errorf("%d pods were judged, of which %d violate the standard: too few", judged, forbidden)
	}
	t.Logf("%d pods were judged, of which %d violate the standard", judged, forbidden)
}
