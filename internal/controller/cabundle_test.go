package controller_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
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
		create(t, darkroom)
		eventually(t, "the release", installed(namespace, name))
		// There is no kubelet here, which would not start the pod.
		deployment := mustGet(t, &appsv1.Deployment{}, namespace, name)
		deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, UnavailableReplicas: 1}
		if err := kube.Status().Update(t.Context(), deployment); err != nil {
			t.Fatal(err)
		}
		eventuallyStatus(t, darkroom, "the reference is named", says(message, v1alpha1.ReasonPodsFailing))
	}
}
