//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The operator's own rights must suffice for every kind that the chart can make,
// and to take each away again.
func TestEveryKindIsMadeAndTakenAwayUnderTheOperatorsOwnRights(t *testing.T) {
	t.Parallel()
	requireGateways(t)
	namespace := newNamespace(t)
	darkroom := newDarkroom(namespace, "kinds").
		Source(theSources.s3Inline(accessKey, secretKey)).
		Autoscaling(2, 3).
		Spec(routedBy("public")).
		Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: true}
			spec.Metrics = &v1alpha1.Metrics{Enabled: true, ServiceMonitor: true}
		}).Obj()
	create(t, darkroom)
	wanted := []string{
		"ConfigMap kinds-…", "Deployment kinds", "HTTPRoute kinds", "HorizontalPodAutoscaler kinds", "NetworkPolicy kinds",
		"PodDisruptionBudget kinds", "Secret kinds-credentials-…", "Service kinds", "Service kinds-blocked-…",
		"ServiceAccount kinds", "ServiceMonitor kinds",
	}
	waitOwned(t, darkroom, wanted)
	waitReady(t, darkroom)
	waitServingThrough(t, gatewayURL, darkroom)

	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Autoscaling, d.Spec.Gateway, d.Spec.NetworkPolicy, d.Spec.Metrics = nil, nil, nil, nil
		d.Spec.Source = theSources.webFolder()
	})
	waitOwned(t, darkroom, []string{
		"ConfigMap kinds-…", "Deployment kinds", "Ingress kinds", "Service kinds", "Service kinds-blocked-…", "ServiceAccount kinds",
	})
	waitReady(t, darkroom)
	waitServing(t, darkroom)
}

// contentHash ends the names of the ConfigMap, the Secret and the Service that leads nowhere.
var contentHash = regexp.MustCompile("-[0-9a-f]{10,}$")

// waitOwned waits until a Darkroom has exactly these objects, revisions aside.
func waitOwned(t *testing.T, darkroom *v1alpha1.Darkroom, wanted []string) {
	t.Helper()
	eventually(t, darkroom.Name+" has its objects", func(ctx context.Context) error {
		objects, err := objectsIn(ctx, darkroom.Namespace)
		if err != nil {
			return err
		}
		owned := slices.DeleteFunc(ownedBy(objects, darkroom), isRevision)
		got := names(owned)
		for i := range got {
			got[i] = contentHash.ReplaceAllString(got[i], "-…")
		}
		if !slices.Equal(got, wanted) {
			return fmt.Errorf("it has %q, want %q", got, wanted)
		}
		return nil
	})
}
