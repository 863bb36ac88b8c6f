package values

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// embedded are fields with Kubernetes types, which only the API server validates. Its error contains the field of the
// object, which has the same name.
var embedded = []string{
	"affinity", "tolerations", "topologySpreadConstraints", "nodeSelector", "behavior", "resources",
	"extraEnvFrom", "valueFrom",
	"configMap", "secret", "pullSecrets",
}

type schema = apiextensionsv1.JSONSchemaProps

// Steps of a path in a schema, in addition to field names: an item of a list, and a key of a map.
const (
	item = "[]"
	key  = "{}"
)

// leavesOf returns the paths of all strings, numbers and booleans of a schema.
func leavesOf(of *schema, path []string) (leaves [][]string) {
	below := func(step string, next *schema) {
		leaves = append(leaves, leavesOf(next, append(slices.Clone(path), step))...)
	}
	switch {
	case of.Items != nil:
		below(item, of.Items.Schema)
	case of.AdditionalProperties != nil:
		below(key, of.AdditionalProperties.Schema)
	case of.Properties != nil:
		for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
			if property := of.Properties[name]; !slices.Contains(embedded, name) {
				below(name, &property)
			}
		}
	default:
		return [][]string{path}
	}
	return leaves
}

// walker changes the fields of a Darkroom at random.
type walker struct {
	*rapid.T

	// texts are strings with a special meaning. named contains, by field name, the strings that a Darkroom's objects
	// have in such a field.
	texts []string
	named map[string][]string
	// items are the items of the lists of all cases, by their paths.
	items map[string][]any
}

func choose[T any](w *walker, what string, from ...T) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(w.T, what)]
}

func (w *walker) text(field string) string {
	if own := w.named[field]; len(own) > 0 && choose(w, "own", true, true, false) {
		return choose(w, field, own...)
	}
	return choose(w, field, w.texts...)
}

// set returns a copy of a value with a new leaf at a path.
func (w *walker) set(of *schema, now any, path []string, field string) any {
	if len(path) == 0 {
		return w.value(of, field)
	}
	switch path[0] {
	case item:
		list, _ := now.([]any)
		at := rapid.IntRange(0, len(list)).Draw(w.T, "item")
		if at == len(list) {
			list = append(list, w.added(of.Items.Schema, field))
		}
		list[at] = w.set(of.Items.Schema, list[at], path[1:], field)
		return list
	case key:
		entries, _ := now.(map[string]any)
		if entries == nil {
			entries = map[string]any{}
		}
		name := choose(w, "key", append(slices.Sorted(maps.Keys(entries)), w.text("key"))...)
		entries[name] = w.set(of.AdditionalProperties.Schema, entries[name], path[1:], field)
		return entries
	}
	fields, _ := now.(map[string]any)
	if fields == nil {
		fields = w.value(of, field).(map[string]any)
	}
	property := of.Properties[path[0]]
	fields[path[0]] = w.set(&property, fields[path[0]], path[1:], path[0])
	return fields
}

// added returns a list item, taken from another case if possible.
func (w *walker) added(of *schema, field string) any {
	if items := w.items[field]; len(items) > 0 {
		return runtime.DeepCopyJSONValue(choose(w, field, items...))
	}
	return w.value(of, field)
}

// value returns a value of a schema, with its required fields.
func (w *walker) value(of *schema, field string) any {
	switch {
	case len(of.Enum) > 0:
		return strings.Trim(string(choose(w, field, of.Enum...).Raw), `"`)
	case of.XIntOrString:
		return choose[any](w, field, "0", "100m", "1", "16Mi", "1Gi", "20G", "1e3", "-1", "0.1", int64(1), int64(1<<24))
	case of.Type == "boolean":
		return choose(w, field, true, false)
	case of.Type == "integer":
		numbers := []int64{0, 1, 2, 11, 20, 25, 26, 80, 1<<31 - 1}
		for _, bound := range []*float64{of.Minimum, of.Maximum} {
			if bound != nil {
				numbers = append(numbers, int64(*bound))
			}
		}
		return choose(w, field, numbers...)
	case of.Type == "array":
		return []any{w.value(of.Items.Schema, field)}
	case of.Type == "object":
		fields := map[string]any{}
		for _, name := range of.Required {
			property := of.Properties[name]
			fields[name] = w.value(&property, name)
		}
		return fields
	}
	return w.text(field)
}

// collectItems adds the items of lists, by the fields that contain them.
func collectItems(value any, into map[string][]any) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if list, isList := value[name].([]any); isList {
				into[name] = append(into[name], list...)
			}
			collectItems(value[name], into)
		}
	case []any:
		for _, one := range value {
			collectItems(one, into)
		}
	}
}

// collect adds the texts of an object, by their fields.
func collect(value any, field string, into map[string][]string) {
	switch value := value.(type) {
	case string:
		if !slices.Contains(into[field], value) && len(value) < 64 {
			into[field] = append(into[field], value)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			collect(name, "key", into)
			collect(value[name], name, into)
		}
	case []any:
		for _, one := range value {
			collect(one, field, into)
		}
	}
}

