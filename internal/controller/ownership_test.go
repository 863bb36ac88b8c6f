package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
)

// foreignChart returns another chart. It has a password, and objects with the names that a Darkroom would use.
func foreignChart(t *testing.T) *chart.Chart {
	t.Helper()
	object := func(kind, apiVersion, rest string) string {
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: {{ .Release.Name }}\n%s\n---\n",
			apiVersion, kind, rest)
	}
	manifests := object("ConfigMap", "v1", "data: {a: b}") +
		object("Secret", "v1", "stringData: {password: precious}") +
		object("Service", "v1", "spec: {ports: [{port: 80}]}") +
		object("Deployment", "apps/v1",
			"spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: "+
				"[{name: a, image: a}]}}}")
	loaded, err := loader.LoadFiles([]*loader.BufferedFile{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: shop\nversion: 1.0.0\n")},
		{Name: "templates/all.yaml", Data: []byte(manifests)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func installByHand(t *testing.T, namespace, name string, chrt *chart.Chart, values map[string]any) {
	t.Helper()
	install := action.NewInstall(helmByHand(t, namespace))
	install.ReleaseName, install.Namespace = name, namespace
	if _, err := install.Run(chrt, values); err != nil {
		t.Fatal(err)
	}
}

// sameObjects checks that objects in a namespace still have their earlier resource versions.
func sameObjects(t *testing.T, namespace string, before map[string]string) {
	t.Helper()
	now := resourceVersions(t, namespace)
	for name, version := range before {
		if now[name] != version {
			t.Errorf("%s was changed or deleted: got version %q, want %s", name, now[name], version)
		}
	}
}

func TestAForeignHelmReleaseIsRefusedAndOutlivesTheDarkroom(t *testing.T) {
	t.Parallel()
	revision := func(edit func(*corev1.Secret)) func(*testing.T, string) {
		return func(t *testing.T, namespace string) {
			change(t, mustGet(t, &corev1.Secret{}, namespace, "sh.helm.release.v1.photos.v1"), edit)
		}
	}
	for name, prepare := range map[string]func(*testing.T, string){
		"deployed": func(*testing.T, string) {},
		"its first revision pruned": func(t *testing.T, namespace string) {
			upgrade := action.NewUpgrade(helmByHand(t, namespace))
			upgrade.Namespace = namespace
			if _, err := upgrade.Run("photos", foreignChart(t), nil); err != nil {
				t.Fatal(err)
			}
			remove(t, mustGet(t, &corev1.Secret{}, namespace, "sh.helm.release.v1.photos.v1"))
		},
		"its revisions damaged":          revision(func(s *corev1.Secret) { s.Data["release"] = []byte("junk") }),
		"pending":                        revision(func(s *corev1.Secret) { s.Labels["status"] = "pending-upgrade" }),
		"with the label of the Darkroom": revision(func(s *corev1.Secret) { s.Labels[v1alpha1.LabelDarkroom] = "photos" }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			installByHand(t, namespace, "photos", foreignChart(t), nil)
			prepare(t, namespace)
			before := resourceVersions(t, namespace)
			startOperator(t, namespace)
			darkroom := webFolder(namespace, "photos")
			create(t, darkroom)
			eventuallyStatus(t, darkroom, "refused", says("Helm has a release of this name"),
				isNotReady(v1alpha1.ReasonForeignRelease),
				has(v1alpha1.ConditionDeployed, metav1.ConditionFalse, v1alpha1.ReasonForeignRelease))
			eventuallyEvent(t, namespace, "ForeignRelease")
			sameObjects(t, namespace, before)

			remove(t, darkroom)
			eventually(t, "it is gone", absent(&v1alpha1.Darkroom{}, namespace, "photos"))
			sameObjects(t, namespace, before)
		})
	}
}

func TestADarkroomGetsItsNameAsSoonAsAForeignReleaseIsUninstalled(t *testing.T) {
	t.Parallel()
	// Without an event for the deletion, the operator checks again 30 seconds after each refusal.
	const attempts, prompt = 3, 20 * time.Second
	var waited []time.Duration
	for len(waited) < attempts && (len(waited) == 0 || slices.Min(waited) > prompt) {
		namespace := newNamespace(t)
		installByHand(t, namespace, "photos", foreignChart(t), nil)
		startOperator(t, namespace)
		darkroom := webFolder(namespace, "photos")
		create(t, darkroom)
		eventuallyStatus(t, darkroom, "refused",
			has(v1alpha1.ConditionDeployed, metav1.ConditionFalse, v1alpha1.ReasonForeignRelease))
		if _, err := action.NewUninstall(helmByHand(t, namespace)).Run("photos"); err != nil {
			t.Fatal(err)
		}
		freed := time.Now()
		eventually(t, "the release", installed(namespace, "photos"))
		waited = append(waited, time.Since(freed))
	}
	if slices.Min(waited) > prompt {
		t.Errorf("installed after %s: the deletion of the release did not trigger a reconcile", waited)
	}
}

// docs/operations.md describes this migration. Each host is always routed and never claimed twice.
func TestADarkroomServesTheHostOfAHelmReleaseThatItReplaces(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	host := hostIn("moving-" + namespace)
	installByHand(t, namespace, "photos", chrt, map[string]any{
		"hosts": []any{host}, "source": map[string]any{"type": "WebFolder", "baseUrl": "https://example.com/images"},
	})
	before := resourceVersions(t, namespace)
	startOperator(t, namespace)
	darkroom := webFolder(namespace, "images")
	darkroom.Spec.SubDomains = []string{"new-" + namespace}
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "images"))
	becomeReady(t, namespace, "images")
	eventuallyStatus(t, darkroom, "a host of its own", isReady(), hasDomains(hostIn("new-"+namespace)))
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"moving-" + namespace} })
	eventuallyStatus(t, darkroom, "the host beside the release", isReady(), hasDomains(host))
	sameObjects(t, namespace, before)

	remove(t, mustGet(t, &networkingv1.Ingress{}, namespace, "photos-darkroom"))
	if _, err := action.NewUninstall(helmByHand(t, namespace)).Run("photos"); err != nil {
		t.Fatal(err)
	}
	eventuallyStatus(t, darkroom, "its host alone", isReady(), hasDomains(host))
	mustGet(t, &networkingv1.Ingress{}, namespace, "images")
}

