// Package wire contains the bodies of the REST API, their conversion from and to the resource, and the conversion of
// errors of the cluster to problems. It sends no requests. Bodies embed the types of the resource, so that they contain
// all of its fields.
package wire

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Darkroom is a Darkroom in responses: metadata, spec and status in one flat object. Its own fields hide the fields of
// the spec that may contain credentials.
type Darkroom struct {
	Name        string            `json:"name" doc:"Name, unique in its namespace"`
	Namespace   string            `json:"namespace"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty" doc:"Annotations, except kubectl.kubernetes.io/last-applied-configuration"`
	v1alpha1.DarkroomSpec
	Source            Source             `json:"source"`
	AdditionalSources []AdditionalSource `json:"additionalSources,omitempty"`
	ExtraEnv          []EnvVar           `json:"extraEnv,omitempty" doc:"Additional environment variables; literal values are write-only"`

	UID             string     `json:"uid,omitempty" doc:"Distinguishes a Darkroom from an earlier one of the same name"`
	ResourceVersion string     `json:"resourceVersion,omitempty" doc:"Version of the Darkroom, which changes with each write"`
	ETag            string     `json:"etag,omitempty" doc:"Value of If-Match for a change of this version; it remains valid until fields that clients can change have changed, and does not depend on the status"`
	Generation      int64      `json:"generation,omitempty" doc:"Number of the current desired state"`
	CreatedAt       *time.Time `json:"createdAt,omitempty"`
	DeletedAt       *time.Time `json:"deletedAt,omitempty" doc:"Set while the operator uninstalls"`
	Status          Status     `json:"status" doc:"Observed state"`
}

// RevisionSettings are the settings of a Darkroom in a revision, without write-only fields.
type RevisionSettings struct {
	v1alpha1.DarkroomSpec
	Source            Source             `json:"source"`
	AdditionalSources []AdditionalSource `json:"additionalSources,omitempty"`
	ExtraEnv          []EnvVar           `json:"extraEnv,omitempty"`
}

// Values of Source.Credentials.
const (
	credentialsInline    = "inline"
	credentialsSecretRef = "secretRef"
)

// Source is a source in responses. Its fields hide the keys in the embedded source.
type Source struct {
	v1alpha1.Source
	AccessKey   *struct{} `json:"accessKey,omitempty" hidden:"true"`
	SecretKey   *struct{} `json:"secretKey,omitempty" hidden:"true"`
	Credentials string    `json:"credentials,omitempty" enum:"inline,secretRef" doc:"Where the credentials are stored; they are never shown"`
}

// AdditionalSource is an additional source in responses, without keys, like Source.
type AdditionalSource struct {
	v1alpha1.AdditionalSource
	AccessKey   *struct{} `json:"accessKey,omitempty" hidden:"true"`
	SecretKey   *struct{} `json:"secretKey,omitempty" hidden:"true"`
	Credentials string    `json:"credentials,omitempty" enum:"inline,secretRef" doc:"Where the credentials are stored; they are never shown"`
}

// EnvVar is an environment variable in responses.
type EnvVar struct {
	Name      string               `json:"name"`
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty" doc:"Source of the value; absent means a literal value, which is not shown"`
}

// Status is the observed state.
type Status struct {
	v1alpha1.DarkroomStatus
	Domains         []string  `json:"domains"`
	Release         string    `json:"release,omitempty" doc:"Name of the Helm release"`
	Selector        *struct{} `json:"selector,omitempty" hidden:"true"`
	DeployedRelease *struct{} `json:"deployedRelease,omitempty" hidden:"true"`
}
