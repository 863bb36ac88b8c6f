package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestADamagedRevisionIsRecreatedOverItsObjects(t *testing.T) {
	t.Parallel()
	for name, upgrades := range map[string][]v1alpha1.LogLevel{"the only one": nil, "the last of three": {"warn", "error"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			startOperator(t, namespace, withPeriod(time.Second))
			darkroom := webFolder(namespace, "photos")
			create(t, darkroom)
			eventually(t, "the release", installed(namespace, "photos"))
			for _, level := range upgrades {
				change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = level })
				eventually(t, "the release", installed(namespace, "photos"))
			}
			deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")

			damaged := mustGet(t, &corev1.Secret{}, namespace, fmt.Sprintf("sh.helm.release.v1.photos.v%d", len(upgrades)+1))
			change(t, damaged, func(s *corev1.Secret) { s.Data["release"] = []byte("junk") })
			eventually(t, "a readable revision", func(ctx context.Context) error {
				list := &corev1.SecretList{}
				if err := kube.List(ctx, list, inNamespace(namespace)); err != nil {
					return err
				}
				deployed := 0
				for _, secret := range list.Items {
					if string(secret.Data["release"]) == "junk" {
						return errors.New("the damaged one is still there")
					}
					if secret.Labels["status"] == "deployed" {
						deployed++
					}
				}
				if deployed != 1 {
					return fmt.Errorf("%d revisions are deployed", deployed)
				}
				return installed(namespace, "photos")(ctx)
			})
			now := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
			if now.UID != deployment.UID || now.Generation != deployment.Generation {
				t.Error("the Deployment was changed, and its pods with it")
			}
		})
	}
}
