// Package wire has the bodies of the REST API: Darkrooms as clients send and receive them, the
// conversion from and to the resource, and the problems that errors of the cluster become.
// It knows neither callers nor the cluster. A new field of spec or source needs a line in
// darkroom.go.
package wire

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Darkroom is a Darkroom in responses: metadata, spec and status in one flat object. It has
// no field that could hold a credential.
type Darkroom struct {
	Name        string            `json:"name" doc:"Name, unique in its namespace"`
	Namespace   string            `json:"namespace"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty" doc:"Annotations, except kubectl.kubernetes.io/last-applied-configuration"`
	Settings
	Source   Source   `json:"source" doc:"Source of the original images"`
	ExtraEnv []EnvVar `json:"extraEnv,omitempty" doc:"Additional environment variables; literal values are write-only"`

	UID             string     `json:"uid,omitempty" doc:"Distinguishes a Darkroom from an earlier one of the same name"`
	ResourceVersion string     `json:"resourceVersion,omitempty" doc:"Version of the Darkroom, which changes with each write; the ETag is this value in quotes"`
	Generation      int64      `json:"generation,omitempty" doc:"Number of the current desired state"`
	CreatedAt       *time.Time `json:"createdAt,omitempty"`
	DeletedAt       *time.Time `json:"deletedAt,omitempty" doc:"Set while the operator uninstalls"`
	Status          Status     `json:"status" doc:"Observed state"`
}

// Settings are the fields that are the same in requests, responses and the resource.
type Settings struct {
	Version         string                         `json:"version,omitempty" doc:"Version of Darkroom to run, for example 0.4.2; empty means the operator's default"`
	Image           *v1alpha1.Image                `json:"image,omitempty" doc:"Container image, and how it is pulled"`
	SubDomains      []string                       `json:"subDomains" doc:"Names at which images are served: <subDomain>.<base domain>" example:"[\"photos\"]"`
	Replicas        *int32                         `json:"replicas,omitempty" doc:"Number of pods; ignored under autoscaling"`
	Autoscaling     *v1alpha1.Autoscaling          `json:"autoscaling,omitempty" doc:"Number of pods set by an autoscaler"`
	Resources       *corev1.ResourceRequirements   `json:"resources,omitempty" doc:"CPU and memory of each pod"`
	CacheTTLSeconds *int64                         `json:"cacheTTLSeconds,omitempty" doc:"How long browsers may cache an image, in seconds"`
	LogLevel        v1alpha1.LogLevel              `json:"logLevel,omitempty" doc:"Minimum severity of log messages: debug, info, warn, error, fatal or panic"`
	DefaultParams   map[string]v1alpha1.ParamValue `json:"defaultParams,omitempty" doc:"URL parameters added to every request for an image"`
	Metrics         *v1alpha1.Metrics              `json:"metrics,omitempty" doc:"Whether the pods serve metrics"`
	Probe           *v1alpha1.Probe                `json:"probe,omitempty" doc:"Image that the operator requests at intervals; Ready depends on it"`
	Gate            *v1alpha1.Gate                 `json:"gate,omitempty" doc:"Proxy beside Darkroom with limits and a cache; absent: none"`
	Ingress         *v1alpha1.Ingress              `json:"ingress,omitempty" doc:"Configuration of the Ingress; with gateway, the hosts are routed by both"`
	Gateway         *v1alpha1.Gateway              `json:"gateway,omitempty" doc:"Configuration of an HTTPRoute, which replaces the Ingress unless ingress is set too"`
	Service         *v1alpha1.Service              `json:"service,omitempty" doc:"Configuration of the Services"`
	NetworkPolicy   *v1alpha1.NetworkPolicy        `json:"networkPolicy,omitempty" doc:"Restrictions on the traffic of the pods"`
	PodTemplate     *v1alpha1.PodTemplate          `json:"podTemplate,omitempty" doc:"Additional settings of the pods"`
	ExtraEnvFrom    []corev1.EnvFromSource         `json:"extraEnvFrom,omitempty" doc:"Sources of additional environment variables"`
}

