//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Not parallel: a machine that is busy elsewhere would be measured.
func TestNoRequestFailsWhileAllPodsAreEvicted(t *testing.T) {
	darkroom := newDarkroom(newNamespace(t), "drained").Replicas(2).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	budget := &policyv1.PodDisruptionBudget{}
	eventually(t, "the budget allows one disruption", func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), budget)
		if err == nil && budget.Status.DisruptionsAllowed != 1 {
			return fmt.Errorf("it allows %d", budget.Status.DisruptionsAllowed)
		}
		return err
	})

	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	before := podUIDs(t, darkroom)
	refused := 0
	load.during(t, "2 of 2 pods evicted", func() {
		for name := range before {
			eventually(t, name+" is evicted", func(ctx context.Context) error {
				eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: name}}
				err := clientset.PolicyV1().Evictions(darkroom.Namespace).Evict(ctx, eviction)
				if apierrors.IsTooManyRequests(err) {
					refused++ // the budget: the pod that replaces the last one is not ready yet
				}
				return client.IgnoreNotFound(err)
			})
		}
		waitSettled(t, darkroom)
	})
	t.Logf("the budget put %d evictions off", refused)
	for name := range podUIDs(t, darkroom) {
		if _, stayed := before[name]; stayed {
			t.Errorf("pod %s was not evicted", name)
		}
	}
}

func TestTheAutoscalerOwnsTheNumberOfPods(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "scaled").Autoscaling(1, 3).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), autoscaler); err != nil {
		t.Fatal(err)
	}
	// An autoscaler would do the same, but there are no metrics for it.
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: darkroom.Name},
		Spec:       autoscalingv1.ScaleSpec{Replicas: 2},
	}
	if _, err := clientset.AppsV1().Deployments(darkroom.Namespace).UpdateScale(t.Context(), darkroom.Name, scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitPods(t, darkroom, 2)
	// Neither an upgrade nor the repair of another field takes it back.
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	waitSettled(t, darkroom)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: darkroom.Name}}
	change(t, deployment, func(d *appsv1.Deployment) { d.Labels["app.kubernetes.io/part-of"] = "another" })
	eventually(t, "the label is repaired", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return err
		}
		if deployment.Labels["app.kubernetes.io/part-of"] != "darkroom" {
			return errors.New("not yet")
		}
		return nil
	})
	if *deployment.Spec.Replicas != 2 {
		t.Errorf("the number of pods was set back to %d", *deployment.Spec.Replicas)
	}
}

// KEDA writes the scale subresource of the Darkroom.
func TestAScalerSetsThePodsOfADarkroom(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "events").Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	for _, replicas := range []int32{3, 1} {
		desired := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		if err := kube.SubResource("scale").Update(t.Context(), darkroom, client.WithSubResourceBody(desired), client.FieldOwner("keda")); err != nil {
			t.Fatal(err)
		}
		waitPods(t, darkroom, replicas)
	}
}

// waitPods waits until a Darkroom has a number of pods, all of them ready.
func waitPods(t *testing.T, darkroom *v1alpha1.Darkroom, want int32) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods are ready", want), func(ctx context.Context) error {
		if err := settled(ctx, darkroom); err != nil {
			return err
		}
		if darkroom.Status.Replicas != want || darkroom.Status.ReadyReplicas != want {
			return fmt.Errorf("%d of %d are", darkroom.Status.ReadyReplicas, darkroom.Status.Replicas)
		}
		return nil
	})
}

// Not parallel: it changes the one operator.
func TestAnUpgradeOfOperatorAndChartKeepsThePods(t *testing.T) {
	namespace := newNamespace(t)
	plain := newDarkroom(namespace, "plain").Obj()
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": secretKey},
	})
	secret := newDarkroom(namespace, "secret").Source(theSources.s3Reference("keys")).Replicas(2).Obj()
	all := []*v1alpha1.Darkroom{plain, secret}
	before := map[string]types.UID{}
	for _, darkroom := range all {
		create(t, darkroom)
	}
	for _, darkroom := range all {
		waitSettled(t, darkroom)
		for name, uid := range podUIDs(t, darkroom) {
			before[name] = uid
		}
	}

	const nextVersion = "99.0.0"
	if err := theOperator.stop(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(theOperator.stop(), theOperator.start(context.Background())); err != nil {
			t.Error(err)
		}
	})
	for _, darkroom := range all {
		waitServing(t, darkroom) // without an operator
	}
	if err := theOperator.start(t.Context(), "--watches-file", chartOfVersion(t, nextVersion)); err != nil {
		t.Fatal(err)
	}
	for _, darkroom := range all {
		eventually(t, darkroom.Name+" is of the next chart", func(ctx context.Context) error {
			deployment := &appsv1.Deployment{}
			if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), deployment); err != nil {
				return err
			}
			if chart := deployment.Labels["helm.sh/chart"]; chart != "darkroom-"+nextVersion {
				return fmt.Errorf("its chart is %s", chart)
			}
			return settled(ctx, darkroom)
		})
		for name, uid := range podUIDs(t, darkroom) {
			if before[name] != uid {
				t.Errorf("pod %s of %s is a new one", name, darkroom.Name)
			}
		}
	}
}

// chartOfVersion returns a watches file for a copy of the chart with another version.
func chartOfVersion(t *testing.T, version string) string {
	t.Helper()
	folder := t.TempDir()
	chart := filepath.Join(folder, "darkroom")
	if err := os.CopyFS(chart, os.DirFS(filepath.Join(repository, "helm-charts", "darkroom"))); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	raised := regexp.MustCompile(`(?m)^version: .*$`).ReplaceAll(raw, []byte("version: "+version))
	if bytes.Equal(raised, raw) {
		t.Fatal("the chart has no version")
	}
	watches := filepath.Join(folder, "watches.yaml")
	entry := fmt.Sprintf("- group: deployments.example.com\n  version: v1alpha1\n  kind: Darkroom\n  chart: %s\n", chart)
	if err := errors.Join(os.WriteFile(filepath.Join(chart, "Chart.yaml"), raised, 0o600), os.WriteFile(watches, []byte(entry), 0o600)); err != nil {
		t.Fatal(err)
	}
	return watches
}

// podUIDs are the pods of a Darkroom.
func podUIDs(t *testing.T, darkroom *v1alpha1.Darkroom) map[string]types.UID {
	t.Helper()
	reread(t, darkroom)
	pods, err := podsOf(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]types.UID{}
	for i := range pods {
		uids[pods[i].Name] = pods[i].UID
	}
	return uids
}
