//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// reportedWithin is for how long it may take until a mistake is reported.
const reportedWithin = 90 * time.Second

// probed is a probe that notices changes soon.
func probed(path string) *v1alpha1.Probe {
	return &v1alpha1.Probe{Path: path, PeriodSeconds: ptr.To[int32](10), TimeoutSeconds: ptr.To[int32](5), FailureThreshold: ptr.To[int32](1)}
}

// newProbed is a Darkroom of the bucket, with a Secret for its keys and a probe.
func newProbed(t *testing.T, name string) (*v1alpha1.Darkroom, *corev1.Secret) {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(t), Name: "keys"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": secretKey},
	}
	create(t, secret)
	darkroom := newDarkroom(secret.Namespace, name).Source(theSources.s3Reference(secret.Name)).Replicas(2).
		Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = probed(imagePath) }).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	return darkroom, secret
}

// sourceSays returns an error unless the condition SourceReady has a reason.
func sourceSays(ctx context.Context, darkroom *v1alpha1.Darkroom, reasons ...string) error {
	if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
		return err
	}
	condition := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionSourceReady)
	for _, reason := range reasons {
		if condition != nil && condition.Reason == reason {
			return nil
		}
	}
	return fmt.Errorf("the condition is %+v, want a reason of %v", condition, reasons)
}

// stillServe returns an error unless some pods are still there and ready, and no container
// of the Darkroom was restarted.
func stillServe(ctx context.Context, darkroom *v1alpha1.Darkroom, want map[types.UID]bool) error {
	pods, err := podsOf(ctx, darkroom)
	if err != nil {
		return err
	}
	left := 0
	for i := range pods {
		for _, container := range pods[i].Status.ContainerStatuses {
			if container.RestartCount > 0 {
				return fmt.Errorf("pod %s was restarted %d times", pods[i].Name, container.RestartCount)
			}
		}
		if want[pods[i].UID] && isPodReady(&pods[i]) && pods[i].DeletionTimestamp == nil {
			left++
		}
	}
	if left != len(want) {
		return fmt.Errorf("%d of %d pods still serve", left, len(want))
	}
	return nil
}

// readySays returns an error unless the condition Ready is False for one of these reasons.
func readySays(ctx context.Context, darkroom *v1alpha1.Darkroom, reasons ...string) error {
	if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
		return err
	}
	ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.ObservedGeneration < darkroom.Generation || !slices.Contains(reasons, ready.Reason) {
		return fmt.Errorf("the condition is %+v, want a reason of %v", ready, reasons)
	}
	return nil
}

func uidsOf(t *testing.T, darkroom *v1alpha1.Darkroom) map[types.UID]bool {
	t.Helper()
	pods, err := podsOf(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	uids := map[types.UID]bool{}
	for i := range pods {
		uids[pods[i].UID] = true
	}
	return uids
}

// TestMistakesReachNoPodThatServes makes changes that break images, one after the other,
// under load, and then puts each right.
func TestMistakesReachNoPodThatServes(t *testing.T) {
	t.Parallel()
	darkroom, secret := newProbed(t, "guarded")
	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	setKey := func(key string) { change(t, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte(key) }) }
	setSpec := func(edit func(*v1alpha1.DarkroomSpec)) {
		change(t, darkroom, func(d *v1alpha1.Darkroom) { edit(&d.Spec) })
	}
	for _, mistake := range []struct {
		what      string
		make, fix func()
		reasons   []string
		mention   []string
	}{
		{
			"wrong key", func() { setKey("a-canary-secret") }, func() { setKey(secretKey) },
			[]string{v1alpha1.ReasonSourceDenied},
			[]string{"the ready pods keep serving", "keys"},
		},
		{
			"wrong bucket",
			func() { setSpec(func(s *v1alpha1.DarkroomSpec) { s.Source.Bucket = "not_my_photos" }) },
			func() { setSpec(func(s *v1alpha1.DarkroomSpec) { s.Source.Bucket = bucket }) },
			[]string{v1alpha1.ReasonImageNotFound, v1alpha1.ReasonSourceDenied},
			[]string{"the ready pods keep serving", "source.bucket"},
		},
		{
			"wrong URL",
			func() {
				setSpec(func(s *v1alpha1.DarkroomSpec) {
					s.Source.Endpoint = strings.TrimSuffix(theSources.bucketURL, ":9000") + ":9009"
				})
			},
			func() { setSpec(func(s *v1alpha1.DarkroomSpec) { s.Source.Endpoint = theSources.bucketURL }) },
			[]string{v1alpha1.ReasonImageUnprocessable},
			[]string{"the ready pods keep serving", "source.endpoint"},
		},
		{
			"container image that is missing",
			func() { setSpec(func(s *v1alpha1.DarkroomSpec) { s.Version = "v0.0.0-missing" }) },
			func() { setSpec(func(s *v1alpha1.DarkroomSpec) { s.Version = "" }) },
			[]string{v1alpha1.ReasonImagePullFailed},
			[]string{"v0.0.0-missing"},
		},
	} {
		before := uidsOf(t, darkroom)
		load.during(t, mistake.what, func() {
			mistake.make()
			within(t, reportedWithin, mistake.what+" is reported", func(ctx context.Context) error {
				return readySays(ctx, darkroom, mistake.reasons...)
			})
		})
		mustMention(t, messageOfReady(darkroom), mistake.mention...)
		if darkroom.Status.Phase != v1alpha1.PhaseDegraded {
			t.Errorf("%s: phase %s", mistake.what, darkroom.Status.Phase)
		}
		if strings.Contains(fmt.Sprint(darkroom.Status), "canary") {
			t.Error("the status has a credential")
		}
		if err := stillServe(t.Context(), darkroom, before); err != nil {
			t.Errorf("%s reached the pods that serve: %v", mistake.what, err)
		}
		load.during(t, mistake.what+", fixed", func() {
			mistake.fix()
			waitSettled(t, darkroom)
		})
	}

	before := uidsOf(t, darkroom)
	load.during(t, "Secret deleted", func() {
		if err := kube.Delete(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		waitReason(t, darkroom, v1alpha1.ReasonSecretMissing)
	})
	if err := stillServe(t.Context(), darkroom, before); err != nil {
		t.Errorf("the deletion of the Secret reached the pods that serve: %v", err)
	}
	load.during(t, "Secret created again", func() {
		create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name}, Data: map[string][]byte{
			"accessKey": []byte(accessKey), "secretKey": []byte(secretKey),
		}})
		waitSettled(t, darkroom)
	})
}

