package apiserver

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// DarkroomInput is a Darkroom as people send it. What only the server knows (status,
// uid and the like) may be sent along, as it stands in an answer, and is ignored.
type DarkroomInput struct {
	Name        string            `json:"name,omitempty" doc:"Name; in PUT and PATCH that of the path, if given"`
	Namespace   string            `json:"namespace,omitempty" doc:"Namespace; in POST default if left out, in PUT and PATCH that of the path, if given"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Left out in PUT, they stay as they are"`
	Annotations map[string]string `json:"annotations,omitempty" doc:"Left out in PUT, they stay as they are"`
	Settings
	Source   SourceInput   `json:"source" doc:"Where the original images come from"`
	ExtraEnv []EnvVarInput `json:"extraEnv,omitempty" doc:"Further environment variables. One without value and valueFrom keeps the literal value that it has"`
}

// SourceInput is a source as people send it.
type SourceInput struct {
	SourceFields
	AccessKey string `json:"accessKey,omitempty" writeOnly:"true" doc:"S3: access key. Left out with secretKey, inline keys stay as they are"`
	SecretKey string `json:"secretKey,omitempty" writeOnly:"true" doc:"S3: secret key; prefer credentialsSecretRef"`
}

// EnvVarInput is an environment variable as people send it.
type EnvVarInput struct {
	Name      string               `json:"name"`
	Value     *string              `json:"value,omitempty" writeOnly:"true" doc:"Literal value; never shown again"`
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty"`
}

// expand returns what the resource becomes when somebody sends the input in place of
// before, which is empty when it is new. Write-only fields that are left out keep
// their values, and so does metadata that the API does not show.
func expand(in *DarkroomInput, before *v1alpha1.Darkroom) *v1alpha1.Darkroom {
	out := before.DeepCopy()
	out.Name, out.Namespace = in.Name, in.Namespace
	if in.Labels != nil {
		out.Labels = in.Labels
	}
	if in.Annotations != nil {
		out.Annotations = maps.Clone(in.Annotations)
		if applied, found := before.Annotations[corev1.LastAppliedConfigAnnotation]; found {
			out.Annotations[corev1.LastAppliedConfigAnnotation] = applied
		}
	}
	out.Spec = v1alpha1.DarkroomSpec{
		Version:         in.Version,
		Image:           in.Image,
		Source:          expandSource(&in.Source, &before.Spec.Source),
		SubDomains:      in.SubDomains,
		Replicas:        in.Replicas,
		Autoscaling:     in.Autoscaling,
		Resources:       in.Resources,
		CacheTTLSeconds: in.CacheTTLSeconds,
		LogLevel:        in.LogLevel,
		DefaultParams:   in.DefaultParams,
		Metrics:         in.Metrics,
		Probe:           in.Probe,
		Ingress:         in.Ingress,
		Gateway:         in.Gateway,
		NetworkPolicy:   in.NetworkPolicy,
		PodTemplate:     in.PodTemplate,
		ExtraEnv:        expandEnv(in.ExtraEnv, before.Spec.ExtraEnv),
		ExtraEnvFrom:    in.ExtraEnvFrom,
	}
	return out
}

func expandSource(in *SourceInput, before *v1alpha1.Source) v1alpha1.Source {
	out := v1alpha1.Source{
		Type:                 in.Type,
		BaseURL:              in.BaseURL,
		Bucket:               in.Bucket,
		Region:               in.Region,
		Endpoint:             in.Endpoint,
		PathPrefix:           in.PathPrefix,
		AccessKey:            in.AccessKey,
		SecretKey:            in.SecretKey,
		CredentialsSecretRef: in.CredentialsSecretRef,
		Host:                 in.Host,
		SecureProtocol:       in.SecureProtocol,
	}
	if keepsKeys(in, before) {
		out.AccessKey, out.SecretKey = before.AccessKey, before.SecretKey
	}
	return out
}

// keepsKeys tells whether inline keys stay. They outlive neither the kind of source
// that they are for, nor a reference in their place.
func keepsKeys(in *SourceInput, before *v1alpha1.Source) bool {
	return in.AccessKey == "" && in.SecretKey == "" && in.CredentialsSecretRef == nil && in.Type == before.Type
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
