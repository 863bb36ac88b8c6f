package status

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

const (
	host = "photos.darkroom.example.com"

	yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
)

// noon is the time of all events in these tests.
var noon = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

// condition returns a condition of the Helm reconciler for a generation.
func condition(conditionType string, status metav1.ConditionStatus, generation int64) v1alpha1.Condition {
	return v1alpha1.Condition{Type: conditionType, Status: status, ObservedGeneration: generation}
}

// failure returns a condition with status True and a cause.
func failure(conditionType, reason, message string, generation int64) v1alpha1.Condition {
	return v1alpha1.Condition{
		Type: conditionType, Status: yes, Reason: reason, Message: message,
		ObservedGeneration: generation,
	}
}

// photos returns a Darkroom of generation 2 that Helm has deployed.
func photos() *darkrooms.Builder {
	return darkrooms.New("photos", "team-a").Generation(2).
		Condition(condition(v1alpha1.ConditionInitialized, yes, 2)).
		Condition(condition(v1alpha1.ConditionDeployed, yes, 2)).
		Condition(condition(v1alpha1.ConditionReleaseFailed, no, 2)).
		Condition(condition(v1alpha1.ConditionIrreconcilable, no, 2))
}

// deployment returns a Deployment whose pods are all up to date and ready, modified by the given functions.
func deployment(replicas int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	out := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "photos", Namespace: "team-a", Generation: 5},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
				"app.kubernetes.io/name":     "darkroom",
				"app.kubernetes.io/instance": "photos",
			}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "proxy", Image: "example.com/sidecar:v9"},
				{Name: containerName, Image: "gojektech/darkroom:v0.4.2"},
			}}},
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 5},
	}
	for _, change := range append([]func(*appsv1.Deployment){pods(replicas, replicas, replicas, replicas)}, changes...) {
		change(out)
	}
	return out
}

// pods sets the numbers of pods in the order of a rollout: all, updated, ready, available.
func pods(all, updated, ready, available int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = all,
			updated, ready, available
	}
}

func deploymentSays(
	conditionType appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string,
) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
			Type: conditionType, Status: status, Reason: reason, Message: message,
		})
	}
}

