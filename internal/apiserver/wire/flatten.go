package wire

import (
	"encoding/json"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Flatten returns the response for a Darkroom. It shares maps and slices with the resource,
// so neither may be changed.
func Flatten(in *v1alpha1.Darkroom) Darkroom {
	return Darkroom{
		Name:            in.Name,
		Namespace:       in.Namespace,
		Labels:          in.Labels,
		Annotations:     shownAnnotations(in.Annotations),
		Settings:        flattenSettings(&in.Spec),
		Source:          flattenSource(&in.Spec.Source),
		ExtraEnv:        flattenEnv(in.Spec.ExtraEnv),
		UID:             string(in.UID),
		ResourceVersion: in.ResourceVersion,
		Generation:      in.Generation,
		CreatedAt:       Time(&in.CreationTimestamp),
		DeletedAt:       Time(in.DeletionTimestamp),
		Status:          flattenStatus(&in.Status),
	}
}

// shownAnnotations omits kubectl's last-applied-configuration, which includes inline
// credentials.
func shownAnnotations(in map[string]string) map[string]string {
	if _, found := in[corev1.LastAppliedConfigAnnotation]; !found {
		return in
	}
	out := maps.Clone(in)
	delete(out, corev1.LastAppliedConfigAnnotation)
	return out
}

// FlattenRevision returns the settings of a revision that was made from a spec. It shares maps and
// slices with the spec.
func FlattenRevision(spec *v1alpha1.DarkroomSpec) *RevisionSettings {
	return &RevisionSettings{flattenSettings(spec), flattenSource(&spec.Source), flattenEnv(spec.ExtraEnv)}
}

func flattenSettings(spec *v1alpha1.DarkroomSpec) (out Settings) {
	carry(&out, spec)
	return out
}

func flattenSource(in *v1alpha1.Source) Source {
	out := Source{}
	carry(&out.SourceFields, in)
	switch {
	case in.CredentialsSecretRef != nil:
		out.Credentials = credentialsSecretRef
	case in.AccessKey != "" || in.SecretKey != "":
		out.Credentials = credentialsInline
	}
	return out
}

func flattenEnv(in []corev1.EnvVar) []EnvVar {
	var out []EnvVar
	for _, variable := range in {
		out = append(out, EnvVar{Name: variable.Name, ValueFrom: variable.ValueFrom})
	}
	return out
}

func flattenStatus(in *v1alpha1.DarkroomStatus) Status {
	out := Status{
		Phase:              in.Phase,
		Message:            in.Message,
		Domains:            in.Domains,
		URL:                in.URL,
		Version:            in.Version,
		Address:            in.Address,
		Replicas:           in.Replicas,
		ReadyReplicas:      in.ReadyReplicas,
		Pods:               in.Pods,
		ObservedGeneration: max(in.ObservedGeneration, 0), // -1 means that nothing was observed yet
	}
	if out.Domains == nil {
		out.Domains = []string{}
	}
	if in.DeployedRelease != nil {
		out.Release = in.DeployedRelease.Name
	}
	for i := range in.Conditions {
		condition := &in.Conditions[i]
		out.Conditions = append(out.Conditions, Condition{
			Type:               condition.Type,
			Status:             string(condition.Status),
			Reason:             condition.Reason,
			Message:            condition.Message,
			ObservedGeneration: condition.ObservedGeneration,
			LastTransitionTime: Time(&condition.LastTransitionTime),
		})
	}
	return out
}

// Time returns a time in responses; nil if it is not set.
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
		// It cannot be sent either.
		return 0
	}
	return len(raw)
}
