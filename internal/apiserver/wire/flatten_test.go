package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// jsonNames returns the names that the fields of a struct have in JSON, those of
// embedded structs included.
func jsonNames(of reflect.Type) []string {
	var out []string
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

func TestEveryFieldOfTheResourceIsReachable(t *testing.T) {
	for name, c := range map[string]struct {
		resource, input, shown reflect.Type
		writeOnly              []string
	}{
		"spec": {
			reflect.TypeFor[v1alpha1.DarkroomSpec](), reflect.TypeFor[DarkroomInput](), reflect.TypeFor[Darkroom](), nil,
		},
		"source": {
			reflect.TypeFor[v1alpha1.Source](), reflect.TypeFor[SourceInput](), reflect.TypeFor[Source](), []string{"accessKey", "secretKey"},
		},
		"extraEnv": {
			reflect.TypeFor[corev1.EnvVar](), reflect.TypeFor[EnvVarInput](), reflect.TypeFor[EnvVar](), []string{"value"},
		},
	} {
		input, shown := jsonNames(c.input), jsonNames(c.shown)
		for _, field := range jsonNames(c.resource) {
			if !slices.Contains(input, field) {
				t.Errorf("%s.%s cannot be written", name, field)
			}
			if secret := slices.Contains(c.writeOnly, field); secret == slices.Contains(shown, field) {
				t.Errorf("%s.%s is shown: %t", name, field, secret)
			}
		}
	}
}

// TestEveryFieldOfTheSpecIsCarriedOver, because it has the same name and type in bodies and in the resource.
func TestEveryFieldOfTheSpecIsCarriedOver(t *testing.T) {
	for body, resource := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[Settings]():     reflect.TypeFor[v1alpha1.DarkroomSpec](),
		reflect.TypeFor[SourceFields](): reflect.TypeFor[v1alpha1.Source](),
	} {
		for _, field := range reflect.VisibleFields(body) {
			if in, found := resource.FieldByName(field.Name); !found || in.Type != field.Type {
				t.Errorf("%s of %s is not carried over", field.Name, body)
			}
		}
	}
}

