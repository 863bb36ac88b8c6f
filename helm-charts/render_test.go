package charts

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/helm4"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

const (
	releaseName      = "photos"
	releaseNamespace = "gallery"
)

// oldestKubernetes is the first version that kubeVersion in Chart.yaml allows.
var oldestKubernetes = chartutil.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"}

// tryRender renders like `helm template`, including the validation by values.schema.json. The API versions are the ones
// that the cluster serves in addition to Kubernetes' own.
func tryRender(darkroom *chart.Chart, name, values string, apiVersions ...string) (*release.Release, error) {
	parsed, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.ClientOnly = true
	install.DryRun = true
	install.ReleaseName = name
	install.Namespace = releaseNamespace
	install.KubeVersion = &oldestKubernetes
	install.APIVersions = apiVersions
	return install.Run(darkroom, parsed)
}

// render renders the chart with Helm 3 and Helm 4, which must agree, and returns the release of Helm 3.
func render(t *testing.T, values string) *release.Release {
	t.Helper()
	rendered, err := tryRender(mustLoad(t), releaseName, values)
	if err != nil {
		t.Fatalf("render: %v\nvalues:\n%s", err, values)
	}
	parsed, err := chartutil.ReadValues([]byte(values))
	expect.NoError(t, err)
	files, err := helm4.Render(darkroomDir, helm4.Release{
		Name: releaseName, Namespace: releaseNamespace, KubeVersion: oldestKubernetes.Version,
	}, parsed)
	if err != nil {
		t.Fatalf("render with Helm 4: %v\nvalues:\n%s", err, values)
	}
	ours := helm4.Documents(map[string]string{"manifest.yaml": manifest(rendered)})
	expect.Equal(t, "what Helm 4 renders, for the values "+values, ours, helm4.Documents(files))
	return rendered
}

// manifest returns all rendered objects, including test hooks, in a fixed order.
func manifest(rendered *release.Release) string {
	documents := []string{strings.TrimSpace(rendered.Manifest)}
	for _, hook := range rendered.Hooks {
		documents = append(documents, "# Source: "+hook.Path+"\n"+strings.TrimSpace(hook.Manifest))
	}
	return strings.Join(documents, "\n---\n") + "\n"
}

func decode(t *testing.T, rendered *release.Release) []client.Object {
	t.Helper()
	objects, err := manifests.DecodeStrictly(manifest(rendered))
	expect.NoError(t, err)
	return objects
}

// objectsOf renders the chart and decodes the objects.
func objectsOf(t *testing.T, values string) []client.Object {
	t.Helper()
	return decode(t, render(t, values))
}

func deploymentOf(t *testing.T, values string) *appsv1.Deployment {
	t.Helper()
	return manifests.Only[*appsv1.Deployment](t, objectsOf(t, values))
}

func containerOf(t *testing.T, values string) corev1.Container {
	t.Helper()
	return deploymentOf(t, values).Spec.Template.Spec.Containers[0]
}