// A user deletes a managed object and creates another one of the same name. The operator must not touch it.
func TestAnObjectThatReplacedOursIsNotOverwritten(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	operator.kill()
	ours := mustGet(t, &corev1.Service{}, namespace, "photos")
	remove(t, ours)
	theirs := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "photos",
			// The object is copied from the managed one, as by `kubectl get -o yaml | kubectl apply`, but without the
			// owner.
			Labels: ours.Labels, Annotations: ours.Annotations,
		},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 9999}}},
	}
	create(t, theirs)
	startOperator(t, namespace)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventuallyStatus(t, darkroom, "refused",
		says("Service photos: the object exists and does not belong to this Darkroom"))
	if now := mustGet(t, &corev1.Service{}, namespace, "photos"); now.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("the foreign Service was changed: %+v", now)
	}
	remove(t, darkroom)
	eventually(t, "the Darkroom's end", absent(&v1alpha1.Darkroom{}, namespace, "photos"))
	mustGet(t, &corev1.Service{}, namespace, "photos")
}

// There are two workers. A worker that waits for a deletion would block other Darkrooms.
func TestForeignFinalizersBlockOnlyTheirOwnDarkroom(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	const stuck = 8
	began := time.Now()
	for i := range stuck {
		darkroom := webFolder(namespace, fmt.Sprintf("stuck-%d", i))
		darkroom.Finalizers = []string{"example.com/never"}
		install(t, darkroom)
	}
	installs := time.Since(began)
	began = time.Now()
	for i := range stuck {
		remove(t, webFolder(namespace, fmt.Sprintf("stuck-%d", i)))
	}
	for i := range stuck {
		eventually(t, "nothing left of it", nothingLeft(webFolder(namespace, fmt.Sprintf("stuck-%d", i))))
	}
	install(t, webFolder(namespace, "photos"))
	if took := time.Since(began); took > 2*time.Minute+5*installs { // waiting for deletions would add at least 160 seconds
		t.Errorf("the uninstalls took %s, compared with %s for the installs", took, installs)
	}
}

