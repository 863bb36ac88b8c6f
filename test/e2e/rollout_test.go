//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// ordinaryEdits are changes of one valid spec into another, in the order in which they
// are made. After each the Darkroom settles, unless until waits for something else.
var ordinaryEdits = []struct {
	name string
	edit func(*v1alpha1.DarkroomSpec)
	// least is the number of pods that the new spec asks for at least.
	least int
	// until waits for the outcome of an edit that leaves the Darkroom not ready.
	until func(*testing.T, *v1alpha1.Darkroom)
	// source is the pod that serves the images after the edit, where that changes.
	source string
}{
	{name: "WebFolder to S3", least: 1, source: bucketPod, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Source = theSources.s3Inline(accessKey, secretKey)
	}},
	{name: "S3 to WebFolder", least: 1, source: folderPod, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Source = theSources.webFolder()
	}},
	{name: "1 to 3 replicas", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(3)) }},
	{name: "logLevel with 3 replicas", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = "warn" }},
	{name: "3 replicas to autoscaling", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: ptr.To(int32(3)), MaxReplicas: 4}
	}},
	{name: "autoscaling from 3 to from 1", least: 1, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Autoscaling.MinReplicas = ptr.To(int32(1))
	}},
	{name: "autoscaling to 3 replicas", least: 3, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Autoscaling = nil }},
	{name: "3 to 2 replicas", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(2)) }},
	{name: "another version", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Version = otherVersion }},
	{name: "an environment variable", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.ExtraEnv = []corev1.EnvVar{{Name: "PLACE", Value: "darkroom"}}
	}},
	{name: "the default version again", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Version, spec.ExtraEnv = "", nil }},
	{name: "a ServiceAccount that exists", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { runAs(spec, existingAccount) }},
	{name: "a ServiceAccount that is missing", least: 2, until: waitPodsRefused, edit: func(spec *v1alpha1.DarkroomSpec) {
		runAs(spec, "missing")
	}},
	{name: "the chart's ServiceAccount", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.PodTemplate = nil }},
	{name: "from the chart's to a missing one", least: 2, until: waitPodsRefused, edit: func(spec *v1alpha1.DarkroomSpec) {
		runAs(spec, "missing")
	}},
	{name: "the chart's ServiceAccount again", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.PodTemplate = nil }},
	{name: "another host is added", least: 2, until: waitHosts, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.SubDomains = append(spec.SubDomains[:1:1], "added."+spec.SubDomains[0])
	}},
	{name: "the other host is renamed", least: 2, until: waitHosts, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.SubDomains = append([]string{"renamed." + spec.SubDomains[0]}, spec.SubDomains[0])
	}},
	{name: "the other host is removed", least: 2, until: waitHosts, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.SubDomains = spec.SubDomains[1:]
	}},
	{name: "a gate", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Gate = &v1alpha1.Gate{Resources: small} }},
	{name: "S3 behind the gate", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) {
		spec.Source = theSources.s3Inline(accessKey, secretKey)
	}},
	{name: "no gate", least: 2, edit: func(spec *v1alpha1.DarkroomSpec) { spec.Gate = nil }},
}

// existingAccount is a ServiceAccount of the user.
const existingAccount = "gallery"

func runAs(spec *v1alpha1.DarkroomSpec, account string) {
	spec.PodTemplate = &v1alpha1.PodTemplate{ServiceAccountName: account}
}

// Not parallel: a machine that is busy elsewhere would be measured.
func TestNoRequestFailsDuringOrdinaryEdits(t *testing.T) {
	darkroom := newDarkroom(newNamespace(t), "edited").Obj()
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: existingAccount}})
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	// Edits may reorder the hosts; this one stays.
	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	endpoints := watchEndpoints(t, darkroom)

	for _, edit := range ordinaryEdits {
		t.Run(edit.name, func(t *testing.T) {
			endpoints.expect(edit.least)
			load.during(t, edit.name, func() {
				change(t, darkroom, func(d *v1alpha1.Darkroom) { edit.edit(&d.Spec) })
				if edit.until != nil {
					edit.until(t, darkroom)
				} else {
					// Until the last pod that is replaced has ended: it is then that requests
					// would be lost.
					waitSettled(t, darkroom)
				}
				// Requests that follow show whether the edit broke something at its end.
				waitRequests(t, load, 20)
			})
			endpoints.mustHaveHeld(t)
			load.mustNotHaveFailed(t)
			if edit.source != "" {
				mustReadFrom(t, load, edit.source)
			}
		})
	}
}

// waitPodsRefused waits until the API server has refused pods of the new template.
func waitPodsRefused(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	eventually(t, "the new pods are refused", func(ctx context.Context) error {
		deployment := &appsv1.Deployment{}
		if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), deployment); err != nil {
			return err
		}
		refused := slices.ContainsFunc(deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue
		})
		if !refused || deployment.Status.ObservedGeneration != deployment.Generation {
			return fmt.Errorf("the Deployment's conditions are %+v", deployment.Status.Conditions)
		}
		return nil
	})
}

// waitHosts waits until exactly the hosts of a Darkroom are served.
func waitHosts(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	all := []string{"added." + darkroom.Name + "." + darkroom.Namespace, "renamed." + darkroom.Name + "." + darkroom.Namespace}
	for _, subDomain := range all {
		if !slices.Contains(darkroom.Spec.SubDomains, subDomain) {
			waitStatus(t, subDomain+"."+baseDomain, http.StatusNotFound)
		}
	}
}

// waitRequests waits until there were some more requests.
func waitRequests(t *testing.T, load *load, more int) {
	t.Helper()
	before, _ := load.count()
	eventually(t, fmt.Sprintf("%d more requests are answered", more), func(context.Context) error {
		if now, _ := load.count(); now < before+more {
			return fmt.Errorf("there were %d", now-before)
		}
		return nil
	})
}

// mustReadFrom makes sure that the load is served from a source, and from it alone.
func mustReadFrom(t *testing.T, load *load, source string) {
	t.Helper()
	count := func() map[string]int {
		counts := map[string]int{}
		for _, pod := range []string{folderPod, bucketPod} {
			served, err := theSources.served(t.Context(), pod, http.StatusOK)
			if err != nil {
				t.Fatal(err)
			}
			counts[pod] = served
		}
		return counts
	}
	before := count()
	waitRequests(t, load, 20)
	for pod, served := range count() {
		if got := served > before[pod]; got != (pod == source) {
			t.Errorf("%s was read %d times, though the source is %s", pod, served-before[pod], source)
		}
	}
}
