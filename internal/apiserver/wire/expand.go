package wire

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// DarkroomInput is a Darkroom in requests. Read-only fields of responses, such as status and uid, are ignored.
type DarkroomInput struct {
	Name        string            `json:"name,omitempty" doc:"Name; if set in PUT and PATCH, it must match the path"`
	Namespace   string            `json:"namespace,omitempty" doc:"Namespace; in POST it defaults to default; if set in PUT and PATCH, it must match the path"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Unchanged if omitted in PUT"`
	Annotations map[string]string `json:"annotations,omitempty" doc:"Unchanged if omitted in PUT"`
	v1alpha1.DarkroomSpec
	Source            SourceInput             `json:"source"`
	AdditionalSources []AdditionalSourceInput `json:"additionalSources,omitempty"`
	ExtraEnv          []EnvVarInput           `json:"extraEnv,omitempty" doc:"Additional environment variables. A variable without value and valueFrom keeps its literal value"`
}

// SourceInput is a source in requests.
type SourceInput struct {
	v1alpha1.Source
	AccessKey string `json:"accessKey,omitempty" writeOnly:"true" doc:"S3: access key. Inline keys are unchanged if both are omitted and type and endpoint do not change"`
	SecretKey string `json:"secretKey,omitempty" writeOnly:"true" doc:"S3: secret key; use credentialsSecretRef instead where possible"`
}

// AdditionalSourceInput is an additional source in requests.
type AdditionalSourceInput struct {
	v1alpha1.AdditionalSource
	AccessKey string `json:"accessKey,omitempty" writeOnly:"true" doc:"S3: access key. Inline keys are unchanged if both are omitted and the source of this name keeps its type and endpoint"`
	SecretKey string `json:"secretKey,omitempty" writeOnly:"true" doc:"S3: secret key; use credentialsSecretRef instead where possible"`
}

// EnvVarInput is an environment variable in requests.
type EnvVarInput struct {
	Name      string               `json:"name"`
	Value     *string              `json:"value,omitempty" writeOnly:"true" doc:"Literal value; never shown again"`
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty"`
}

// SendsSecrets reports whether the input contains write-only values.
func (in *DarkroomInput) SendsSecrets() bool {
	for _, variable := range in.ExtraEnv {
		if variable.Value != nil {
			return true
		}
	}
	for i := range in.AdditionalSources {
		if source := &in.AdditionalSources[i]; source.AccessKey != "" || source.SecretKey != "" {
			return true
		}
	}
	return in.Source.AccessKey != "" || in.Source.SecretKey != ""
}

// Expand returns the resource with before replaced by the input; before is empty for a new Darkroom. Omitted write-only
// fields and hidden metadata keep their values.
func Expand(in *DarkroomInput, before *v1alpha1.Darkroom) *v1alpha1.Darkroom {
	out := before.DeepCopy()
	out.Name, out.Namespace = in.Name, in.Namespace
	if in.Labels != nil {
		out.Labels = in.Labels
	}
	if in.Annotations != nil {
		out.Annotations = maps.Clone(in.Annotations)
		for key, value := range before.Annotations {
			if isCopy(key, value) {
				out.Annotations[key] = value
			}
		}
	}
	out.Spec = in.DarkroomSpec
	out.Spec.Source = in.Source.Source
	out.Spec.Source.AccessKey, out.Spec.Source.SecretKey = in.Source.AccessKey, in.Source.SecretKey
	for i := range in.AdditionalSources {
		source := in.AdditionalSources[i].AdditionalSource
		source.AccessKey, source.SecretKey = in.AdditionalSources[i].AccessKey, in.AdditionalSources[i].SecretKey
		out.Spec.AdditionalSources = append(out.Spec.AdditionalSources, source)
	}
	out.Spec.ExtraEnv = expandEnv(in.ExtraEnv, before.Spec.ExtraEnv)
	keepKeys(&out.Spec, &before.Spec)
	return out
}

// keepKeys keeps omitted inline keys, unless a Secret is referenced or the keys would be sent to a different service.
func keepKeys(after, before *v1alpha1.DarkroomSpec) {
	known := recipientsOf(before)
	for name, now := range recipientsOf(after) {
		source, was := now.source, known[name]
		if source.AccessKey == "" && source.SecretKey == "" && source.CredentialsSecretRef == nil && source.Auth == "" &&
			was.source != nil && reflect.DeepEqual(now.service, was.service) {
			source.AccessKey, source.SecretKey = was.source.AccessKey, was.source.SecretKey
		}
	}
}

// recipient is a source and the service that receives its keys.
type recipient struct {
	source  *v1alpha1.Source
	service service
}

type service struct {
	kind     v1alpha1.SourceType
	endpoint string
	// extraEnv may override kind and endpoint.
	variables []corev1.EnvVar
}

// recipientsOf returns the sources by name. The name of spec.source is empty.
func recipientsOf(spec *v1alpha1.DarkroomSpec) map[string]recipient {
	out := map[string]recipient{}
	add := func(name, prefix string, source *v1alpha1.Source) {
		to := service{kind: source.Type, endpoint: strings.TrimRight(source.Endpoint, "/")}
		for _, variable := range spec.ExtraEnv {
			if variable.Name == prefix+"KIND" || variable.Name == prefix+"BUCKET_ENDPOINT" {
				to.variables = append(to.variables, variable)
			}
		}
		out[name] = recipient{source, to}
	}
	add("", "SOURCE_", &spec.Source)
	for i := range spec.AdditionalSources {
		source := &spec.AdditionalSources[i]
		add(source.Name, fmt.Sprintf("SOURCE_%d_", i+1), &source.Source)
	}
	return out
}

func expandEnv(in []EnvVarInput, before []corev1.EnvVar) []corev1.EnvVar {
	literal := map[string]string{}
	for _, variable := range before {
		if variable.ValueFrom == nil {
			literal[variable.Name] = variable.Value
		}
	}
	var out []corev1.EnvVar
	for _, variable := range in {
		value := literal[variable.Name]
		switch {
		case variable.Value != nil:
			value = *variable.Value
		case variable.ValueFrom != nil:
			value = ""
		}
		out = append(out, corev1.EnvVar{Name: variable.Name, Value: value, ValueFrom: variable.ValueFrom})
	}
	return out
}
