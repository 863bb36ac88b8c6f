package install

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/references"
)

// valueSchema is the part of values.schema.json that the tests read.
type valueSchema struct {
	Ref                  string                  `json:"$ref"`
	Type                 any                     `json:"type"`
	Enum                 []any                   `json:"enum"`
	Pattern              string                  `json:"pattern"`
	Minimum              *float64                `json:"minimum"`
	Items                *valueSchema            `json:"items"`
	AnyOf                []valueSchema           `json:"anyOf"`
	AllOf                []valueSchema           `json:"allOf"`
	Properties           map[string]propertyOf   `json:"properties"`
	AdditionalProperties *propertyOf             `json:"additionalProperties"`
	Definitions          map[string]*valueSchema `json:"definitions"`
}

// propertyOf is a schema; false is one that allows nothing, like a schema that names another value.
type propertyOf struct {
	valueSchema
	isFalse bool
}

// otherName is a schema that only names the intended value.
var otherName = regexp.MustCompile(`^\{\s*"const": "set as `)

func (p *propertyOf) UnmarshalJSON(text []byte) error {
	if p.isFalse = string(text) == "false" || otherName.Match(text); p.isFalse {
		return nil
	}
	return json.Unmarshal(text, &p.valueSchema)
}

// resolve follows references; of several parts it uses the first.
func (s *valueSchema) resolve(root *valueSchema) *valueSchema {
	switch {
	case s.Ref != "":
		return root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")].resolve(root)
	case len(s.AnyOf) > 0:
		return s.AnyOf[0].resolve(root)
	case len(s.AllOf) > 0 && s.Properties == nil:
		return s.AllOf[0].resolve(root)
	}
	return s
}

// types returns the types that a schema allows.
func (s *valueSchema) types() (types []string) {
	switch named := s.Type.(type) {
	case string:
		return []string{named}
	case []any:
		for _, name := range named {
			types = append(types, name.(string))
		}
	}
	return types
}

// walk calls visit with the path of each value, and its schema.
func (s *valueSchema) walk(root *valueSchema, path []string, visit func(path []string, schema *valueSchema)) {
	resolved := s.resolve(root)
	visit(path, resolved)
	for _, name := range slices.Sorted(maps.Keys(resolved.Properties)) {
		if property := resolved.Properties[name]; !property.isFalse && name != "global" {
			property.walk(root, append(slices.Clone(path), name), visit)
		}
	}
}

// at returns the schema of the value at a path.
func (s *valueSchema) at(root *valueSchema, path []string) *valueSchema {
	schema := s.resolve(root)
	for _, name := range path {
		property := schema.Properties[name]
		schema = property.resolve(root)
	}
	return schema
}

// loadChart returns a chart, and the schema of its values.
func loadChart(t *testing.T, folder string) (*chart.Chart, *valueSchema) {
	t.Helper()
	loaded, err := loader.Load(filepath.Join(repository, folder))
	must(t, err)
	schema := &valueSchema{}
	must(t, json.Unmarshal(loaded.Schema, schema))
	return loaded, schema
}

// documentsOf renders a chart with values, each template as a separate document.
func documentsOf(chart *chart.Chart, values map[string]any) (string, error) {
	options := chartutil.ReleaseOptions{Name: "darkroom", Namespace: "darkroom-system", Revision: 1, IsInstall: true}
	toRender, err := chartutil.ToRenderValues(chart, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(chart, toRender)
	var documents strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") {
			documents.WriteString("\n---\n" + files[name])
		}
	}
	return documents.String(), err
}

// place returns the map that contains the last name of a path, and creates its parents.
func place(values map[string]any, path []string) (at map[string]any, name string) {
	at = values
	for _, name := range path[:len(path)-1] {
		if _, found := at[name].(map[string]any); !found {
			at[name] = map[string]any{}
		}
		at = at[name].(map[string]any)
	}
	return at, path[len(path)-1]
}

// removable are values that users remove with null. Kubernetes or other programs have their own defaults for them.
var removable = regexp.MustCompile(
	`(^|\.)resources(\.|$)|(^|\.)(podS|s)ecurityContext\.|^(startup|readiness|liveness)Probe(\.|$)|` +
		`^dashboards\.labels|^replicaCount$`)

// enabled are values that enable the parts with the most values, whose own values are the defaults.
var enabled = map[string]string{
	"charts/darkroom-operator": "{apiserver: {enabled: true, ingress: {enabled: true}}, policies: {enabled: true}}",
	"helm-charts/darkroom":     "{gate: {enabled: true}, hosts: [photos.example.com], networkPolicy: {enabled: true}}",
}

