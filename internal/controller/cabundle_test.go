package controller_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestMissingCertificatesOfAuthoritiesAreNamed(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "authorities"}, Data: map[string]string{"other.crt": "x"}})
	refs := map[string]*v1alpha1.CABundleRef{
		`ConfigMap authorities has no key "ca.crt"`:                           {Name: "authorities"},
		"Secret authorities does not exist in namespace " + namespace + ": c": {Kind: v1alpha1.CABundleSecret, Name: "authorities"},
	}
	for message, ref := range refs {
		name := strings.ToLower(message[:6])
		darkroom := webFolder(namespace, name)
		darkroom.Spec.Gate, darkroom.Spec.Source.CABundleRef = &v1alpha1.Gate{}, ref
		install(t, darkroom)
		// There is no kubelet here, which would not start the pod.
		failToStart(t, namespace, name)
		eventuallyStatus(t, darkroom, "the reference is named", says(message), isNotReady(v1alpha1.ReasonPodsFailing))
	}
}