// Server-side apply removes a field when its only owner drops the field, and a Deployment without spec.replicas gets
// the default of one replica.
func TestSwitchingToAutoscalingKeepsTheReplicas(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t, func(d *v1alpha1.Darkroom) { d.Spec.Replicas = ptr.To(int32(5)) })
	namespace := darkroom.Namespace
	seen := watched[*appsv1.Deployment](t, &appsv1.DeploymentList{}, namespace)
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Replicas = nil
		d.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: ptr.To(int32(5)), MaxReplicas: 9}
	})
	eventuallyThere(t, &autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos")
	eventually(t, "the upgrade", installed(namespace, "photos"))
	// The autoscaler may set any number, and the operator keeps it.
	scaleTo(t, mustGet(t, &appsv1.Deployment{}, namespace, "photos"), 7, "kube-controller-manager")
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	if got := *mustGet(t, &appsv1.Deployment{}, namespace, "photos").Spec.Replicas; got != 7 {
		t.Errorf("the autoscaler set %d replicas, got %d", 7, got)
	}
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Replicas = ptr.To(int32(6))
		d.Spec.Autoscaling = nil
	})
	eventually(t, "the end of the autoscaler", absent(&autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos"))
	eventuallyIs(t, "6 replicas", &appsv1.Deployment{}, namespace, "photos",
		func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 6 })
	for _, deployment := range seen() {
		if *deployment.Spec.Replicas < 5 {
			t.Fatalf("the Deployment temporarily had %d replicas", *deployment.Spec.Replicas)
		}
	}
}

// scaleTo acts as an autoscaler, which writes the scale subresource.
func scaleTo(t *testing.T, object client.Object, replicas int32, manager string) {
	t.Helper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	err := kube.SubResource("scale").Update(t.Context(), object, client.WithSubResourceBody(scale),
		client.FieldOwner(manager))
	if err != nil {
		t.Fatal(err)
	}
}

func TestAdditionsOfOtherControllersStay(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	account := mustGet(t, &corev1.ServiceAccount{}, namespace, "photos")
	change(t, account, func(s *corev1.ServiceAccount) {
		s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
		s.Secrets = []corev1.ObjectReference{{Name: "photos-dockercfg"}}
	})
	deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
	change(t, deployment, func(d *appsv1.Deployment) {
		d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-11-21T00:00:00Z"}
	})
	eventually(t, "rest", quiet(operator))
	// Any change makes the operator apply the objects again.
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "rest", quiet(operator))
	account = mustGet(t, &corev1.ServiceAccount{}, namespace, "photos")
	if len(account.ImagePullSecrets) != 1 || len(account.Secrets) != 1 {
		t.Errorf("the ServiceAccount lost additions: %+v", account)
	}
	got := mustGet(t, &appsv1.Deployment{}, namespace, "photos").
		Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"]
	if got == "" {
		t.Error("kubectl rollout restart was reverted")
	}
	if repaired := events(t, namespace, "Repaired"); len(repaired) > 0 {
		t.Errorf("an event reports a repair: %s", repaired[0].Note)
	}
}

