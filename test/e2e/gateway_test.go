//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestAWebFolderIsServedThroughAGateway(t *testing.T) {
	t.Parallel()
	requireGateways(t)
	darkroom := newDarkroom(newNamespace(t), "attached").Spec(routedBy("public")).Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	waitServingThrough(t, gatewayURL, darkroom)

	mustHaveDomains(t, darkroom, metav1.ConditionTrue)
	if want := "http://" + hostOf(darkroom); darkroom.Status.URL != want {
		t.Errorf("status.url is %q, want %q", darkroom.Status.URL, want)
	}
	if err := hasNoIngress(t.Context(), darkroom); err != nil {
		t.Error(err)
	}
	waitStatus(t, hostOf(darkroom), http.StatusNotFound)
}

func TestMetricsOfPodsAreNotServedThroughTheGateway(t *testing.T) {
	t.Parallel()
	requireGateways(t)
	darkroom := newDarkroom(newNamespace(t), "metrics").Spec(routedBy("public")).Spec(func(spec *v1alpha1.DarkroomSpec) {
		spec.Metrics = &v1alpha1.Metrics{Enabled: true}
	}).Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	waitServingThrough(t, gatewayURL, darkroom)

	inside, err := throughService(t.Context(), darkroom, "/metrics", nil)
	if err != nil || !bytes.Contains(inside, []byte("# TYPE")) {
		t.Fatalf("the pod itself has no metrics to hide: %v: %.200q", err, inside)
	}
	for _, path := range []string{"/metrics", "/metrics?a=b", "/%6detrics"} {
		status, outside, err := throughGateway(t.Context(), hostOf(darkroom), path)
		if err != nil {
			t.Fatal(err)
		}
		if status < http.StatusBadRequest || bytes.Contains(outside, []byte("# TYPE")) {
			t.Errorf("%s answers %d through the Gateway: %.200q", path, status, outside)
		}
		t.Logf("%s answers %d", path, status)
	}
}

// rolloutsBehindAGateway replace the pods of a Darkroom.
var rolloutsBehindAGateway = []struct {
	name string
	edit func(*v1alpha1.DarkroomSpec)
}{
	{"logLevel with 1 replica", func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = "warn" }},
	{"WebFolder to S3", func(spec *v1alpha1.DarkroomSpec) { spec.Source = theSources.s3Inline(accessKey, secretKey) }},
	{"1 to 3 replicas", func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(3)) }},
	{"another version", func(spec *v1alpha1.DarkroomSpec) { spec.Version = otherVersion }},
	{"3 to 1 replicas", func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(1)) }},
	{"an environment variable", func(spec *v1alpha1.DarkroomSpec) {
		spec.ExtraEnv = []corev1.EnvVar{{Name: "PLACE", Value: "darkroom"}}
	}},
}

// Not parallel: a machine that is busy elsewhere would be measured.
func TestNoRequestThroughAGatewayFailsDuringRollouts(t *testing.T) {
	requireGateways(t)
	darkroom := newDarkroom(newNamespace(t), "rolled").Spec(routedBy("public")).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServingThrough(t, gatewayURL, darkroom)
	host := hostOf(darkroom)
	load := startLoadOf(func() (string, string) { return gatewayURL, host })
	defer load.end(t)

	for _, rollout := range rolloutsBehindAGateway {
		t.Run(rollout.name, func(t *testing.T) {
			load.during(t, rollout.name, func() {
				change(t, darkroom, func(d *v1alpha1.Darkroom) { rollout.edit(&d.Spec) })
				// Until the last replaced pod has ended.
				waitSettled(t, darkroom)
				waitRequests(t, load, 20)
			})
			load.mustNotHaveFailed(t)
		})
	}
}

// mustHaveDomains fails the test unless DomainsReady has a status, and the domains are
// those that are routed: the Darkroom's if the status is True, else none.
func mustHaveDomains(t *testing.T, darkroom *v1alpha1.Darkroom, status metav1.ConditionStatus) {
	t.Helper()
	condition := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDomainsReady)
	if condition == nil || condition.Status != status || condition.ObservedGeneration != darkroom.Generation {
		t.Errorf("DomainsReady is %+v in generation %d, want %s", condition, darkroom.Generation, status)
	}
	var want []string
	if status == metav1.ConditionTrue {
		want = []string{hostOf(darkroom)}
	}
	if !slices.Equal(darkroom.Status.Domains, want) {
		t.Errorf("status.domains are %q, want %q", darkroom.Status.Domains, want)
	}
}

// hasNoIngress returns an error if a Darkroom has an Ingress.
func hasNoIngress(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), &networkingv1.Ingress{})
	if err == nil {
		err = errors.New("it has an Ingress")
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("%s: %w", darkroom.Name, err)
	}
	return nil
}
