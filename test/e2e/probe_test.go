//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
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
	darkroom := newDarkroom(secret.Namespace, name).Source(theSources.s3Reference(secret.Name)).
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

// unchanged returns an error unless the pods of a Darkroom are some pods, all ready.
func unchanged(ctx context.Context, darkroom *v1alpha1.Darkroom, want map[types.UID]bool) error {
	pods, err := podsOf(ctx, darkroom)
	if err != nil {
		return err
	}
	if len(pods) != len(want) {
		return fmt.Errorf("there are %d pods, not %d", len(pods), len(want))
	}
	for i := range pods {
		if !want[pods[i].UID] || !isPodReady(&pods[i]) {
			return fmt.Errorf("pod %s is new or not ready", pods[i].Name)
		}
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

// noPreflight returns an error if something is left of preflight checks.
func noPreflight(ctx context.Context, namespace string) error {
	deployments, pods := &appsv1.DeploymentList{}, &corev1.PodList{}
	checks := []client.ListOption{client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelPreflight}}
	if err := errors.Join(kube.List(ctx, deployments, checks...), kube.List(ctx, pods, checks...)); err != nil {
		return err
	}
	if left := len(deployments.Items) + len(pods.Items); left > 0 {
		return fmt.Errorf("%d Deployments and pods of preflight checks are left", left)
	}
	return nil
}

func TestMistakesInTheSourceReachNoPodThatServes(t *testing.T) {
	t.Parallel()
	darkroom, secret := newProbed(t, "guarded")
	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	for _, mistake := range []struct {
		what    string
		make    func()
		fix     func()
		reasons []string
		mention string
	}{
		{
			"wrong key",
			func() { change(t, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte("a-canary-secret") }) },
			func() { change(t, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte(secretKey) }) },
			[]string{v1alpha1.ReasonSourceDenied},
			"keys",
		},
		{
			"wrong bucket",
			func() { change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.Bucket = "not_my_photos" }) },
			func() { change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.Bucket = bucket }) },
			[]string{v1alpha1.ReasonImageNotFound, v1alpha1.ReasonSourceDenied},
			"source.bucket",
		},
		{
			"wrong URL",
			func() {
				change(t, darkroom, func(d *v1alpha1.Darkroom) {
					d.Spec.Source.Endpoint = strings.TrimSuffix(theSources.bucketURL, ":9000") + ":9009"
				})
			},
			func() {
				change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.Endpoint = theSources.bucketURL })
			},
			[]string{v1alpha1.ReasonImageUnprocessable},
			"source.endpoint",
		},
	} {
		before := uidsOf(t, darkroom)
		load.during(t, mistake.what, func() {
			mistake.make()
			within(t, reportedWithin, mistake.what+" is reported", func(ctx context.Context) error {
				return errors.Join(sourceSays(ctx, darkroom, mistake.reasons...), noPreflight(ctx, darkroom.Namespace))
			})
		})
		mustMention(t, messageOfReady(darkroom), "is not applied", mistake.mention)
		if strings.Contains(fmt.Sprint(darkroom.Status), "canary") {
			t.Error("the status has a credential")
		}
		if err := unchanged(t.Context(), darkroom, before); err != nil {
			t.Errorf("%s reached the pods that serve: %v", mistake.what, err)
		}
		load.during(t, mistake.what+" fixed", func() {
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
	if err := unchanged(t.Context(), darkroom, before); err != nil {
		t.Errorf("the deletion of the Secret reached the pods that serve: %v", err)
	}
	load.during(t, "Secret created again", func() {
		create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name}, Data: map[string][]byte{
			"accessKey": []byte(accessKey), "secretKey": []byte(secretKey),
		}})
		waitSettled(t, darkroom)
	})
	within(t, repairTimeout, "nothing is left of the checks", func(ctx context.Context) error { return noPreflight(ctx, darkroom.Namespace) })
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

func TestAnOutageOfTheSourceTakesNoPodAway(t *testing.T) {
	t.Parallel()
	const app = "outage"
	url, err := startSource(t.Context(), app, 8080, "webfolder", "--addr", ":8080")
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: sourcesNamespace, Name: app}}
	t.Cleanup(func() { _ = kube.Delete(context.Background(), pod) })
	label := func(value string) {
		change(t, pod, func(p *corev1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, "app", value) })
	}
	label(app)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: sourcesNamespace, Name: app},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": app}, Ports: []corev1.ServicePort{{Port: 8080}}},
	}
	create(t, service)
	t.Cleanup(func() { _ = kube.Delete(context.Background(), service) })
	t.Logf("the source at %s is behind %s", url, service.Spec.ClusterIP)

	darkroom := newDarkroom(newNamespace(t), "lonely").WebFolder(fmt.Sprintf("http://%s:8080", service.Spec.ClusterIP)).
		Replicas(2).Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = probed(imagePath) }).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	before := uidsOf(t, darkroom)

	label("away")
	within(t, reportedWithin, "the outage is reported", func(ctx context.Context) error {
		return sourceSays(ctx, darkroom, v1alpha1.ReasonImageUnprocessable, v1alpha1.ReasonSourceTimeout)
	})
	for until := time.Now().Add(outageOf(t)); time.Now().Before(until); time.Sleep(time.Second) {
		if err := unchanged(t.Context(), darkroom, before); err != nil {
			t.Fatal(err)
		}
	}
	label(app)
	waitReady(t, darkroom)
	if err := unchanged(t.Context(), darkroom, before); err != nil {
		t.Error(err)
	}
}

func TestAMissingProbeImageBlocksNoDrain(t *testing.T) {
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

// Not parallel: others need the operator.
func TestAnOperatorKilledDuringAPreflightCheckAppliesNothing(t *testing.T) {
	darkroom, secret := newProbed(t, "checked")
	t.Cleanup(func() {
		if theOperator.ended() != nil || theOperator.expectedEnd() {
			if err := theOperator.start(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	before := uidsOf(t, darkroom)
	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	change(t, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte("wrong") })
	eventually(t, "a preflight check", func(ctx context.Context) error {
		if noPreflight(ctx, darkroom.Namespace) == nil {
			return errors.New("there is none")
		}
		return nil
	})
	if err := theOperator.kill(); err != nil {
		t.Fatal(err)
	}
	if err := unchanged(t.Context(), darkroom, before); err != nil {
		t.Error(err)
	}
	if err := theOperator.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, reportedWithin, "the wrong key is reported", func(ctx context.Context) error {
		return errors.Join(sourceSays(ctx, darkroom, v1alpha1.ReasonSourceDenied), noPreflight(ctx, darkroom.Namespace))
	})
	if err := unchanged(t.Context(), darkroom, before); err != nil {
		t.Error(err)
	}
	change(t, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte(secretKey) })
	waitSettled(t, darkroom)
}