// In YAML, a name without a value is null, for example in a file whose other lines are comments. Helm then also removes
// the default, and "crds: {keep: }" must not delete the CRD with the release.
func TestNullInPlaceOfAValueIsItsDefaultOrRefused(t *testing.T) {
	for folder, full := range settings {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			chart, schema := loadChart(t, folder)
			rendered := map[string]string{} // by the values
			schema.walk(schema, nil, func(path []string, _ *valueSchema) {
				if len(path) == 0 || removable.MatchString(strings.Join(path, ".")) {
					return
				}
				for _, base := range []string{"{}", enabled[folder], full} {
					defaults, null := parse(t, base), parse(t, base)
					at, name := place(defaults, path)
					delete(at, name)
					at, name = place(null, path)
					at[name] = nil
					got, err := documentsOf(chart, null)
					if err != nil {
						if strings.Contains(err.Error(), "executing") || !strings.Contains(err.Error(), name) {
							t.Errorf("%s: null is refused without a name: %v", strings.Join(path, "."), err)
						}
						continue
					}
					key := fmt.Sprint(defaults)
					if rendered[key] == "" {
						rendered[key], err = documentsOf(chart, defaults)
					}
					if err != nil || got != rendered[key] {
						t.Errorf("%s: null is neither refused nor the default (%v)", strings.Join(path, "."), err)
					}
				}
			})
		})
	}
}

// TestAMisspelledValueIsRefused tests each object whose keys the chart knows.
func TestAMisspelledValueIsRefused(t *testing.T) {
	for folder, full := range settings {
		chart, schema := loadChart(t, folder)
		schema.walk(schema, nil, func(path []string, at *valueSchema) {
			if len(at.Properties) == 0 {
				return
			}
			values := parse(t, full)
			in, name := place(values, append(slices.Clone(path), "misspelled"))
			in[name] = "x"
			if _, err := documentsOf(chart, values); err == nil || !strings.Contains(err.Error(), "misspelled") {
				t.Errorf("%s: an unknown value in %q is refused with %v", folder, strings.Join(path, "."), err)
			}
		})
	}
}

// absent are values of a new chart that our chart does not have, not even under another name.
var absent = map[string][]string{
	"charts/darkroom-operator": {"autoscaling", "httpRoute", "livenessProbe", "readinessProbe", "volumes", "volumeMounts"},
	"helm-charts/darkroom":     {"livenessProbe.httpGet", "readinessProbe.httpGet", "serviceAccount.automount"},
}

// TestTheValuesThatHelmCreatesAreTakenOrRefusedByTheNameThatIsMeant sets each value in the chart that `helm create`
// generates.
func TestTheValuesThatHelmCreatesAreTakenOrRefusedByTheNameThatIsMeant(t *testing.T) {
	folder, err := chartutil.Create("created", t.TempDir())
	must(t, err)
	created, err := loader.Load(folder)
	must(t, err)
	for folder, full := range settings {
		chart, _ := loadChart(t, folder)
		for name, value := range created.Values {
			parts := map[string]any{name: value}
			if nested, ok := value.(map[string]any); ok && chart.Values[name] != nil {
				parts = map[string]any{}
				for inner, value := range nested {
					parts[name+"."+inner] = value
				}
			}
			for path, value := range parts {
				if slices.Contains(absent[folder], path) {
					continue
				}
				values := parse(t, full)
				in, last := place(values, strings.Split(path, "."))
				in[last] = value
				if _, err := documentsOf(chart, values); err != nil && !strings.Contains(err.Error(), "set as ") {
					t.Errorf("%s: %s=%v: %v", folder, path, value, err)
				}
			}
		}
	}
}

// Registries and mirrors read the images from annotations of the charts.
func TestTheChartsListTheImagesThatTheyRun(t *testing.T) {
	darkroom, _ := loadChart(t, "helm-charts/darkroom")
	operator, _ := loadChart(t, "charts/darkroom-operator")
	gate, err := os.ReadFile(filepath.Join(repository, "gate", "VERSION"))
	must(t, err)
	const images = "artifacthub.io/images"
	for _, image := range []string{
		"docker.io/gojektech/darkroom:" + darkroom.AppVersion(),
		"ghcr.io/darkroom-operator/darkroom-gate:v" + strings.TrimSpace(string(gate)),
	} {
		if !strings.Contains(darkroom.Metadata.Annotations[images], "image: "+image+"\n") {
			t.Errorf("the chart of a Darkroom does not list %s", image)
		}
	}
	if !strings.HasSuffix(operator.Metadata.Annotations[images], darkroom.Metadata.Annotations[images]) {
		t.Error("the operator's chart does not list the images of a Darkroom")
	}
}

// shaped are valid values of Kubernetes types, which the schemas do not check.
var shaped = map[string]string{
	"affinity":                  "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}",
	"behavior":                  "{scaleDown: {stabilizationWindowSeconds: 60}}",
	"claims":                    "[]",
	"extraEnv":                  "[{name: GOMEMLIMIT, value: 1GiB}, {name: GATE_MEMORY_LIMIT, value: '1'}]",
	"extraEnvFrom":              "[{secretRef: {name: a}}]",
	"extraVolumeMounts":         "[]",
	"extraVolumes":              "[{name: extra, emptyDir: {}}]",
	"ingressFrom":               "[{namespaceSelector: {}}]",
	"parentRefs":                "[{name: public, namespace: gateways, sectionName: https}]",
	"podSecurityContext":        "{fsGroup: 1000650000}",
	"pullSecrets":               "[{name: a}]",
	"imagePullSecrets":          "[{name: a}]",
	"resources":                 "{limits: {memory: 1Gi}}",
	"securityContext":           "{runAsUser: 1000650000}",
	"tolerations":               "[{key: a, operator: Exists}]",
	"topologySpreadConstraints": "[{topologyKey: a, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]",
	"additionalSources":         "[{name: a, path: /a, type: WebFolder, baseUrl: 'https://a.example.com'}]",
}