// TestAResponseThatIsSentBackChangesNothing in the sample that has all fields.
func TestAResponseThatIsSentBackChangesNothing(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "samples", "darkroom-full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	darkroom := &v1alpha1.Darkroom{}
	if err := yaml.UnmarshalStrict(raw, darkroom); err != nil {
		t.Fatal(err)
	}
	darkroom.Spec.ExtraEnv = append(darkroom.Spec.ExtraEnv, corev1.EnvVar{Name: "LITERAL", Value: "literal-value"})
	darkroom.Annotations = map[string]string{"example.com/team": "cats", corev1.LastAppliedConfigAnnotation: "applied"}
	response, err := json.Marshal(Flatten(darkroom))
	if err != nil {
		t.Fatal(err)
	}
	input, err := NewDecoder(NewRegistry()).Decode(response, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after := Expand(input, darkroom); !apiequality.Semantic.DeepEqual(after, darkroom) {
		t.Errorf("it becomes\n%+v\nof\n%+v", after, darkroom)
	}
}

func TestEveryFieldOfTheStatusIsShown(t *testing.T) {
	shown := jsonNames(reflect.TypeFor[Status]())
	for _, field := range jsonNames(reflect.TypeFor[v1alpha1.DarkroomStatus]()) {
		switch field {
		case "selector": // only for the scale subresource
		case "deployedRelease": // shown as release
		default:
			if !slices.Contains(shown, field) {
				t.Errorf("status.%s is not shown", field)
			}
		}
	}
	status := v1alpha1.DarkroomStatus{
		Phase: "Ready", Message: "m", Domains: []string{"cats.example.com"}, URL: "https://cats.example.com", Version: "v1",
		Address: "http://cats", Replicas: 2, ReadyReplicas: 1, Pods: "1/2", ObservedGeneration: 3,
		DeployedRelease: &v1alpha1.DeployedRelease{Name: "cats"}, Conditions: []v1alpha1.Condition{{Type: "Ready"}},
	}
	got := reflect.ValueOf(flattenStatus(&status))
	for _, field := range reflect.VisibleFields(got.Type()) {
		if got.FieldByName(field.Name).IsZero() {
			t.Errorf("%s is lost on the way out", field.Name)
		}
	}
}

// TestInlineKeysGoToTheServiceThatTheyWereEnteredFor and are dropped when anything would send
// them elsewhere.
func TestInlineKeysGoToTheServiceThatTheyWereEnteredFor(t *testing.T) {
	literal := func(name, value string) EnvVarInput { return EnvVarInput{Name: name, Value: &value} }
	for name, c := range map[string]struct {
		change func(*DarkroomInput)
		kept   bool
	}{
		"no change":                  {func(*DarkroomInput) {}, true},
		"another bucket":             {func(in *DarkroomInput) { in.Source.Bucket = "other" }, true},
		"another region":             {func(in *DarkroomInput) { in.Source.Region = "other" }, true},
		"a slash after the endpoint": {func(in *DarkroomInput) { in.Source.Endpoint += "/" }, true},
		"a variable":                 {func(in *DarkroomInput) { in.ExtraEnv = append(in.ExtraEnv, literal("MORE", "x")) }, true},
		"another type":               {func(in *DarkroomInput) { in.Source.Type = v1alpha1.GoogleCloudStorage }, false},
		"another endpoint":           {func(in *DarkroomInput) { in.Source.Endpoint = "https://b.example.com" }, false},
		"no endpoint":                {func(in *DarkroomInput) { in.Source.Endpoint = "" }, false},
		"a Secret":                   {func(in *DarkroomInput) { in.Source.CredentialsSecretRef = &v1alpha1.CredentialsSecretRef{Name: "keys"} }, false},
		"a variable for the endpoint": {func(in *DarkroomInput) {
			in.ExtraEnv = append(in.ExtraEnv, literal("SOURCE_BUCKET_ENDPOINT", "https://b.example.com"))
		}, false},
		"a variable for the kind":      {func(in *DarkroomInput) { in.ExtraEnv = []EnvVarInput{literal("SOURCE_KIND", "s3")} }, false},
		"without the variable of kind": {func(in *DarkroomInput) { in.ExtraEnv = nil }, false},
		"the endpoint from a Secret": {func(in *DarkroomInput) {
			in.ExtraEnv = append(in.ExtraEnv, EnvVarInput{Name: "SOURCE_BUCKET_ENDPOINT", ValueFrom: &corev1.EnvVarSource{}})
		}, false},
	} {
		before := &v1alpha1.Darkroom{Spec: v1alpha1.DarkroomSpec{
			Source: v1alpha1.Source{
				Type: v1alpha1.S3, Bucket: "b", Region: "r", Endpoint: "https://a.example.com", AccessKey: "access", SecretKey: "secret",
			},
			ExtraEnv: []corev1.EnvVar{{Name: "SOURCE_KIND", Value: "aws"}},
		}}
		input := &DarkroomInput{
			Source:   SourceInput{SourceFields: SourceFields{Type: v1alpha1.S3, Bucket: "b", Region: "r", Endpoint: "https://a.example.com"}},
			ExtraEnv: []EnvVarInput{{Name: "SOURCE_KIND"}},
		}
		c.change(input)
		source := Expand(input, before).Spec.Source
		if kept := source.AccessKey == "access" && source.SecretKey == "secret"; kept != c.kept || !kept && source.AccessKey+source.SecretKey != "" {
			t.Errorf("%s: the keys are %q and %q", name, source.AccessKey, source.SecretKey)
		}
	}
}

func TestConcealLeavesNothing(t *testing.T) {
	darkroom := &v1alpha1.Darkroom{}
	darkroom.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "secret", "other": "stays"}
	darkroom.Spec.Source.AccessKey, darkroom.Spec.Source.SecretKey = "secret", "secret"
	darkroom.Spec.ExtraEnv = []corev1.EnvVar{{Name: "A", Value: "secret"}, {Name: "EMPTY"}}
	before := darkroom.DeepCopy()
	Conceal(darkroom)
	if s := darkroom.Spec; s.Source.AccessKey != Redacted || s.Source.SecretKey != Redacted || s.ExtraEnv[0].Value != Redacted || s.ExtraEnv[1].Value != "" {
		t.Errorf("left is %+v", s)
	}
	if len(darkroom.Annotations) != 1 || darkroom.Annotations["other"] != "stays" {
		t.Errorf("annotations are %v", darkroom.Annotations)
	}
	if Flatten(before).Source.Credentials != Flatten(darkroom).Source.Credentials {
		t.Error("where credentials are is no longer told")
	}
}

func TestRedactorTakesSecretsOutOfMessages(t *testing.T) {
	darkroom := &v1alpha1.Darkroom{}
	darkroom.Spec.Source.SecretKey = "the-key"
	darkroom.Spec.ExtraEnv = []corev1.EnvVar{{Name: "A", Value: "the-value"}, {Name: "B", Value: "1"}}
	got := Redactor(darkroom)("refused the-key and the-value, 1 error")
	if strings.Contains(got, "the-") || !strings.Contains(got, "1 error") {
		t.Errorf("message is %q", got)
	}
}
