//go:build e2e

package olm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
)

// TestKustomize installs the earlier release as the README says, runs a Darkroom, upgrades
// the operator to this one, and removes it; with config/default, after going back. The
// namespaced operator has no rights but in its own namespace.
func TestKustomize(t *testing.T) {
	for _, overlay := range []string{"default", "overlays/namespaced", "overlays/with-apiserver"} {
		t.Run(filepath.Base(overlay), func(t *testing.T) {
			deployPrevious(t, overlay)
			namespace := installNamespace
			if overlay != "overlays/namespaced" {
				namespace = newNamespace(t, "kustomize-"+filepath.Base(overlay))
			}
			photos := newDarkroom(t, namespace, "photos")
			waitServing(t, photos, defaultBaseDomain)
			before := darkroomPods(t, photos)

			makeTarget(t, "deploy", overlay)
			runsImage(t, installNamespace, managerName, thisVersion)
			pods := worksOn(t, photos, defaultBaseDomain, before)
			if overlay == "default" {
				t.Run("Downgrades", func(t *testing.T) {
					deployPrevious(t, overlay)
					worksOn(t, photos, defaultBaseDomain, pods)
				})
			}
			makeTarget(t, "undeploy", overlay)
			leavesNothingAtAll(t)
		})
	}
}

// deployPrevious applies the install.yaml of the earlier release, made of its config/.
func deployPrevious(t *testing.T, overlay string) {
	t.Helper()
	folder := filepath.Join(previousSource(), "bin", "overlay")
	name, _, _ := strings.Cut(operatorImage, ":")
	text := fmt.Sprintf("resources:\n- ../../config/%s\nimages:\n", overlay)
	// Releases before 0.1.0 name the image controller.
	for _, placeholder := range []string{"controller", "ghcr.io/darkroom-operator/darkroom-operator"} {
		text += fmt.Sprintf("- name: %s\n  newName: %s\n  newTag: v%s\n", placeholder, name, previousVersion)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	manifests, err := run(t.Context(), filepath.Join(binaries, "tools", "kustomize"), "build", folder)
	if err != nil {
		t.Fatalf("the earlier release cannot be installed by config/%s: %v", overlay, err)
	}
	file := filepath.Join(folder, "install.yaml")
	if err := os.WriteFile(file, manifests, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), "kubectl", "apply", "--server-side", "--filename", file); err != nil {
		t.Fatal(err)
	}
	runsImage(t, installNamespace, managerName, previousVersion)
}

func makeTarget(t *testing.T, target, overlay string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "make", "-C", repository, target,
		"OVERLAY="+overlay, "IMG="+operatorImage+thisVersion, "KUBECTL=kubectl").CombinedOutput()
	if err != nil {
		t.Fatalf("make %s OVERLAY=%s: %v: %s: %s", target, overlay, err, out, podsOf(context.Background(), installNamespace))
	}
}

// operatorsChart is the folder of the operator's chart in a source. It was dist/chart in the
// earlier release.
func operatorsChart(source string) string {
	folder := filepath.Join(source, "charts", packageName)
	if _, err := os.Stat(folder); err != nil {
		return filepath.Join(source, "dist", "chart")
	}
	return folder
}

// TestHelm does the same by the operator's chart, and goes back to the earlier release.
func TestHelm(t *testing.T) {
	configuration := helmConfiguration(t)
	previous, err := loader.Load(operatorsChart(previousSource()))
	if err != nil {
		t.Fatal(err)
	}
	chart, err := loader.Load(operatorsChart(repository))
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(configuration)
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.Wait, install.Timeout = packageName, installNamespace, true, true, waitTimeout
	if _, err := install.RunWithContext(t.Context(), previous, chartValues(previousVersion)); err != nil {
		t.Fatalf("helm install: %v: %s", err, podsOf(context.Background(), installNamespace))
	}
	photos := newDarkroom(t, newNamespace(t, "helm"), "photos")
	waitServing(t, photos, baseDomain)
	runsAsPod(t, installNamespace, previousVersion)
	before := darkroomPods(t, photos)

	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace, upgrade.Wait, upgrade.Timeout = installNamespace, true, waitTimeout
	if _, err := upgrade.RunWithContext(t.Context(), packageName, chart, chartValues(thisVersion)); err != nil {
		t.Fatalf("helm upgrade: %v", err)
	}
	runsAsPod(t, installNamespace, thisVersion)
	pods := worksOn(t, photos, baseDomain, before)

	rollback := action.NewRollback(configuration)
	rollback.Version, rollback.Wait, rollback.Timeout = 1, true, waitTimeout
	if err := rollback.Run(packageName); err != nil {
		t.Fatalf("helm rollback: %v", err)
	}
	runsAsPod(t, installNamespace, previousVersion)
	worksOn(t, photos, baseDomain, pods)

	emptyNamespace(t, "helm")
	uninstall := action.NewUninstall(configuration)
	uninstall.Wait, uninstall.Timeout = true, waitTimeout
	if _, err := uninstall.Run(packageName); err != nil {
		t.Fatalf("helm uninstall: %v", err)
	}
	leavesNothing(t)
	removeDefinition(t)
	remove(t, namespaceObject(installNamespace))
}

// helmConfiguration is that of Helm in the namespace in which it installs the operator.
func helmConfiguration(t *testing.T) *action.Configuration {
	t.Helper()
	settings := cli.New()
	settings.SetNamespace(installNamespace)
	configuration := &action.Configuration{}
	if err := configuration.Init(settings.RESTClientGetter(), installNamespace, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	return configuration
}

func chartValues(version string) map[string]any {
	return map[string]any{
		"image":     map[string]any{"tag": "v" + version},
		"manager":   map[string]any{"baseDomain": baseDomain},
		"apiserver": map[string]any{"enabled": true},
	}
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
