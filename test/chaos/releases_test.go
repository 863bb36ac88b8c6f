//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// revisions are Helm's records of all releases.
func revisions(t *testing.T) []corev1.Secret {
	t.Helper()
	list := &corev1.SecretList{}
	if err := kube.List(t.Context(), list, client.InNamespace("chaos"), client.MatchingLabels{"owner": "helm"}); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// releaseFromThePast has each deployed release be of 1980, and every second one
// pending since then, as if another Helm client had died over it.
func releaseFromThePast(t *testing.T, _ *operator) string {
	past := helmtime.Time{Time: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	releases := driver.NewSecrets(clientset.CoreV1().Secrets("chaos"))
	deployed, pending := 0, 0
	for _, secret := range revisions(t) {
		if secret.Labels["status"] != "deployed" {
			continue
		}
		release, err := releases.Get(secret.Name)
		if err != nil {
			t.Fatal(err)
		}
		release.Info.FirstDeployed, release.Info.LastDeployed = past, past
		if deployed++; deployed%2 == 0 {
			release.SetStatus("pending-upgrade", "by another")
			pending++
		}
		if err := releases.Update(secret.Name, release); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%d releases, %d of them pending since then", deployed, pending)
}

func corruptReleases(t *testing.T, _ *operator) string {
	all := revisions(t)
	junk := client.RawPatch(types.MergePatchType, []byte(`{"data":{"release":"anVuaw=="}}`))
	for i := range all {
		// The operator may write at the same time.
		if err := tolerate(kube.Patch(t.Context(), &all[i], junk)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "no newest record is junk", func(ctx context.Context) error {
		list := &corev1.SecretList{}
		if err := kube.List(ctx, list, client.InNamespace("chaos"), client.MatchingLabels{"owner": "helm"}); err != nil {
			return err
		}
		newest := map[string]*corev1.Secret{}
		for i := range list.Items {
			secret := &list.Items[i]
			last := newest[secret.Labels["name"]]
			if last == nil || revisionOf(t, secret) > revisionOf(t, last) {
				newest[secret.Labels["name"]] = secret
			}
		}
		left := 0
		for _, secret := range newest {
			if string(secret.Data["release"]) == "junk" {
				left++
			}
		}
		if left > 0 || len(newest) < fleet {
			return fmt.Errorf("%d of %d newest records are junk", left, len(newest))
		}
		return nil
	})
	return fmt.Sprintf("%d records; releases recreated over their objects", len(all))
}

func revisionOf(t *testing.T, secret *corev1.Secret) int {
	t.Helper()
	number, err := strconv.Atoi(secret.Labels["version"])
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func deleteReleases(t *testing.T, _ *operator) string {
	all := revisions(t)
	for i := range all {
		if err := tolerate(kube.Delete(t.Context(), &all[i])); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "each has a record again", func(context.Context) error {
		if got := len(revisions(t)); got < fleet {
			return errors.New("some have none")
		}
		return nil
	})
	return fmt.Sprintf("%d records; releases recreated over their objects", len(all))
}
