//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The garbage collector of Kubernetes removes the owner reference from each dependent, and then its own finalizer.
func TestADarkroomThatIsDeletedWithoutItsDependentsIsGoneAndServesOn(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "photos").Obj()
	serve(t, darkroom)
	if err := kube.Delete(t.Context(), darkroom, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Darkroom is gone", func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), &v1alpha1.Darkroom{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the Darkroom still exists (%w)", err)
	})
	deployment := &appsv1.Deployment{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), deployment); err != nil ||
		len(deployment.OwnerReferences) > 0 {
		t.Errorf("the Deployment has the owners %v (%v)", deployment.OwnerReferences, err)
	}
	waitServing(t, darkroom)
}
