//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// probed is a probe with short periods.
func probed(path string) *v1alpha1.Probe {
	return &v1alpha1.Probe{
		Path: path, PeriodSeconds: ptr.To[int32](10), TimeoutSeconds: ptr.To[int32](5),
		FailureThreshold: ptr.To[int32](1),
	}
}

// newProbed returns a Darkroom for the bucket with a Secret for the keys and a probe.
func newProbed(t *testing.T, name string, gate *v1alpha1.Gate) (*v1alpha1.Darkroom, *corev1.Secret) {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(t), Name: "keys"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": secretKey},
	}
	create(t, secret)
	source := theSources.s3()
	source.AccessKey, source.SecretKey, source.CredentialsSecretRef = "", "",
		&v1alpha1.CredentialsSecretRef{Name: secret.Name}
	darkroom := newDarkroom(secret.Namespace, name).Source(source).Replicas(2).
		Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe, s.Gate = probed(imagePath), gate }).Obj()
	serve(t, darkroom)
	return darkroom, secret
}

// stillServe returns an error unless the given pods still exist and are ready, and no container of the Darkroom was
// restarted.
func stillServe(ctx context.Context, darkroom *v1alpha1.Darkroom, want sets.Set[types.UID]) error {
	pods, err := podsOf(ctx, darkroom)
	if err != nil {
		return err
	}
	serving := sets.New[types.UID]()
	for i := range pods {
		for _, container := range pods[i].Status.ContainerStatuses {
			if container.RestartCount > 0 {
				return fmt.Errorf("pod %s was restarted %d times", pods[i].Name, container.RestartCount)
			}
		}
		if images.IsReady(&pods[i]) && pods[i].DeletionTimestamp == nil {
			serving.Insert(pods[i].UID)
		}
	}
	if lost := want.Difference(serving); len(lost) > 0 {
		return fmt.Errorf("%d of %d pods do not serve any more", len(lost), len(want))
	}
	return nil
}

func uidsOf(t *testing.T, darkroom *v1alpha1.Darkroom) sets.Set[types.UID] {
	t.Helper()
	pods, err := podsOf(t.Context(), darkroom)
	must(t, err)
	uids := sets.New[types.UID]()
	for i := range pods {
		uids.Insert(pods[i].UID)
	}
	return uids
}

// TestMistakesReachNoPodThatServes makes changes that break images, one after the other and under load, and then
// reverts each. With a gate, which reads the source instead of Darkroom, it does so with the keys.
func TestMistakesReachNoPodThatServes(t *testing.T) {
	t.Parallel()
	t.Run("WithoutAGate", func(t *testing.T) {
		t.Parallel()
		makeMistakes(t, nil, 6)
	})
	t.Run("WithAGate", func(t *testing.T) {
		t.Parallel()
		makeMistakes(t, &v1alpha1.Gate{Resources: small}, 2)
	})
}

