package storage_test

import (
	"testing"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

func TestSecretsOfRevisionsAreToldApart(t *testing.T) {
	for status, history := range map[helmrelease.Status]bool{
		helmrelease.StatusUnknown: false, helmrelease.StatusDeployed: false, helmrelease.StatusUninstalled: false,
		helmrelease.StatusSuperseded: true, helmrelease.StatusFailed: true, helmrelease.StatusUninstalling: false,
		helmrelease.StatusPendingInstall: false, helmrelease.StatusPendingUpgrade: false,
		helmrelease.StatusPendingRollback: false,
	} {
		d, store := newDarkroom(t)
		mustCreate(t, store, revisionOf(d, 1, status))
		byHand(t, revisionOf(d, 2, status))
		for i, secret := range secretsOf(t, d) {
			if storage.IsHistory(&secret) != history || storage.WrittenByHand(&secret) != (i == 1) {
				t.Errorf("%s, revision %d: history: %t, by hand: %t", status, i+1, storage.IsHistory(&secret),
					storage.WrittenByHand(&secret))
			}
			secret.Labels["owner"] = "somebody"
			if storage.IsHistory(&secret) || storage.WrittenByHand(&secret) || storage.ReleaseLabels(&secret) != nil {
				t.Errorf("%s: an unrelated Secret counts as a revision", status)
			}
		}
	}
	if storage.WrittenByHand(&corev1.Secret{}) {
		t.Error("a Secret without labels counts as a revision")
	}
}