// outageOf is for how long a source is away: a minute, or E2E_OUTAGE.
func outageOf(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("E2E_OUTAGE")
	if text == "" {
		return time.Minute
	}
	outage, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("E2E_OUTAGE: %v", err)
	}
	return outage
}

func TestAnOutageOfTheSourceRestartsNoPod(t *testing.T) {
	t.Parallel()
	const app = "outage"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: sourcesNamespace, Name: app}}
	t.Cleanup(func() { _ = kube.Delete(context.Background(), pod) })
	start := func() {
		if _, err := startSource(t.Context(), app, 8080, "webfolder", "--addr", ":8080"); err != nil {
			t.Fatal(err)
		}
		change(t, pod, func(p *corev1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, "app", app) })
	}
	start()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: sourcesNamespace, Name: app},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": app}, Ports: []corev1.ServicePort{{Port: 8080}}},
	}
	create(t, service)
	t.Cleanup(func() { _ = kube.Delete(context.Background(), service) })

	darkroom := newDarkroom(newNamespace(t), "lonely").WebFolder(fmt.Sprintf("http://%s:8080", service.Spec.ClusterIP)).
		Replicas(2).Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = probed(imagePath) }).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	// Without its pod: connections that are established outlive the endpoints of a Service.
	if err := kube.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	within(t, reportedWithin, "the outage is reported", func(ctx context.Context) error {
		return sourceSays(ctx, darkroom, v1alpha1.ReasonImageUnprocessable, v1alpha1.ReasonSourceTimeout)
	})
	pods, err := podsOf(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Delete(t.Context(), &pods[0]); err != nil {
		t.Fatal(err)
	}
	survivor := map[types.UID]bool{pods[1].UID: true}
	for until := time.Now().Add(outageOf(t)); time.Now().Before(until); time.Sleep(time.Second) {
		if err := stillServe(t.Context(), darkroom, survivor); err != nil {
			t.Fatal(err)
		}
	}
	if err := readySays(t.Context(), darkroom, v1alpha1.ReasonImageUnprocessable, v1alpha1.ReasonSourceTimeout); err != nil {
		t.Errorf("a pod that was created during the outage: %v", err)
	}
	start()
	t.Logf("all pods ready %s after the end of an outage of %s", waitReady(t, darkroom).Round(100*time.Millisecond), outageOf(t))
	if err := stillServe(t.Context(), darkroom, survivor); err != nil {
		t.Error(err)
	}
}

// The pods of the previous template are recreated while a rollout waits, so nodes can be
// drained.
func TestARolloutThatWaitsBlocksNoDrain(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "drained").Replicas(2).
		Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = probed(imagePath) }).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Probe.Path = "/images/deleted.jpg" })
	within(t, reportedWithin, "the missing image is reported", func(ctx context.Context) error {
		return sourceSays(ctx, darkroom, v1alpha1.ReasonImageUnprocessable)
	})

	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	load.during(t, "all pods evicted", func() {
		for uid := range uidsOf(t, darkroom) {
			eventually(t, "the eviction is allowed", func(ctx context.Context) error {
				pods, err := podsOf(ctx, darkroom)
				if err != nil {
					return err
				}
				for i := range pods {
					if pods[i].UID == uid && pods[i].DeletionTimestamp == nil {
						return clientset.PolicyV1().Evictions(darkroom.Namespace).Evict(ctx, &policyv1.Eviction{
							ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: pods[i].Name},
						})
					}
				}
				return nil
			})
		}
	})
}