func makeMistakes(t *testing.T, gate *v1alpha1.Gate, count int) {
	t.Helper()
	darkroom, secret := newProbed(t, "guarded", gate)
	spec, keys := darkroom.DeepCopy().Spec, secret.DeepCopy().Data
	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	for _, mistake := range []struct {
		what string
		// make makes the mistake in the spec or in the keys of the source.
		make    func(spec *v1alpha1.DarkroomSpec, keys map[string][]byte)
		reasons []string
		mention []string
	}{
		{
			"wrong key", func(_ *v1alpha1.DarkroomSpec, keys map[string][]byte) {
				keys["secretKey"] = []byte("a-canary-secret")
			},
			[]string{v1alpha1.ReasonSourceDenied},
			[]string{"the ready pods keep serving", "keys"},
		},
		{
			"missing key", func(_ *v1alpha1.DarkroomSpec, keys map[string][]byte) { delete(keys, "secretKey") },
			[]string{v1alpha1.ReasonSecretKeyMissing},
			[]string{"keys", "secretKey"},
		},
		{
			"missing Secret", func(s *v1alpha1.DarkroomSpec, _ map[string][]byte) {
				s.Source.CredentialsSecretRef.Name = "none"
			},
			[]string{v1alpha1.ReasonSecretMissing},
			[]string{"none"},
		},
		{
			"wrong bucket", func(s *v1alpha1.DarkroomSpec, _ map[string][]byte) { s.Source.Bucket = "not_my_photos" },
			[]string{v1alpha1.ReasonImageNotFound, v1alpha1.ReasonSourceDenied},
			[]string{"the ready pods keep serving", "source.bucket"},
		},
		{
			"wrong URL", func(s *v1alpha1.DarkroomSpec, _ map[string][]byte) {
				s.Source.Endpoint = strings.TrimSuffix(theSources.bucketURL, ":9000") + ":9009"
			},
			[]string{v1alpha1.ReasonImageUnprocessable},
			[]string{"the ready pods keep serving", "source.endpoint"},
		},
		{
			"container image that is missing", func(s *v1alpha1.DarkroomSpec,
				_ map[string][]byte,
			) {
				s.Version = "v0.0.0-missing"
			},
			[]string{v1alpha1.ReasonImagePullFailed},
			[]string{"v0.0.0-missing"},
		},
	}[:count] {
		before := uidsOf(t, darkroom)
		load.during(t, mistake.what, func() {
			wrong, wrongKeys := spec.DeepCopy(), maps.Clone(keys)
			mistake.make(wrong, wrongKeys)
			change(t, secret, func(s *corev1.Secret) { s.Data = wrongKeys })
			change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec = *wrong })
			waitReason(t, darkroom, mistake.reasons...)
		})
		mustMention(t, v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady).Message,
			mistake.mention...)
		if darkroom.Status.Phase != v1alpha1.PhaseDegraded {
			t.Errorf("%s: phase %s", mistake.what, darkroom.Status.Phase)
		}
		if strings.Contains(fmt.Sprint(darkroom.Status), "canary") {
			t.Error("the status contains a credential")
		}
		if err := stillServe(t.Context(), darkroom, before); err != nil {
			t.Errorf("%s reached the serving pods: %v", mistake.what, err)
		}
		load.during(t, mistake.what+", fixed", func() {
			change(t, secret, func(s *corev1.Secret) { s.Data = maps.Clone(keys) })
			change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec = *spec.DeepCopy() })
			waitSettled(t, darkroom)
		})
	}
}

// The source is unavailable for a minute, or for E2E_OUTAGE.
func TestAnOutageOfTheSourceRestartsNoPod(t *testing.T) {
	t.Parallel()
	outage, err := time.ParseDuration(cmp.Or(os.Getenv("E2E_OUTAGE"), "1m"))
	if err != nil {
		t.Fatalf("E2E_OUTAGE: %v", err)
	}
	const app = "outage"
	start := func() {
		if _, err := startSource(t.Context(), app, 8080, "webfolder"); err != nil {
			t.Fatal(err)
		}
	}
	start()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: sourcesNamespace, Name: app}}
	service := &corev1.Service{ObjectMeta: pod.ObjectMeta, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": app}, Ports: []corev1.ServicePort{{Port: 8080}},
	}}
	create(t, service)
	t.Cleanup(func() {
		_ = errors.Join(kube.Delete(context.Background(), pod), kube.Delete(context.Background(), service))
	})

	darkroom := newDarkroom(newNamespace(t), "lonely").WebFolder(fmt.Sprintf("http://%s:8080", service.Spec.ClusterIP)).
		Replicas(2).Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = probed(imagePath) }).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	// The pod is removed, because established connections outlive the endpoints of a Service.
	must(t, kube.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	waitReason(t, darkroom, v1alpha1.ReasonImageUnprocessable, v1alpha1.ReasonSourceTimeout)
	pods, err := podsOf(t.Context(), darkroom)
	must(t, err)
	must(t, kube.Delete(t.Context(), &pods[0]))
	survivor := sets.New(pods[1].UID)
	for until := time.Now().Add(outage); time.Now().Before(until); time.Sleep(time.Second) {
		must(t, stillServe(t.Context(), darkroom, survivor))
	}
	err = says(t.Context(), darkroom, metav1.ConditionFalse, v1alpha1.ReasonImageUnprocessable,
		v1alpha1.ReasonSourceTimeout)
	if err != nil {
		t.Errorf("a pod that was created during the outage: %v", err)
	}
	start()
	t.Logf("all pods ready %s after the end of an outage of %s",
		waitReady(t, darkroom).Round(100*time.Millisecond), outage)
	if err := stillServe(t.Context(), darkroom, survivor); err != nil {
		t.Error(err)
	}
}
