//go:build e2e

package olm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestKustomize installs the earlier release as described in the README, runs a Darkroom, upgrades the operator to this
// release, downgrades it, and removes it. This operator has permissions only in its own namespace. TestHelm does the
// same with the API server, and test/docs with the other overlays.
func TestKustomize(t *testing.T) {
	removeAfterFailure(t)
	const overlay = "overlays/namespaced"
	deployPrevious(t, overlay)
	photos := newDarkroom(t, installNamespace, "photos")
	waitServing(t, photos, defaultBaseDomain)
	before := darkroomPods(t, photos)

	mustRun(t, "make", "-C", repository, "deploy", "OVERLAY="+overlay,
		"IMG="+operatorImage+thisVersion, "KUBECTL=kubectl")
	runsImage(t, installNamespace, managerName, thisVersion)
	pods := worksOn(t, photos, defaultBaseDomain, before)
	deployPrevious(t, overlay)
	worksOn(t, photos, defaultBaseDomain, pods)
	mustRun(t, "make", "-C", repository, "undeploy", "OVERLAY="+overlay,
		"IMG="+operatorImage+thisVersion, "KUBECTL=kubectl")
	leavesNothing(t)
}

// deployPrevious applies the install.yaml of the earlier release, built from its config/.
func deployPrevious(t *testing.T, overlay string) {
	t.Helper()
	folder := filepath.Join(previousSource(), "bin", "overlay")
	name, _, _ := strings.Cut(operatorImage, ":")
	text := fmt.Sprintf("resources:\n- ../../config/%s\nimages:\n", overlay)
	// In releases before 0.1.0, the image is named controller.
	for _, placeholder := range []string{"controller", "ghcr.io/darkroom-operator/darkroom-operator"} {
		text += fmt.Sprintf("- name: %s\n  newName: %s\n  newTag: v%s\n", placeholder, name, previousVersion)
	}
	must(t, os.MkdirAll(folder, 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600))
	file := filepath.Join(folder, "install.yaml")
	mustRun(t, filepath.Join(binaries, "tools", "kustomize"), "build", folder, "--output", file)
	mustRun(t, "kubectl", "apply", "--server-side", "--filename", file)
	runsImage(t, installNamespace, managerName, previousVersion)
}

// operatorsChart returns the folder of the operator's chart in a source tree. It was dist/chart in the earlier release.
func operatorsChart(source string) string {
	folder := filepath.Join(source, "charts", packageName)
	if _, err := os.Stat(folder); err != nil {
		return filepath.Join(source, "dist", "chart")
	}
	return folder
}

// TestHelm does the same with the operator's chart and the API server.
func TestHelm(t *testing.T) {
	removeAfterFailure(t)
	helm := func(command string, args ...string) {
		t.Helper()
		t.Setenv("HELM_NAMESPACE", installNamespace)
		mustRun(t, filepath.Join(binaries, "tools", "helm"),
			append([]string{command, packageName, "--wait", "--timeout=4m"}, args...)...)
	}
	values := func(version string) []string {
		return []string{
			"--set=image.tag=v" + version, "--set=manager.baseDomain=" + baseDomain,
			"--set=apiserver.enabled=true",
		}
	}
	helm("install", append(values(previousVersion), operatorsChart(previousSource()), "--create-namespace")...)
	photos := newDarkroom(t, newNamespace(t, "helm"), "photos")
	waitServing(t, photos, baseDomain)
	runsAsPod(t, installNamespace, previousVersion)
	before := darkroomPods(t, photos)

	helm("upgrade", append(values(thisVersion), operatorsChart(repository))...)
	runsAsPod(t, installNamespace, thisVersion)
	pods := worksOn(t, photos, baseDomain, before)

	helm("rollback", "1")
	runsAsPod(t, installNamespace, previousVersion)
	worksOn(t, photos, baseDomain, pods)

	emptyNamespace(t, "helm")
	helm("uninstall")
	leavesNothing(t)
	leases := &coordinationv1.LeaseList{}
	must(t, kube.List(t.Context(), leases, client.InNamespace(installNamespace)))
	if len(leases.Items) > 0 {
		t.Errorf("%d Leases are left, for which the next installation would wait: %v", len(leases.Items), leases.Items)
	}
	removeDefinition(t)
	remove(t, "", "namespace", installNamespace)
}
