package install

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// TestTwoReleasesOfTheChartShareNoName installs the chart as two releases: shards, or operators of several teams. Helm
// would reject an object that both contain, or the object would belong to the release that was last upgraded.
func TestTwoReleasesOfTheChartShareNoName(t *testing.T) {
	chart, err := loader.Load(filepath.Join(repository, "charts", "darkroom-operator"))
	must(t, err)
	// Names that are derived from one another or truncated at the same position.
	name := rapid.Custom(func(t *rapid.T) string {
		part := rapid.SampledFrom([]string{"darkroom-operator", "shard", "a", "2", strings.Repeat("x", 17)})
		parts := rapid.SliceOfN(part, 1, 3).Draw(t, "parts")
		return strings.Trim(fmt.Sprintf("%.53s", strings.Join(parts, rapid.SampledFrom([]string{"-", "."}).Draw(t, "by"))),
			"-.")
	})
	namespace := rapid.SampledFrom([]string{"darkroom-system", "a", "b-a", "manager"})
	namespaced := rapid.Bool()
	rapid.Check(t, func(t *rapid.T) {
		scope := namespaced.Draw(t, "namespaced")
		owners := map[string]string{}
		for i := range 2 {
			release := name.Draw(t, fmt.Sprint("name", i))
			in := namespace.Draw(t, fmt.Sprint("namespace", i))
			owner := in + "/" + release
			values := map[string]any{}
			err := yaml.Unmarshal(fmt.Appendf(nil, `
crds: {install: false}
rbac: {namespaced: %v}
manager: {watchNamespaces: [team], leaseNamespace: leases}
apiserver: {enabled: true, impersonation: {enabled: true}, ingress: {enabled: true}}
serviceMonitor: {enabled: true}
dashboards: {enabled: true}
networkPolicy: {enabled: true}
admission: {enabled: true}`, scope), &values)
			if err != nil {
				t.Fatal(err)
			}
			options := chartutil.ReleaseOptions{Name: release, Namespace: in, Revision: 1, IsInstall: true}
			toRender, err := chartutil.ToRenderValues(chart, values, options, chartutil.DefaultCapabilities)
			if err != nil {
				t.Fatal(err)
			}
			files, err := engine.Render(chart, toRender)
			if err != nil {
				t.Fatal(err)
			}
			for file, text := range files {
				if !strings.HasSuffix(file, ".yaml") {
					continue
				}
				objects, err := manifests.Decode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				for _, object := range objects {
					// The name of a release may be a number.
					if _, _, err := unstructured.NestedStringMap(object.Object, "metadata", "labels"); err != nil {
						t.Errorf("labels of %s of the release %s: %v", object.GetKind(), owner, err)
					}
					id := fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
					if other, taken := owners[id]; taken && other != owner &&
						object.GetKind() != "Lease" { // releases in one namespace with the same settings elect one leader
						t.Errorf("%s belongs to the release %s and to %s", id, owner, other)
					}
					owners[id] = owner
					problems := validation.IsDNS1123Subdomain(object.GetName())
					if object.GetKind() == "Service" {
						problems = validation.IsDNS1035Label(object.GetName())
					}
					if len(problems) > 0 {
						t.Errorf("%s of the release %s: %v", id, owner, problems)
					}
				}
			}
		}
	})
}
