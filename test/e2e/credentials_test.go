//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestAChangedSecretIsUsedAndAMissingKeyIsNamed(t *testing.T) {
	t.Parallel()
	for name, gate := range map[string]*v1alpha1.Gate{"without a gate": nil, "with a gate": {Resources: small}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rotateCredentials(t, gate)
		})
	}
}

func rotateCredentials(t *testing.T, gate *v1alpha1.Gate) {
	t.Helper()
	namespace := newNamespace(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "rotated"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": "old"},
	}
	create(t, secret)
	darkroom := newDarkroom(namespace, "rotating").Source(theSources.s3Reference("rotated")).
		Spec(func(s *v1alpha1.DarkroomSpec) { s.Gate = gate }).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitStatus(t, hostOf(darkroom), http.StatusForbidden)

	change(t, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"secretKey": secretKey} })
	waitServing(t, darkroom)
	waitSettled(t, darkroom)

	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	load.during(t, "a key is taken out", func() {
		change(t, secret, func(s *corev1.Secret) { delete(s.Data, "secretKey") })
		eventually(t, "the key is named", func(ctx context.Context) error {
			if err := says(ctx, darkroom, metav1.ConditionFalse, v1alpha1.ReasonSecretKeyMissing); err != nil {
				return err
			}
			condition := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionCredentialsReady)
			if condition == nil || condition.Status != metav1.ConditionFalse {
				return fmt.Errorf("the condition is %+v", condition)
			}
			return nil
		})
		mustMention(t, messageOfReady(darkroom), "rotated", "secretKey")
	})
	load.during(t, "the key is put back", func() {
		change(t, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"secretKey": secretKey} })
		waitSettled(t, darkroom)
	})
}
