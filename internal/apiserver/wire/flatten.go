package wire

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Flatten returns the response for a Darkroom. It shares maps and slices with the resource, so it must not be modified.
func Flatten(in *v1alpha1.Darkroom) Darkroom {
	return Darkroom{
		Name:              in.Name,
		Namespace:         in.Namespace,
		Labels:            in.Labels,
		Annotations:       shownAnnotations(in.Annotations),
		DarkroomSpec:      settingsOf(&in.Spec),
		Source:            flattenSource(&in.Spec.Source),
		AdditionalSources: flattenSources(in.Spec.AdditionalSources),
		ExtraEnv:          flattenEnv(in.Spec.ExtraEnv),
		UID:               string(in.UID),
		ResourceVersion:   in.ResourceVersion,
		ETag:              ETag(in),
		Generation:        in.Generation,
		CreatedAt:         Time(&in.CreationTimestamp),
		DeletedAt:         Time(in.DeletionTimestamp),
		Status:            flattenStatus(&in.Status),
	}
}

func shownAnnotations(in map[string]string) map[string]string {
	out := in
	for key, value := range in {
		if !isCopy(key, value) {
			continue
		}
		if len(out) == len(in) {
			out = maps.Clone(in)
		}
		delete(out, key)
	}
	return out
}

// isCopy reports whether an annotation is a copy of the resource by kubectl, kapp or another tool. It may contain
// inline credentials.
func isCopy(key, value string) bool {
	if key == corev1.LastAppliedConfigAnnotation {
		return true
	}
	copied := metav1.TypeMeta{}
	return strings.HasPrefix(value, "{") && json.Unmarshal([]byte(value), &copied) == nil && copied.Kind == v1alpha1.Kind
}

// FlattenRevision returns the settings of a spec. It shares maps and slices with the spec.
func FlattenRevision(spec *v1alpha1.DarkroomSpec) *RevisionSettings {
	return &RevisionSettings{
		settingsOf(spec), flattenSource(&spec.Source),
		flattenSources(spec.AdditionalSources), flattenEnv(spec.ExtraEnv),
	}
}

// settingsOf returns a spec without the fields that responses hide.
func settingsOf(spec *v1alpha1.DarkroomSpec) v1alpha1.DarkroomSpec {
	out := *spec
	out.Source, out.AdditionalSources, out.ExtraEnv = v1alpha1.Source{}, nil, nil
	return out
}

func flattenSource(in *v1alpha1.Source) Source {
	return Source{Source: withoutKeys(in), Credentials: credentialsOf(in)}
}

func flattenSources(in []v1alpha1.AdditionalSource) []AdditionalSource {
	var out []AdditionalSource
	for _, source := range in {
		credentials := credentialsOf(&source.Source)
		source.Source = withoutKeys(&source.Source)
		out = append(out, AdditionalSource{AdditionalSource: source, Credentials: credentials})
	}
	return out
}

func withoutKeys(in *v1alpha1.Source) v1alpha1.Source {
	out := *in
	out.AccessKey, out.SecretKey = "", ""
	return out
}

func credentialsOf(in *v1alpha1.Source) string {
	switch {
	case in.CredentialsSecretRef != nil:
		return credentialsSecretRef
	case in.AccessKey != "" || in.SecretKey != "":
		return credentialsInline
	}
	return ""
}

func flattenEnv(in []corev1.EnvVar) []EnvVar {
	var out []EnvVar
	for _, variable := range in {
		out = append(out, EnvVar{Name: variable.Name, ValueFrom: variable.ValueFrom})
	}
	return out
}

func flattenStatus(in *v1alpha1.DarkroomStatus) Status {
	out := Status{DarkroomStatus: *in, Domains: append([]string{}, in.Domains...)}
	out.ObservedGeneration = max(in.ObservedGeneration, 0) // -1 means not observed yet
	if in.DeployedRelease != nil {
		out.Release = in.DeployedRelease.Name
	}
	return out
}

// Time returns a time for responses; nil if it is zero.
func Time(in *metav1.Time) *time.Time {
	if in.IsZero() {
		return nil
	}
	utc := in.UTC()
	return &utc
}

// Size returns the size of the response for a Darkroom, in bytes of JSON.
func Size(darkroom *v1alpha1.Darkroom) int {
	raw, err := json.Marshal(Flatten(darkroom))
	if err != nil {
		// It cannot be sent in a request, either.
		return 0
	}
	return len(raw)
}
