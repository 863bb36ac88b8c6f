//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/plan"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// removedFlag is a flag that only the older operator has.
const removedFlag = "--max-preflights=1"

// TestAnUpgradeReplacesThePodsThatPlanNames upgrades from an older operator built by hack/older.sh. It has a different
// CRD, a flag that was removed, and a different pod template.
func TestAnUpgradeReplacesThePodsThatPlanNames(t *testing.T) {
	older := filepath.Join(binaries, "older")
	source := filepath.Join(older, "source")
	if _, err := os.Stat(filepath.Join(older, "darkroom-operator")); err != nil {
		t.Skip("the older commit is not in this clone")
	}
	namespace := newNamespace(t)
	t.Cleanup(func() { install(context.WithoutCancel(t.Context()), t, repository) })
	flags := []string{"--watch-namespaces", namespace, "--installation", namespace}
	install(t.Context(), t, source)
	earlier := manager(t, older, source, "earlier", append(flags, removedFlag)...)
	eventually(t, "the older operator is ready", earlier.Ready)
	names := createSamples(t, filepath.Join(source, "config", "samples"), namespace)
	eventually(t, "all pods come from the older operator", rolledOut(namespace, names))
	end(t, earlier, syscall.SIGTERM)
	before := podsOf(t, namespace)

	install(t.Context(), t, repository)
	_, err := program.Output(t.Context(), filepath.Join(binaries, "darkroom-operator"), "manager", removedFlag)
	if err == nil || !strings.Contains(err.Error(), "--max-preflights") {
		t.Errorf("the removed flag: %v", err)
	}
	rolls := planned(t, namespace)
	if len(rolls) == 0 {
		t.Errorf("none of %v gets new pods, although their template has changed", names)
	}
	later := start(t, "later", flags...)
	defer end(t, later, syscall.SIGKILL)
	eventually(t, "plan finds nothing to do", func(context.Context) error {
		if left := planned(t, namespace); len(left) > 0 {
			return fmt.Errorf("%v wait", left)
		}
		return rolledOut(namespace, names)(t.Context())
	})
	after := podsOf(t, namespace)
	for _, name := range names {
		kept := slices.DeleteFunc(slices.Clone(before[name]),
			func(uid types.UID) bool { return !slices.Contains(after[name], uid) })
		want := len(before[name])
		if slices.Contains(rolls, name) {
			want = 0
		}
		if len(kept) != want {
			t.Errorf("%s: %d of %d pods were kept, but plan reported %d", name, len(kept), len(before[name]), want)
		}
	}
}

// install applies the manifests of a release, as users do. The guard of a later release would restrict an earlier
// operator.
func install(ctx context.Context, t *testing.T, source string) {
	t.Helper()
	for _, args := range [][]string{
		{"delete", "--ignore-not-found", "validatingadmissionpolicybinding", "darkroom-operator-guard"},
		{"apply", "--server-side", "--force-conflicts", "-k", filepath.Join(source, "config", "default")},
	} {
		if _, err := program.Output(ctx, "kubectl", args...); err != nil {
			t.Fatal(err)
		}
	}
}

// createSamples creates each sample of a folder twice, the second time without a probe, and returns their names.
func createSamples(t *testing.T, folder, namespace string) (names []string) {
	t.Helper()
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "album-s3"},
		StringData: map[string]string{"accessKey": "key", "secretKey": "secret"},
	})
	files, err := filepath.Glob(filepath.Join(folder, "darkroom-*.yaml"))
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, suffix := range []string{"", "-unprobed"} {
			sample := &unstructured.Unstructured{}
			must(t, yaml.Unmarshal(text, &sample.Object))
			sample.SetNamespace(namespace)
			sample.SetName(sample.GetName() + suffix)
			must(t, unstructured.SetNestedStringSlice(sample.Object, []string{sample.GetName()}, "spec", "subDomains"))
			if suffix != "" {
				unstructured.RemoveNestedField(sample.Object, "spec", "probe")
			}
			create(t, sample)
			names = append(names, sample.GetName())
		}
	}
	return names
}

// rolledOut returns a check that all pods of Darkrooms have the current templates.
func rolledOut(namespace string, names []string) func(context.Context) error {
	return func(ctx context.Context) error {
		var errs []error
		for _, name := range names {
			deployment := &appsv1.Deployment{}
			if err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment); err != nil {
				errs = append(errs, err)
				continue
			}
			status := deployment.Status
			if status.ObservedGeneration != deployment.Generation || status.Replicas != *deployment.Spec.Replicas ||
				status.UpdatedReplicas != status.Replicas || status.ReadyReplicas != status.Replicas {
				errs = append(errs, fmt.Errorf("%s: %d of %d pods are new and %d ready", name, status.UpdatedReplicas,
					*deployment.Spec.Replicas, status.ReadyReplicas))
			}
		}
		return shorten(errs)
	}
}

// podsOf returns the UIDs of the pods of each Deployment in a namespace.
func podsOf(t *testing.T, namespace string) map[string][]types.UID {
	t.Helper()
	deployments, pods := &appsv1.DeploymentList{}, &corev1.PodList{}
	must(t, kube.List(t.Context(), deployments, client.InNamespace(namespace)))
	found := map[string][]types.UID{}
	for _, deployment := range deployments.Items {
		must(t, kube.List(t.Context(), pods, client.InNamespace(namespace),
			client.MatchingLabels(deployment.Spec.Selector.MatchLabels)))
		for _, pod := range pods.Items {
			found[deployment.Name] = append(found[deployment.Name], pod.UID)
		}
	}
	return found
}

// planned returns the Darkrooms in a namespace whose pods will be replaced according to plan. The plan must not contain
// refused Darkrooms or dropped fields.
func planned(t *testing.T, namespace string) (rolls []string) {
	t.Helper()
	out, err := program.Output(t.Context(), filepath.Join(binaries, "darkroom-operator"), "plan", "--namespace", namespace,
		"--installation", namespace, "--output", "json")
	must(t, err)
	made := &plan.Plan{}
	must(t, json.Unmarshal(out, made))
	for _, darkroom := range made.Darkrooms {
		if darkroom.Refused != "" || darkroom.Skipped != "" || len(darkroom.Dropped) > 0 {
			t.Errorf("plan: %+v", darkroom)
		}
		if darkroom.Rolls {
			rolls = append(rolls, darkroom.Name)
		}
	}
	return rolls
}