// fieldsOf returns a value in the plain types of JSON.
func fieldsOf(t interface{ Fatal(args ...any) }, value any) (fields map[string]any) {
	raw, err := json.Marshal(value)
	if err == nil {
		err = utiljson.Unmarshal(raw, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// TestEachDarkroomThatIsAllowedCanBeInstalled generates Darkrooms from the schema. If the definition allows a Darkroom,
// the translator either rejects it and names the field, or the API server accepts the rendered objects. The texts are
// hostile or taken from the objects, so that names collide.
func TestEachDarkroomThatIsAllowedCanBeInstalled(t *testing.T) {
	if !controlplane.Available() {
		t.Skip(controlplane.Missing)
	}
	definitionSchema, err := definition.Schema()
	expect.NoError(t, err)
	spec := definitionSchema.Properties["spec"]
	rules, err := definition.New()
	expect.NoError(t, err)
	judge, cases, named, items := newJudge(t), everything(t), map[string][]string{}, map[string][]any{}
	names := slices.Sorted(maps.Keys(cases))
	for _, name := range names {
		cases[name].Spec.BaseDomain = ""
		values, err := judge.translator.Values(cases[name])
		expect.NoError(t, err)
		rendered, err := tryRender(judge.chart, cases[name], values)
		expect.NoError(t, err)
		objects, err := manifest.Parse(rendered, "team-a")
		expect.NoError(t, err)
		for _, object := range objects {
			collect(object.Object, "", named)
		}
		collectItems(fieldsOf(t, cases[name].Spec), items)
	}
	texts := slices.Clone(hostile)
	for _, field := range slices.Sorted(maps.Keys(named)) {
		texts = append(texts, named[field]...)
	}
	leaves := leavesOf(&spec, nil)
	rapid.Check(t, func(t *rapid.T) {
		w := &walker{t, texts, named, items}
		darkroom := cases[choose(w, "case", names...)].DeepCopy()
		for range rapid.IntRange(1, 10).Draw(t, "changes") {
			fields, changed := fieldsOf(t, darkroom.Spec), darkroom.DeepCopy()
			w.set(&spec, fields, choose(w, "leaf", leaves...), "")
			raw, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			changed.Spec = v1alpha1.DarkroomSpec{}
			if json.Unmarshal(raw, &changed.Spec) != nil || rules.Check(t.Context(), changed.DeepCopy()) != nil {
				continue
			}
			darkroom = changed
			if err := judge.install(t, darkroom); err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
		}
	})
	t.Logf("%d Darkrooms were installed", judge.taken.Load())
}

// install returns an error if a Darkroom can be translated but not installed.
func (j *judge) install(t *rapid.T, darkroom *v1alpha1.Darkroom) error {
	values, err := j.translator.Values(darkroom)
	if err != nil {
		return nil //nolint:nilerr // the error names the field
	}
	rendered, err := tryRender(j.chart, darkroom, values)
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	objects, err := manifest.Parse(rendered, darkroom.Namespace)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	j.taken.Add(1)
	for _, object := range objects {
		document, err := json.Marshal(object)
		if err != nil {
			return err
		}
		if _, before := j.judged.Load(string(document)); before {
			continue
		}
		err = j.kube.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"),
			client.ForceOwnership, client.DryRunAll)
		dualStack := object.GetKind() == "Service" && apierrors.IsInvalid(err) && strings.Contains(err.Error(), "dual-stack")
		if err != nil && !dualStack && !apierrors.IsForbidden(err) && !meta.IsNoMatchError(err) {
			return fmt.Errorf("%s: %w", object.GetKind(), err)
		}
		j.judged.Store(string(document), true)
	}
	return nil
}

// settingsOfGates are fields with rules that prevent settings with which a gate does not start or serves nothing.
var settingsOfGates = regexp.MustCompile(
	`^gate [a-q]|^gate signing|^additionalSources \[] (name|path|stripPath|fallback)$|^probe path$`)

// Users who install the chart without the operator need these errors.
func TestTheChartRefusesSettingsOfTheGateThatTheResourceRefuses(t *testing.T) {
	definitionSchema, err := definition.Schema()
	expect.NoError(t, err)
	spec := definitionSchema.Properties["spec"]
	rules, err := definition.New()
	expect.NoError(t, err)
	chart, err := darkroomChart()
	expect.NoError(t, err)
	translator, cases, items := newTranslator(t, lenient), everything(t), map[string][]any{}
	names := slices.Sorted(maps.Keys(cases))
	for _, name := range names {
		cases[name].Spec.BaseDomain = ""
		collectItems(fieldsOf(t, cases[name].Spec), items)
	}
	leaves := slices.DeleteFunc(leavesOf(&spec, nil), func(path []string) bool {
		return !settingsOfGates.MatchString(strings.Join(path, " "))
	})
	// The translator treats an empty text as unset.
	texts := slices.DeleteFunc(slices.Clone(hostile), func(text string) bool { return text == "" })
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &walker{t, texts, map[string][]string{"key": {"thumb"}, "path": {"/a", "/b"}}, items}
		darkroom := cases[choose(w, "case", names...)].DeepCopy()
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			fields := fieldsOf(t, darkroom.Spec)
			w.set(&spec, fields, choose(w, "leaf", leaves...), "")
			raw, err := json.Marshal(fields)
			darkroom.Spec = v1alpha1.DarkroomSpec{}
			if err != nil || json.Unmarshal(raw, &darkroom.Spec) != nil {
				return
			}
		}
		gate := darkroom.Spec.Gate
		if gate != nil && gate.Cache != nil && gate.Cache.Disk != nil && gate.Cache.Disk.IsZero() {
			gate.Cache.Disk = nil // 0 means the chart's default
		}
		problem := rules.Check(t.Context(), darkroom.DeepCopy())
		values, err := translator.Values(darkroom)
		if problem == nil || err != nil {
			return
		}
		refused++
		if _, err := tryRender(chart, darkroom, values); err == nil {
			t.Fatalf("the chart accepts settings that the resource refuses: %v", problem)
		}
	})
	if refused == 0 {
		t.Error("the resource refuses nothing")
	}
}
