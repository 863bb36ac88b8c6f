package install

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// odd are texts that YAML reads as something else unless they are quoted.
var odd = []string{
	"2", "012", "1e3", "0x1f", "1_000", "true", "no", "null", "~", "2026-01-01", "a: b", "a #b", "# a", "'a'", `"a"`,
	`a\b`, "{a}", "[a]", "*", "&a", "!a",
	"- a", "? a", "@a", "`a`", "%a", "|", ">", " a", "a ", "a\nb", "{{ a }}",
}

// plain is a text that needs no quotes.
const plain = "placeholder"

// textsOf returns the paths of all values that may be texts or lists of texts.
func textsOf(values map[string]any, path []string) (paths [][]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := append(slices.Clone(path), name)
		switch value := values[name].(type) {
		case nil, string, []any:
			paths = append(paths, at)
		case map[string]any:
			paths = append(paths, textsOf(value, at)...)
		}
	}
	return paths
}

// settings are values with which the charts render all their objects.
var settings = map[string]string{
	"charts/darkroom-operator": `
crds: {install: false}
rbac: {namespaced: true}
manager: {watchNamespaces: [team], leaseNamespace: leases, metricsCertSecret: metrics}
apiserver:
  enabled: true
  impersonation: {enabled: true}
  ingress: {enabled: true, className: nginx, tlsSecretName: tls}
  tlsSecret: tls
  oidcSecret: oidc
serviceMonitor: {enabled: true}
dashboards: {enabled: true}
networkPolicy: {enabled: true}
policies: {enabled: true}
admission: {enabled: true}`,
	"helm-charts/darkroom": `
hosts: [photos.example.com]
source: {type: S3, bucket: {name: a, region: b, endpoint: "http://c"}, credentials: {existingSecret: {name: keys}}, caBundle: {name: ca}}
autoscaling: {enabled: true}
metrics: {enabled: true, serviceMonitor: {enabled: true}}
gate: {enabled: true, signing: {secret: {name: signing}}, cache: {diskBytes: 16777216}}
ingress: {enabled: true, className: nginx, tlsSecretName: tls}
gateway: {enabled: true, parentRefs: [{name: public}], timeouts: {request: 10s}}
networkPolicy: {enabled: true}
probe: {path: /cat.jpg}`,
}

// computed are values that the chart does not write unchanged, with the reason.
var computed = map[string]string{
	"image.tag":        "a v is added before a version, and a tag has no +",
	"nameOverride":     "names have a suffix, and a length",
	"fullnameOverride": "as nameOverride",
	"probe.path":       "part of a URL",
}

// digests are parts of names. They depend on the content of their object or on the settings of the lease.
var digests = regexp.MustCompile(`-[0-9a-f]{10,}|^[0-9a-f]{8}\.`)

// TestTextsInValuesAreThoseOfTheObjects sets any value, or the namespace of the release, to a text that YAML would read
// as something else. The objects must be the same as with a plain text, except for the text itself.
func TestTextsInValuesAreThoseOfTheObjects(t *testing.T) {
	for folder, values := range settings {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			chart, err := loader.Load(filepath.Join(repository, folder))
			must(t, err)
			paths := append(textsOf(chart.Values, nil), nil) // none: the namespace
			paths = slices.DeleteFunc(paths, func(path []string) bool { return computed[strings.Join(path, ".")] != "" })
			var compared int
			compare := func(t rapid.TB, path []string, text string, isList bool) {
				if len(path) == 0 && len(validation.IsDNS1123Label(text)) > 0 {
					return // no namespace has this name
				}
				want, got := renderWith(t, chart, values, path, plain, isList), renderWith(t, chart, values, path, text, isList)
				if want == nil || got == nil {
					return // rejected by the schema of the values
				}
				compared++
				if diff := cmp.Diff(replaced(want, plain, text), replaced(got, plain, plain)); diff != "" {
					t.Errorf("%s: %q (-want +got):\n%s", strings.Join(path, "."), text, diff)
				}
			}
			for _, path := range paths {
				compare(t, path, odd[0], false)
			}
			rapid.Check(t, func(t *rapid.T) {
				path, isList := rapid.SampledFrom(paths).Draw(t, "value"), rapid.Bool().Draw(t, "list")
				compare(t, path, rapid.SampledFrom(odd).Draw(t, "text"), isList)
			})
			if compared == 0 {
				t.Error("all texts are refused")
			}
		})
	}
}

// replaced returns objects with a text replaced, and without digests.
func replaced(objects []any, old, text string) any {
	return manifest.EachText(objects, func(found string) string {
		return digests.ReplaceAllString(strings.ReplaceAll(found, old, text), "-")
	})
}

// renderWith renders a chart with a text as a value, or as the namespace of the release; nil if the chart refuses it.
func renderWith(
	t rapid.TB, chart *chart.Chart, settings string, path []string, text string, isList bool,
) (objects []any) {
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(settings), &values); err != nil {
		t.Fatal(err)
	}
	options := chartutil.ReleaseOptions{Name: "darkroom", Namespace: "darkroom-system", Revision: 1, IsInstall: true}
	if len(path) == 0 {
		options.Namespace = text
	} else {
		at, last := values, len(path)-1
		for _, name := range path[:last] {
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
		at[path[last]] = text
		if isList {
			at[path[last]] = []any{text}
		}
	}
	toRender, err := chartutil.ToRenderValues(chart, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil
	}
	files, err := engine.Render(chart, toRender)
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		decoded, err := manifests.Decode([]byte(files[name]))
		if err != nil {
			t.Fatalf("%s with %s=%q: %v", name, strings.Join(path, "."), text, err)
		}
		for _, object := range decoded {
			objects = append(objects, object.Object)
		}
	}
	return objects
}