// images are near-valid image references, for values that are parts of one.
var images = map[string]*rapid.Generator[string]{
	"repository": references.Repositories(), "tag": references.Tags(), "digest": references.Digests(),
	"darkroomImage": references.All(), "gateImage": references.All(), "image": references.All(),
}

// awkward adds texts that a careless administrator might write to the odd ones.
var awkward = append([]string{
	"", "a", "A_b", "a.b", "-a", strings.Repeat("a", 64), strings.Repeat("a", 300), "ü", "a,b", `a"b`,
	"10s", "0", ":0", ":70000", "[::1]:9443", "10.0.0.0/99", "fd00::/8",
	"https://example.com", "*.example.com", "registry.example.com/operator:v1",
}, odd...)

// keys are keys of maps, including some that the charts set themselves.
var keys = []string{
	"a", "example.com/a", "true", "1", "~", "a b", "a: b", "{{ a }}",
	"app.kubernetes.io/name", "app.kubernetes.io/component", "app.kubernetes.io/managed-by",
	"kubectl.kubernetes.io/default-container", "helm.sh/chart",
}

// draw returns a value of roughly the type that a schema allows.
func draw(t *rapid.T, root, schema *valueSchema, path []string) any {
	schema = schema.resolve(root)
	name := path[len(path)-1]
	if text, found := shaped[name]; found {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	if schema.Enum != nil {
		return rapid.SampledFrom(append(slices.Clone(schema.Enum), "other")).Draw(t, name)
	}
	if len(schema.types()) == 0 {
		t.Fatalf("%s has no type, and the test has no value for it", name)
	}
	switch rapid.SampledFrom(schema.types()).Draw(t, name+" type") {
	case "boolean":
		return rapid.Bool().Draw(t, name)
	case "integer", "number":
		return rapid.SampledFrom([]float64{0, 1, 2, 0.5, 80, 1000, 65535, 65536, 1e6, 1 << 31, 1e15}).Draw(t, name)
	case "array":
		var values []any
		for range rapid.IntRange(0, 2).Draw(t, name+" length") {
			values = append(values, draw(t, root, schema.Items, append(path, "item")))
		}
		return values
	case "object":
		values := map[string]any{}
		if schema.AdditionalProperties == nil || schema.AdditionalProperties.isFalse {
			t.Fatalf("the test has no value for %s", name)
		}
		distinct := rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 2, rapid.ID[string])
		for _, key := range distinct.Draw(t, name+" keys") {
			values[key] = draw(t, root, &schema.AdditionalProperties.valueSchema, append(path, key))
		}
		return values
	case "string":
		texts := rapid.SampledFrom(awkward)
		if images[name] != nil {
			texts = rapid.OneOf(texts, images[name])
		}
		if _, err := regexp.Compile(schema.Pattern); err == nil && schema.Pattern != "" {
			texts = rapid.OneOf(texts, rapid.StringMatching(schema.Pattern))
		}
		return texts.Draw(t, name)
	}
	return nil
}

// TestNoObjectHasAKeyTwice sets a key in all maps at once, because several of them are merged into one map of an
// object. Flux, kustomize and post-renderers of Helm reject YAML with duplicate keys.
func TestNoObjectHasAKeyTwice(t *testing.T) {
	for folder, full := range settings {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			chart, schema := loadChart(t, folder)
			documents, err := documentsOf(chart, parse(t, full))
			must(t, err)
			keys := map[string]string{"team": "a"}
			for _, object := range decode(t, []byte(documents)) {
				maps.Copy(keys, object.GetLabels())
				maps.Copy(keys, object.GetAnnotations())
			}
			for key := range keys {
				all := parse(t, full)
				schema.walk(schema, nil, func(path []string, at *valueSchema) {
					if of := at.AdditionalProperties; of == nil || !slices.Contains(of.types(), "string") {
						return
					}
					alone := parse(t, full)
					in, name := place(alone, path)
					in[name] = map[string]any{key: "a"}
					if _, err := documentsOf(chart, alone); err == nil {
						in, name = place(all, path)
						in[name] = map[string]any{key: "a"}
					}
				})
				documents, err := documentsOf(chart, all)
				must(t, err)
				for document := range strings.SplitSeq(documents, "\n---\n") {
					if err := yaml.UnmarshalStrict([]byte(document), &map[string]any{}); err != nil {
						t.Errorf("%v in\n%s", err, document)
					}
				}
			}
		})
	}
}