// SourceFields are the fields of a source that are the same in requests and responses.
type SourceFields struct {
	Type                 v1alpha1.SourceType            `json:"type,omitempty" doc:"WebFolder (default), S3, GoogleCloudStorage or CloudFront"`
	BaseURL              string                         `json:"baseUrl,omitempty" doc:"WebFolder: base URL of the images" example:"https://example.com/images"`
	Bucket               string                         `json:"bucket,omitempty" doc:"S3, GoogleCloudStorage: the bucket"`
	Region               string                         `json:"region,omitempty" doc:"S3: the bucket's region"`
	Endpoint             string                         `json:"endpoint,omitempty" doc:"S3: URL of a compatible service; empty means AWS"`
	PathPrefix           string                         `json:"pathPrefix,omitempty" doc:"S3, CloudFront: only paths that start with it are served"`
	CredentialsSecretRef *v1alpha1.CredentialsSecretRef `json:"credentialsSecretRef,omitempty" doc:"S3, GoogleCloudStorage: the Secret with the credentials"`
	Auth                 v1alpha1.SourceAuth            `json:"auth,omitempty" doc:"S3, GoogleCloudStorage: WorkloadIdentity uses the ServiceAccount of the pods in place of credentials; requires gate"`
	Host                 string                         `json:"host,omitempty" doc:"CloudFront: host name of the distribution"`
	SecureProtocol       *bool                          `json:"secureProtocol,omitempty" doc:"CloudFront: use HTTPS; unset means true"`
	CABundleRef          *v1alpha1.CABundleRef          `json:"caBundleRef,omitempty" doc:"ConfigMap or Secret with certificates of private authorities, trusted for the source; requires gate"`
}

// RevisionSettings are the settings of a Darkroom at some time, without what is write-only.
type RevisionSettings struct {
	Settings
	Source   Source   `json:"source"`
	ExtraEnv []EnvVar `json:"extraEnv,omitempty"`
}

// Storage of the credentials of a source.
const (
	credentialsInline    = "inline"
	credentialsSecretRef = "secretRef"
)

// Source is a source in responses.
type Source struct {
	SourceFields
	Credentials string `json:"credentials,omitempty" enum:"inline,secretRef" doc:"Where the credentials are stored; they are never shown"`
}

// EnvVar is an environment variable in responses.
type EnvVar struct {
	Name      string               `json:"name"`
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty" doc:"Source of the value; absent means a literal value, which is not shown"`
}

// Status is the observed state.
type Status struct {
	Phase              v1alpha1.Phase `json:"phase,omitempty" doc:"Pending, Deploying, Ready, Idle, Degraded, Failed, Terminating or Paused; absent before the first reconcile"`
	Message            string         `json:"message,omitempty" doc:"Explanation of the phase"`
	Domains            []string       `json:"domains" doc:"Hosts at which images are served"`
	URL                string         `json:"url,omitempty" doc:"URL of the first domain"`
	Version            string         `json:"version,omitempty" doc:"Version that runs"`
	Address            string         `json:"address,omitempty" doc:"URL within the cluster"`
	Replicas           int32          `json:"replicas"`
	ReadyReplicas      int32          `json:"readyReplicas"`
	Pods               string         `json:"pods,omitempty" doc:"Ready pods and desired pods, for example 1/3"`
	ObservedGeneration int64          `json:"observedGeneration,omitempty" doc:"Generation that this status describes"`
	Release            string         `json:"release,omitempty" doc:"Name of the Helm release"`
	Conditions         []Condition    `json:"conditions,omitempty"`
}

// Condition is a condition of the status.
type Condition struct {
	Type               string     `json:"type"`
	Status             string     `json:"status" doc:"True, False or Unknown"`
	Reason             string     `json:"reason,omitempty"`
	Message            string     `json:"message,omitempty"`
	ObservedGeneration int64      `json:"observedGeneration,omitempty"`
	LastTransitionTime *time.Time `json:"lastTransitionTime,omitempty"`
}
