//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// edit changes one valid spec into another. Afterwards the Darkroom settles, unless until waits for something else.
type edit struct {
	name string
	edit func(*v1alpha1.DarkroomSpec)
	// least is the minimum number of pods in the new spec.
	least int
	// until waits for the outcome of an edit after which the Darkroom is not ready.
	until func(*testing.T, *v1alpha1.Darkroom)
}

// ordinaryEdits are made in this order.
var ordinaryEdits = []edit{
	{name: "WebFolder to S3", least: 1, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Source = theSources.s3()
	}},
	{name: "1 to 3 replicas", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(3)) }},
	{name: "3 replicas to autoscaling", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: ptr.To(int32(3)), MaxReplicas: 4}
	}},
	{name: "autoscaling from 3 to from 1", least: 1, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Autoscaling.MinReplicas = ptr.To(int32(1))
	}},
	{name: "autoscaling to 3 replicas", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Autoscaling = nil }},
	{name: "3 to 2 replicas", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(2)) }},
	{name: "another version and an environment variable", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Version, spec.ExtraEnv = otherVersion, []corev1.EnvVar{{Name: "PLACE", Value: "darkroom"}}
	}},
	{name: "a ServiceAccount that is missing", least: 2, until: waitPodsRefused, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.PodTemplate = &v1alpha1.PodTemplate{ServiceAccountName: "missing"}
	}},
	{name: "the chart's ServiceAccount", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.PodTemplate = nil }},
	{name: "another host is added", least: 2, until: waitHosts, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.SubDomains = append([]string{"added." + spec.SubDomains[0]}, spec.SubDomains[0])
	}},
	{name: "the other host is removed", least: 2, until: waitHosts, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.SubDomains = spec.SubDomains[1:]
	}},
	{name: "a gate", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Gate = &v1alpha1.Gate{Resources: small} }},
	{name: "no gate", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Gate = nil }},
}

// Not parallel, because the load of other tests would distort the measurement.
func TestNoRequestFailsDuringOrdinaryEdits(t *testing.T) {
	editUnderLoad(t, newDarkroom(newNamespace(t), "edited").Obj(), ingressURL, ordinaryEdits)
}

// Not parallel, because the load of other tests would distort the measurement.
func TestNoRequestThroughAGatewayFailsDuringRollouts(t *testing.T) {
	requireGateways(t)
	editUnderLoad(t, newDarkroom(newNamespace(t), "rolled").Spec(routedBy("public")).Obj(), gatewayURL, []edit{
		{name: "logLevel with 1 replica", least: 1, edit: func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = "warn" }},
		{name: "1 to 3 replicas", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(3)) }},
		{name: "another version", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Version = otherVersion }},
		{name: "3 to 1 replicas", least: 1, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(1)) }},
	})
}

// editUnderLoad makes edits of a Darkroom one after the other, while its first host is requested from the server at a
// URL. No request may fail, and no ready endpoint may be missing.
func editUnderLoad(t *testing.T, darkroom *v1alpha1.Darkroom, url string, edits []edit) {
	t.Helper()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServingThrough(t, url, darkroom)
	host := hostOf(darkroom) // edits may reorder the hosts
	load := startLoadOf(func() (string, string) { return url, host })
	defer load.end(t)
	endpoints := watchEndpoints(t, darkroom)
	for _, edit := range edits {
		t.Run(edit.name, func(t *testing.T) {
			endpoints.expect(edit.least)
			load.during(t, edit.name, func() {
				change(t, darkroom, func(d *v1alpha1.Darkroom) { edit.edit(&d.Spec) })
				if edit.until != nil {
					edit.until(t, darkroom)
				} else {
					// Wait until the last replaced pod has ended, because requests would be lost only then.
					waitSettled(t, darkroom)
				}
				// Further requests show whether the end of the edit broke anything.
				waitRequests(t, load, 20)
			})
			endpoints.mustHaveHeld(t)
			load.mustNotHaveFailed(t)
		})
	}
}

// waitPodsRefused waits until the API server has rejected pods of the new template.
func waitPodsRefused(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	waitReason(t, darkroom, v1alpha1.ReasonPodsRefused)
}

// waitHosts waits until exactly the hosts of a Darkroom are served.
func waitHosts(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	if added := "added." + darkroom.Name + "." + darkroom.Namespace; !slices.Contains(darkroom.Spec.SubDomains, added) {
		waitStatus(t, added+"."+baseDomain, http.StatusNotFound)
	}
}

// waitRequests waits for a number of further requests.
func waitRequests(t *testing.T, load *load, more int) {
	t.Helper()
	before := load.count()
	eventually(t, fmt.Sprintf("%d more requests get a response", more), func(context.Context) error {
		if now := load.count(); now < before+more {
			return fmt.Errorf("there were %d", now-before)
		}
		return nil
	})
}

// Not parallel, because the load of other tests would distort the measurement.
//
// Nodes are drained while a Darkroom is idle, and while a rollout waits for an image.
func TestNoRequestFailsWhileAllPodsAreEvicted(t *testing.T) {
	darkroom := newDarkroom(newNamespace(t), "drained").Replicas(2).
		Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = probed(imagePath) }).Obj()
	serve(t, darkroom)
	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	load.during(t, "2 of 2 pods evicted", func() {
		evictAll(t, darkroom)
		waitSettled(t, darkroom)
	})
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Probe.Path = "/images/deleted.jpg" })
	waitReason(t, darkroom, v1alpha1.ReasonImageUnprocessable)
	load.during(t, "all evicted, a rollout waits", func() { evictAll(t, darkroom) })
}

// evictAll evicts the pods of a Darkroom one after the other, as its disruption budget allows. Each pod of the serving
// template is recreated.
func evictAll(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	pods, err := podsOf(t.Context(), darkroom)
	must(t, err)
	for i := range pods {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: pods[i].Name}}
		eventually(t, pods[i].Name+" is evicted", func(ctx context.Context) error {
			return client.IgnoreNotFound(clientset.PolicyV1().Evictions(darkroom.Namespace).Evict(ctx, eviction))
		})
	}
}
