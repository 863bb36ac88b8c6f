package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// TestAnAutoscalerOfTheScaleSubresourceSetsThePods acts as KEDA and its HorizontalPodAutoscaler. They read the number
// of pods and their selector from the scale subresource, and write the desired number there at each poll.
func TestAnAutoscalerOfTheScaleSubresourceSetsThePods(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	eventuallyShown := func(replicas int32) {
		t.Helper()
		eventuallyIs(t, fmt.Sprintf("%d replicas", replicas), &appsv1.Deployment{}, namespace, "photos",
			func(d *appsv1.Deployment) bool {
				return *d.Spec.Replicas == replicas
			})
		becomeReady(t, namespace, "photos")
		eventually(t, "the pods in the scale subresource", func(ctx context.Context) error {
			seen := &autoscalingv1.Scale{}
			err := kube.SubResource("scale").Get(ctx, darkroom, seen)
			if err == nil && (seen.Status.Replicas != replicas || seen.Status.Selector == "") {
				err = fmt.Errorf("got status %+v", seen.Status)
			}
			return err
		})
	}
	for _, replicas := range []int32{4, 2, 0, 3} {
		scaleTo(t, darkroom, replicas, "keda")
		eventuallyShown(replicas)
	}

	eventually(t, "rest", quiet(operator))
	before := mustGet(t, &appsv1.Deployment{}, namespace, "photos").ResourceVersion
	for range 5 {
		scaleTo(t, darkroom, 3, "keda")
	}
	eventually(t, "rest", quiet(operator))
	if now := mustGet(t, &appsv1.Deployment{}, namespace, "photos"); now.ResourceVersion != before {
		t.Error("writing the same number again wrote the Deployment")
	}

	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	if got := *mustGet(t, &appsv1.Deployment{}, namespace, "photos").Spec.Replicas; got != 3 {
		t.Errorf("got %d replicas after an unrelated change, want 3", got)
	}
}

// TestAGitOpsToolAndAScalerShareADarkroom acts as Argo CD or Flux, which apply Darkrooms by server-side apply at
// intervals. Neither the tool nor the operator may undo changes of the autoscaler.
func TestAGitOpsToolAndAScalerShareADarkroom(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	operator := startOperator(t, namespace)
	apply := func(spec string) *unstructured.Unstructured {
		t.Helper()
		objects, err := manifests.Decode(
			[]byte("apiVersion: deployments.example.com/v1alpha1\nkind: Darkroom\nmetadata: {name: photos, namespace: " +
				namespace + "}\nspec: " + spec),
		)
		if err != nil {
			t.Fatal(err)
		}
		err = kube.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(objects[0]),
			client.FieldOwner("argocd-controller"), client.ForceOwnership)
		if err != nil {
			t.Fatal(err)
		}
		return objects[0]
	}
	const inGit = "{source: {type: WebFolder, baseUrl: 'https://images.example.com'}, subDomains: [photos]}"
	darkroom := apply(inGit)
	eventually(t, "the release", installed(namespace, "photos"))
	scaleTo(t, darkroom, 4, "keda")
	eventually(t, "the replicas of the scaler", installed(namespace, "photos"))
	eventually(t, "rest", quiet(operator))

	before := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos")
	apply(inGit)
	after := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos")
	if after.ResourceVersion != before.ResourceVersion || *after.Spec.Replicas != 4 {
		t.Errorf("applying the same manifest again changed the Darkroom: %d replicas, %+v", *after.Spec.Replicas, after.ManagedFields)
	}
	for _, entry := range after.ManagedFields {
		if strings.Contains(entry.FieldsV1.GetRawString(), `"f:spec"`) &&
			entry.Manager != "argocd-controller" && entry.Manager != "keda" {
			t.Errorf("field manager %s owns a part of the spec: %s", entry.Manager, entry.FieldsV1.GetRawString())
		}
	}

	// A manifest that contains the number of pods takes over the field.
	apply(strings.Replace(inGit, "{", "{replicas: 2, ", 1))
	if got := *mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Spec.Replicas; got != 2 {
		t.Errorf("got %d replicas, want 2 from the manifest", got)
	}
}