func TestAFightWithAnotherWriterSlowsDown(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	before := operator.writes()
	// Another controller repeatedly sets its own port.
	began := time.Now()
	for time.Since(began) < 20*time.Second || len(events(t, namespace, release.EventContested)) == 0 {
		service := mustGet(t, &corev1.Service{}, namespace, "photos")
		if service.Spec.Ports[0].Port != 8080 {
			service.Spec.Ports[0].Port = 8080
			if err := kube.Update(t.Context(), service, client.FieldOwner("rival")); err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	// Within twenty seconds there are five repairs with one apply each, some events, and one status update after each
	// repair.
	if writes, took := operator.writes()-before, time.Since(began); float64(writes) > 10+took.Seconds() {
		t.Errorf("got %d writes in %s, want at most 10 and one per second", writes, took)
	}
	begins := fmt.Sprintf("restored %d times", drift.ContestedAfter)
	if contests := events(t, namespace, release.EventContested); len(contests) != 1 ||
		!strings.Contains(contests[0].Note, begins) ||
		!strings.Contains(contests[0].Note, `"rival"`) {
		t.Errorf("got events %v, want one with the writer: %s", contests, begins)
	}
	eventuallyStatus(t, darkroom, "who it is", explains(v1alpha1.ConditionContested, `"rival"`),
		explains(v1alpha1.ConditionContested, "Service photos"))
}

func TestAUsersServiceAccountOfTheDarkroomsNameSurvives(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	becomeReady(t, namespace, "photos")
	t.Run("the chart's own is kept while pods use it", func(t *testing.T) {
		upgrade(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Spec.PodTemplate = &v1alpha1.PodTemplate{ServiceAccountName: "photos"}
		})
		becomeReady(t, namespace, "photos")
		eventually(t, "rest", quiet(operator))
		mustGet(t, &corev1.ServiceAccount{}, namespace, "photos")
	})
	t.Run("it goes when no pod uses it any more", func(t *testing.T) {
		upgrade(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Spec.PodTemplate = &v1alpha1.PodTemplate{ServiceAccountName: "team"}
		})
		eventually(t, "rest", quiet(operator))
		mustGet(t, &corev1.ServiceAccount{}, namespace, "photos") // recreated pods of the old ReplicaSet need it
		becomeReady(t, namespace, "photos")
		eventually(t, "its end", absent(&corev1.ServiceAccount{}, namespace, "photos"))
	})
	t.Run("a user's own is never deleted", func(t *testing.T) {
		own := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos"}}
		create(t, own)
		upgrade(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Spec.PodTemplate = &v1alpha1.PodTemplate{ServiceAccountName: "photos"}
		})
		becomeReady(t, namespace, "photos")
		eventually(t, "rest", quiet(operator))
		if now := mustGet(t, &corev1.ServiceAccount{}, namespace, "photos"); now.ResourceVersion != own.ResourceVersion {
			t.Errorf("the user's ServiceAccount was changed: %+v", now)
		}
	})
}

func TestAFailedUpgradeReportsItsCauseAndItsRetriesReuseItsRevision(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 3}
		d.Spec.PodTemplate = &v1alpha1.PodTemplate{
			Tolerations: []corev1.Toleration{{Key: "a", Operator: "Exists", Value: "none-allowed"}},
		}
	})
	attempts := func(least int) func(context.Context) error {
		return func(context.Context) error {
			count := 0
			for _, event := range events(t, namespace, "ReleaseFailed") {
				count += 1 + int(ptr.Deref(event.Series, eventsv1.EventSeries{}).Count)
			}
			if count < least {
				return fmt.Errorf("%d attempts", count)
			}
			return nil
		}
	}
	eventuallyStatus(t, darkroom, "failed", isIn(v1alpha1.PhaseFailed), isNotReady(v1alpha1.ReasonReleaseFailed),
		says("upgrade release", "Deployment photos", "tolerations"))
	eventually(t, "an attempt", attempts(1))
	failed := mustGet(t, &corev1.Secret{}, namespace, "sh.helm.release.v1.photos.v2")
	for attempt := range 3 {
		// Within the duration of the test, only a user's change causes another attempt.
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations["example.com/attempt"] = strconv.Itoa(attempt) })
		eventually(t, "another attempt", attempts(2+attempt))
	}
	if now := mustGet(t, &corev1.Secret{}, namespace, failed.Name); now.ResourceVersion != failed.ResourceVersion {
		t.Error("the Secret of the revision was written although the error had not changed")
	}
	history, err := action.NewHistory(helmByHand(t, namespace)).Run("photos")
	if err != nil || len(history) != 2 || history[0].Info.Status != "deployed" {
		t.Errorf("got history %v (%v), want the deployed and one failed revision", history, err)
	}
	// Objects of the failed revision are pruned, although they are not part of any deployed revision.
	mustGet(t, &autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos")
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Autoscaling, d.Spec.PodTemplate = nil, nil })
	eventually(t, "the end of the autoscaler", absent(&autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos"))
}
