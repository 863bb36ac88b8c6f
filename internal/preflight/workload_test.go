package preflight

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func rendered(t *testing.T) (*appsv1.Deployment, *unstructured.Unstructured) {
	t.Helper()
	selector := map[string]string{"app.kubernetes.io/name": "darkroom", "app.kubernetes.io/instance": "photos"}
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "photos", Labels: map[string]string{v1alpha1.LabelDarkroom: "photos"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](5),
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selector, Annotations: map[string]string{"a": "b"}},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: ptr.To[int64](40),
					SecurityContext:               &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true)},
					Containers: []corev1.Container{{
						Name: "darkroom", Image: "darkroom:v1", Env: []corev1.EnvVar{{Name: "KEY", Value: "value"}},
						Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 10}}},
					}},
				},
			},
		},
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	if err != nil {
		t.Fatal(err)
	}
	return deployment, &unstructured.Unstructured{Object: fields}
}

func TestAWorkloadRunsOnePodThatNothingElseSelects(t *testing.T) {
	original, source := rendered(t)
	made, err := Workload(source, "abc")
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, deployment); err != nil {
		t.Fatal(err)
	}
	if deployment.Name != "photos-preflight-abc" || deployment.Namespace != "shop" || *deployment.Spec.Replicas != 1 {
		t.Errorf("made %s/%s with %d pods", deployment.Namespace, deployment.Name, *deployment.Spec.Replicas)
	}
	if deployment.Labels[v1alpha1.LabelDarkroom] != "photos" || deployment.Labels[v1alpha1.LabelPreflight] != "abc" {
		t.Errorf("its labels are %v", deployment.Labels)
	}
	selects := func(selector *metav1.LabelSelector, pod map[string]string) bool {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Matches(labels.Set(pod))
	}
	pod := deployment.Spec.Template
	if !selects(deployment.Spec.Selector, pod.Labels) {
		t.Error("its selector does not select its pod")
	}
	if selects(original.Spec.Selector, pod.Labels) || selects(deployment.Spec.Selector, original.Spec.Template.Labels) {
		t.Error("the pods of one are selected by the other")
	}
	container := pod.Spec.Containers[0]
	if container.Image != "darkroom:v1" || len(container.Env) != 1 || !*pod.Spec.SecurityContext.RunAsNonRoot || pod.Annotations["a"] != "b" {
		t.Errorf("the pod is not of the template: %+v", pod)
	}
	if container.Lifecycle != nil || *pod.Spec.TerminationGracePeriodSeconds != 1 {
		t.Error("the pod ends with a pause")
	}
	if again, _ := rendered(t); source.GetName() != again.Name || original.Spec.Template.Spec.Containers[0].Lifecycle == nil {
		t.Error("the rendered Deployment was changed")
	}
}

func TestADeploymentWithoutATemplateIsRefused(t *testing.T) {
	if _, err := Workload(&unstructured.Unstructured{Object: map[string]any{}}, "abc"); err == nil {
		t.Error("it was accepted")
	}
}
