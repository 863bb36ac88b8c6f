//go:build e2e

package olm

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
)

// TestKustomize installs the operator as the README says, runs a Darkroom, upgrades it,
// and removes it. The namespaced operator has no rights but in its own namespace.
func TestKustomize(t *testing.T) {
	for _, overlay := range []string{"default", "overlays/namespaced", "overlays/with-apiserver"} {
		t.Run(filepath.Base(overlay), func(t *testing.T) {
			makeTarget(t, "deploy", overlay, firstVersion)
			namespace := installNamespace
			if overlay != "overlays/namespaced" {
				namespace = newNamespace(t, "kustomize-"+filepath.Base(overlay))
			}
			photos := newDarkroom(t, namespace, "photos")
			waitServing(t, photos, defaultBaseDomain)
			before := darkroomPods(t, photos.Name, namespace)

			makeTarget(t, "deploy", overlay, secondVersion)
			waitServing(t, photos, defaultBaseDomain)
			if after := darkroomPods(t, photos.Name, namespace); !slices.Equal(before, after) {
				t.Errorf("the pods were %q, and are %q", before, after)
			}
			makeTarget(t, "undeploy", overlay, secondVersion)
			leavesNothingAtAll(t)
		})
	}
}

func makeTarget(t *testing.T, target, overlay, version string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "make", "-C", repository, target,
		"OVERLAY="+overlay, "IMG="+operatorImage+version, "KUBECTL=kubectl").CombinedOutput()
	if err != nil {
		t.Fatalf("make %s OVERLAY=%s: %v: %s: %s", target, overlay, err, out, podsOf(context.Background(), installNamespace))
	}
}

// TestHelm does the same by the operator's chart.
func TestHelm(t *testing.T) {
	settings := cli.New()
	settings.SetNamespace(installNamespace)
	configuration := &action.Configuration{}
	if err := configuration.Init(settings.RESTClientGetter(), installNamespace, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	chart, err := loader.Load(filepath.Join(repository, "dist", "chart"))
	if err != nil {
		t.Fatal(err)
	}
	values := func(version string) map[string]any {
		return map[string]any{
			"image":   map[string]any{"tag": "v" + version},
			"manager": map[string]any{"baseDomain": baseDomain},
		}
	}
	install := action.NewInstall(configuration)
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.Wait, install.Timeout = packageName, installNamespace, true, true, patience
	if _, err := install.RunWithContext(t.Context(), chart, values(firstVersion)); err != nil {
		t.Fatalf("helm install: %v: %s", err, podsOf(context.Background(), installNamespace))
	}
	photos := newDarkroom(t, newNamespace(t, "helm"), "photos")
	waitServing(t, photos, baseDomain)
	before := podUIDs(t, "helm")

	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace, upgrade.Wait, upgrade.Timeout = installNamespace, true, patience
	if _, err := upgrade.RunWithContext(t.Context(), packageName, chart, values(secondVersion)); err != nil {
		t.Fatalf("helm upgrade: %v", err)
	}
	runsAsPod(t, installNamespace, secondVersion)
	waitServing(t, photos, baseDomain)
	if after := podUIDs(t, "helm"); !slices.Equal(before, after) {
		t.Errorf("the pods were %q, and are %q", before, after)
	}

	emptyNamespace(t, "helm")
	uninstall := action.NewUninstall(configuration)
	uninstall.Wait, uninstall.Timeout = true, patience
	if _, err := uninstall.Run(packageName); err != nil {
		t.Fatalf("helm uninstall: %v", err)
	}
	leavesNothing(t)
	removeDefinition(t)
	remove(t, namespaceObject(installNamespace))
}

// darkroomPods are the UIDs of a Darkroom's pods.
func darkroomPods(t *testing.T, name, namespace string) []string {
	t.Helper()
	out, err := run(t.Context(), "kubectl", "--namespace", namespace, "get", "pods",
		"--selector", "app.kubernetes.io/instance="+name, "--output", "jsonpath={.items[*].metadata.uid}")
	if err != nil || len(out) == 0 {
		t.Fatalf("the pods of %s: %q: %v", name, out, err)
	}
	return []string{string(out)}
}

// leavesNothingAtAll waits until no object outside of namespaces is the operator's.
func leavesNothingAtAll(t *testing.T) {
	t.Helper()
	eventually(t, "nothing is left outside of namespaces", func(ctx context.Context) error {
		found, err := clusterScoped(ctx)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("there are %q", found)
		}
		return err
	})
}
