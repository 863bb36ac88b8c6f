//go:build e2e

package olm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

const (
	packageName = "darkroom-operator"
	// catalogSource differs from the name in the documents, because OLM remembers the content of a CatalogSource by its
	// name for a while.
	catalogSource = "tested-catalog"
)

// csv is the name of a release's ClusterServiceVersion.
func csv(version string) string { return packageName + ".v" + version }

// bundleOf returns the folder of a release's bundle.
func bundleOf(version string) string {
	if version == thisVersion {
		return filepath.Join(repository, "bundle")
	}
	return filepath.Join(previousSource(), "bundle")
}

// catalogOf creates a catalog of releases: the channels of catalog/, and a file for each release in them, which render
// generates from its bundle. A release that catalog/ does not contain, because it was never published, is in no catalog
// with others. Users who tried it are upgraded by the skipRange of the next release.
func catalogOf(t *testing.T, render func(bundle, version string) string, versions ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "catalog", packageName, "package.yaml"))
	must(t, err)
	files := map[string]string{}
	for _, document := range decode(t, string(text)) {
		if document.Object["schema"] == "olm.channel" {
			entries, listed := entriesOf(t, document, versions)
			document.Object["entries"] = entries
			for _, version := range listed {
				files[version+".yaml"] = render(bundleOf(version), version)
			}
		}
		text, err := yaml.Marshal(document.Object)
		must(t, err)
		files["package.yaml"] += "---\n" + string(text)
	}
	folder := filepath.Join(t.TempDir(), packageName)
	err = os.Mkdir(folder, 0o755)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	must(t, err)
	mustRun(t, filepath.Join(binaries, "k8s", "opm"), "validate", filepath.Dir(folder))
	return folder
}

// entriesOf returns a channel's entries for some releases, and the releases that have an entry.
func entriesOf(t *testing.T, channel *unstructured.Unstructured, versions []string) (entries []any, listed []string) {
	t.Helper()
	all, _, err := unstructured.NestedSlice(channel.Object, "entries")
	must(t, err)
	for _, entry := range all {
		name, _ := entry.(map[string]any)["name"].(string)
		if version := strings.TrimPrefix(name, csv("")); slices.Contains(versions, version) {
			entries, listed = append(entries, entry), append(listed, version)
		}
	}
	if len(entries) == 0 {
		return []any{map[string]any{"name": csv(versions[0])}}, versions[:1]
	}
	return entries, listed
}

// serveCatalog serves a catalog of releases at the node's address until the test ends, and returns
// the address. All manifests are embedded, so the lifecycle manager needs no bundle image.
func serveCatalog(t *testing.T, versions ...string) (address string) {
	t.Helper()
	opm := filepath.Join(binaries, "k8s", "opm")
	folder := catalogOf(t, func(bundle, _ string) string { return mustRun(t, opm, "render", bundle, "--output", "yaml") },
		versions...)
	free, err := program.FreeAddress()
	must(t, err)
	_, port, _ := net.SplitHostPort(free)
	server := exec.Command(opm, "serve", filepath.Dir(folder), "--port", port, "--pprof-addr=",
		"--termination-log="+filepath.Join(t.TempDir(), "ended"))
	must(t, child.Start(server))
	t.Cleanup(func() { _ = errors.Join(server.Process.Kill(), server.Wait()) }) // it was killed
	return net.JoinHostPort(nodeIP, port)
}

// pointCatalogSource points the CatalogSource to an address, and waits until OLM has read it.
func pointCatalogSource(t *testing.T, address string) {
	t.Helper()
	source := &operatorsv1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Namespace: lifecycleNamespace, Name: catalogSource},
	}
	_, err := controllerutil.CreateOrUpdate(t.Context(), kube, source, func() error {
		source.Spec = operatorsv1alpha1.CatalogSourceSpec{
			SourceType: operatorsv1alpha1.SourceTypeGrpc, Address: address, DisplayName: "Darkroom", Publisher: "Darkroom",
		}
		return nil
	})
	must(t, err)
	eventually(t, "the catalog is read", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(source), source); err != nil {
			return err
		}
		state := source.Status.GRPCConnectionState
		if state == nil || state.LastObservedState != "READY" || state.Address != address {
			return fmt.Errorf("the connection is %+v: %s", state, pods(ctx))
		}
		return nil
	})
}