// States of a Deployment: the rollout has ended; the rollout has exceeded its deadline; a quota rejects the pods; the
// Deployment controller has not observed the change.
var (
	rolledOut = deploymentSays(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable", "")
	late      = deploymentSays(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded",
		"ReplicaSet has timed out progressing.")
	overQuota = deploymentSays(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue,
		"FailedCreate", "exceeded quota: pods")
	notObserved = func(d *appsv1.Deployment) { d.Status.ObservedGeneration = d.Generation - 1 }
)

func ingress(hosts ...string) *networkingv1.Ingress {
	out := &networkingv1.Ingress{}
	for _, host := range hosts {
		out.Spec.Rules = append(out.Spec.Rules, networkingv1.IngressRule{Host: host})
	}
	out.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	return out
}

// seen returns an observation of a Darkroom whose host is routed by an Ingress, modified by the given functions.
func seen(darkroom *darkrooms.Builder, deployment *appsv1.Deployment, changes ...func(*Observation)) Observation {
	o := Observation{
		Darkroom: darkroom.Obj(), Deployment: deployment, Service: service(), Hosts: []string{host},
		Ingress: ingress(host), Now: noon,
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

// outdated makes the observed Deployment older than the last applied one.
func outdated(o *Observation) {
	o.Darkroom = o.Darkroom.DeepCopy()
	o.Darkroom.Status.DeployedRelease = releaseWith(o.Deployment.UID, o.Deployment.Generation+1)
}

// releaseWith returns a release whose Deployment was last applied with this UID and generation.
func releaseWith(uid types.UID, generation int64) *v1alpha1.DeployedRelease {
	return &v1alpha1.DeployedRelease{
		Name: "photos", Deployment: &v1alpha1.AppliedDeployment{UID: uid, Generation: generation},
	}
}

func notRouted(o *Observation) { o.Ingress = nil }

func problem(reason, message string) func(*Observation) {
	return func(o *Observation) { o.Problem = &Problem{reason, message} }
}

func noSecret(o *Observation) { o.MissingSecrets = []string{"keys"} }

func refused(refusals ...hosts.Refusal) func(*Observation) {
	return func(o *Observation) { o.Ingress, o.Refused = nil, refusals }
}

// routed replaces the Ingress by an HTTPRoute with the given statuses of Gateways.
func routed(parents ...gatewayv1.RouteParentStatus) func(*Observation) {
	return func(o *Observation) { o.Ingress, o.Route = nil, route([]string{host}, parents...) }
}

func TestVersionIsThatOfTheDarkroomContainer(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string]string{
		"gojektech/darkroom:v0.4.2":               "v0.4.2",
		"registry.example.com:5000/team/darkroom": "",
		"darkroom": "",
		"registry.example.com:5000/team/darkroom@" + digest:        digest,
		"registry.example.com:5000/team/darkroom:v0.4.2@" + digest: "v0.4.2",
	} {
		d := deployment(1)
		d.Spec.Template.Spec.Containers[1].Image = image
		if got := versionOf(d); got != want {
			t.Errorf("%s: got %q, want %q", image, got, want)
		}
	}
	sidecarAlone := deployment(1)
	sidecarAlone.Spec.Template.Spec.Containers = sidecarAlone.Spec.Template.Spec.Containers[:1]
	if got := versionOf(sidecarAlone); got != "" {
		t.Errorf("got the version of a sidecar, %q", got)
	}
}

func TestReport(t *testing.T) {
	// about returns a condition of the current generation. No Darkroom in this test sets a probe.
	about := func(conditionType string, status metav1.ConditionStatus, reason, message string) v1alpha1.Condition {
		return v1alpha1.Condition{
			Type: conditionType, Status: status, Reason: reason,
			Message: message, ObservedGeneration: 2,
		}
	}
	source := determineSource(Observation{Darkroom: photos().Obj()})
	source.ObservedGeneration = 2
	for name, test := range map[string]struct {
		observation Observation
		want        v1alpha1.DarkroomStatus
	}{
		"nothing exists": {
			seen(darkrooms.New("photos", "team-a").Generation(2), nil, notRouted),
			v1alpha1.DarkroomStatus{
				ObservedGeneration: 2, Phase: v1alpha1.PhasePending, Message: "The release is not installed yet.",
				Conditions: []v1alpha1.Condition{
					about(v1alpha1.ConditionDomainsReady, no, v1alpha1.ReasonNotRouted, "Not routed yet: "+host+"."),
					source,
					about(v1alpha1.ConditionReady, no, v1alpha1.ReasonPending, "The release is not installed yet."),
					about(v1alpha1.ConditionReconciling, yes, v1alpha1.ReasonPending, "The release is not installed yet."),
				},
			},
		},
		"everything is ready": {
			seen(photos(), deployment(2)),
			v1alpha1.DarkroomStatus{
				ObservedGeneration: 2, Phase: v1alpha1.PhaseReady, Message: "2 of 2 pods are ready.",
				Domains: []string{host}, URL: "http://" + host, Address: "http://photos.team-a.svc",
				Version: "v0.4.2", Replicas: 2, ReadyReplicas: 2, Pods: "2/2",
				Selector: "app.kubernetes.io/instance=photos,app.kubernetes.io/name=darkroom",
				Conditions: []v1alpha1.Condition{
					about(v1alpha1.ConditionDomainsReady, yes, v1alpha1.ReasonRouted, "Routed: "+host+"."),
					source,
					about(v1alpha1.ConditionReady, yes, v1alpha1.ReasonAllReplicasReady, "2 of 2 pods are ready."),
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, "the report", test.want, Determine(test.observation))
		})
	}
}

// TestReadyIsOnlyWhatHelmHasDeployed covers all conditions that the Helm reconciler may report for the current and the
// previous generation. The pods are ready and the hosts are routed.
func TestReadyIsOnlyWhatHelmHasDeployed(t *testing.T) {
	const generation = 3
	words := [][]v1alpha1.Condition{nil}
	for _, conditionType := range []string{
		v1alpha1.ConditionInitialized, v1alpha1.ConditionDeployed, v1alpha1.ConditionReleaseFailed,
		v1alpha1.ConditionIrreconcilable,
	} {
		for _, word := range slices.Clone(words) {
			for _, status := range []metav1.ConditionStatus{yes, no, unknown} {
				for _, observed := range []int64{generation - 1, generation} {
					words = append(words, append(slices.Clip(word), condition(conditionType, status, observed)))
				}
			}
		}
	}
	for _, word := range words {
		darkroom := darkrooms.New("photos", "team-a").Generation(generation)
		for _, c := range word {
			darkroom.Condition(c)
		}
		says := func(conditionType string, statuses ...metav1.ConditionStatus) bool {
			return slices.ContainsFunc(word, func(c v1alpha1.Condition) bool {
				return c.Type == conditionType && c.ObservedGeneration == generation && slices.Contains(statuses, c.Status)
			})
		}
		want := says(v1alpha1.ConditionInitialized, yes, no, unknown) && says(v1alpha1.ConditionDeployed, yes) &&
			!says(v1alpha1.ConditionReleaseFailed, yes) && !says(v1alpha1.ConditionIrreconcilable, yes)
		report := Determine(seen(darkroom, deployment(1)))
		got := v1alpha1.IsConditionTrue(report.Conditions, v1alpha1.ConditionReady)
		if got != want || (report.Phase == v1alpha1.PhaseReady) != want || report.ObservedGeneration != generation {
			t.Errorf("phase %s of generation %d, ready: %t, want %t, with %+v", report.Phase,
				report.ObservedGeneration, got, want, word)
		}
	}
}
