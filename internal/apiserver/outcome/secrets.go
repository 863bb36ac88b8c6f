package outcome

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// States of Secrets and of their keys.
const (
	secretFound   = "found"
	secretMissing = "missing"
	secretUnknown = "unknown"
)

// SecretOutcome reports whether a Secret has the required keys.
type SecretOutcome struct {
	Name  string       `json:"name"`
	Field string       `json:"field" doc:"Field that references it, for example body.source.credentialsSecretRef"`
	State string       `json:"state" enum:"found,missing,unknown" doc:"unknown: the caller may not read it, or it was not looked up"`
	Keys  []KeyOutcome `json:"keys" doc:"The required keys"`
}

// KeyOutcome reports whether a Secret has a key.
type KeyOutcome struct {
	Name  string `json:"name"`
	State string `json:"state" enum:"found,missing,unknown"`
}

// Secrets returns the Secrets that the pods and the Ingress of a Darkroom require, one entry for each name. They are
// unknown until Read is called.
func Secrets(darkroom *v1alpha1.Darkroom) []SecretOutcome {
	needed := neededSecrets{}
	spec := &darkroom.Spec
	for _, credentials := range values.CredentialsOf(spec) {
		needed.add("body."+credentials.Field, credentials.Name, credentials.Keys...)
	}
	for _, file := range values.Files(spec) {
		if file.Kind == "Secret" {
			needed.add("body."+file.Field, file.Name, file.Key)
		}
	}
	if spec.Ingress != nil {
		needed.add("body.ingress.tlsSecretName", spec.Ingress.TLSSecretName, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	for i, variable := range spec.ExtraEnv {
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil && !isOptional(from.SecretKeyRef.Optional) {
			needed.add(fmt.Sprintf("body.extraEnv[%d].valueFrom.secretKeyRef", i), from.SecretKeyRef.Name, from.SecretKeyRef.Key)
		}
	}
	for i, from := range spec.ExtraEnvFrom {
		if from.SecretRef != nil && !isOptional(from.SecretRef.Optional) {
			needed.add(fmt.Sprintf("body.extraEnvFrom[%d].secretRef", i), from.SecretRef.Name)
		}
	}
	needed.addVolumes(spec.PodTemplate)
	return needed
}

// Read records the response to a GET of the Secret. It keeps only the names of the keys. Only NotFound means that the
// Secret is missing.
func (s *SecretOutcome) Read(secret *corev1.Secret, err error) {
	switch {
	case apierrors.IsNotFound(err):
		s.State = secretMissing
	case err == nil:
		s.State = secretFound
	default:
		return
	}
	for i := range s.Keys {
		key := &s.Keys[i]
		key.State = secretMissing
		if _, found := secret.Data[key.Name]; found && s.State == secretFound {
			key.State = secretFound
		}
	}
}

type neededSecrets []SecretOutcome

// add adds a Secret and the keys that it must have.
func (n *neededSecrets) add(field, name string, keys ...string) {
	if name == "" {
		return
	}
	at := slices.IndexFunc(*n, func(s SecretOutcome) bool { return s.Name == name })
	if at < 0 {
		at = len(*n)
		*n = append(*n, SecretOutcome{Name: name, Field: field, State: secretUnknown, Keys: []KeyOutcome{}})
	}
	for _, key := range keys {
		entry := KeyOutcome{Name: key, State: secretUnknown}
		if secret := &(*n)[at]; !slices.Contains(secret.Keys, entry) {
			secret.Keys = append(secret.Keys, entry)
		}
	}
}

func (n *neededSecrets) addVolumes(template *v1alpha1.PodTemplate) {
	if template == nil {
		return
	}
	for i, volume := range template.Volumes {
		if from := volume.Secret; from != nil && !isOptional(from.Optional) {
			n.add(fmt.Sprintf("body.podTemplate.volumes[%d].secret", i), from.SecretName, keysOf(from.Items)...)
		}
	}
}

// keysOf returns the keys that a volume requires.
func keysOf(items []corev1.KeyToPath) []string {
	var keys []string
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}

func isOptional(optional *bool) bool { return optional != nil && *optional }
