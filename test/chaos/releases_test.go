//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// revisions are the Secrets of all Helm releases.
func revisions(t *testing.T) []corev1.Secret {
	t.Helper()
	list := &corev1.SecretList{}
	must(t, kube.List(t.Context(), list, client.InNamespace("chaos"), client.MatchingLabels{"owner": "helm"}))
	return list.Items
}

// damageReleases damages the Secrets of all releases.
func damageReleases(t *testing.T) string {
	all := revisions(t)
	junk := mergePatch(`{"data":{"release":"anVuaw=="}}`)
	for i := range all {
		var err error
		secret := &all[i]
		switch digit := secret.Labels["name"][len(secret.Labels["name"])-1]; {
		case digit%3 == 0 && secret.Labels["status"] == "deployed":
			err = leavePending(secret.Name)
		case digit%3 == 1:
			err = kube.Patch(t.Context(), secret, junk)
		case digit%3 == 2:
			err = kube.Delete(t.Context(), secret)
		}
		// The operator may write at the same time.
		if tolerate(err) != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "each release has a record, and the newest is not junk", func(context.Context) error {
		newest, contents := map[string]int{}, map[string]string{}
		for _, secret := range revisions(t) {
			name := secret.Labels["name"]
			if number, err := strconv.Atoi(secret.Labels["version"]); err != nil {
				return err
			} else if number > newest[name] {
				newest[name], contents[name] = number, string(secret.Data["release"])
			}
		}
		if junk := slices.Contains(slices.Collect(maps.Values(contents)), "junk"); junk || len(newest) < fleet {
			return fmt.Errorf("%d of %d releases have a record; one is junk: %t", len(newest), fleet, junk)
		}
		return nil
	})
	return fmt.Sprintf("%d records; releases retried or recreated over their objects", len(all))
}

// leavePending sets a deployed release to pending since 1980, as if another Helm client had died during an upgrade.
func leavePending(secret string) error {
	past := helmtime.Time{Time: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	releases := driver.NewSecrets(clientset.CoreV1().Secrets("chaos"))
	release, err := releases.Get(secret)
	if err != nil {
		return err
	}
	release.Info.FirstDeployed, release.Info.LastDeployed = past, past
	release.SetStatus("pending-upgrade", "by another")
	return releases.Update(secret, release)
}
