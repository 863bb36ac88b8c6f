package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Darkroom is one deployment of the Darkroom image proxy.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=dr,categories=all
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.source.type`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Domains",type=string,JSONPath=`.status.domains`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 53",message="metadata.name must be no longer than 53 characters: it becomes the name of a Helm release"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must start with a letter and contain only lower-case letters, digits and '-': it becomes the name of a Service"
type Darkroom struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec DarkroomSpec `json:"spec"`

	// Status is the observed state. Only the operator writes it. The default
	// observedGeneration of -1 marks a Darkroom that has not been reconciled yet.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status DarkroomStatus `json:"status,omitempty"`
}

// DarkroomList is a list of Darkrooms.
//
// +kubebuilder:object:root=true
type DarkroomList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Darkroom `json:"items"`
}

// DarkroomSpec is the desired state of a Darkroom.
//
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || size(self.subDomains) <= 16",fieldPath=".subDomains",message="an HTTPRoute supports at most 16 hosts: remove some, or use an Ingress instead of the gateway"
type DarkroomSpec struct {
	// Version is the Darkroom release to run, used as the container image tag. A
	// semantic version such as 0.4.2 means the tag v0.4.2, because release tags have
	// a leading "v". Other tags are used unchanged. Defaults to the release that the
	// operator was built for.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9_][A-Za-z0-9_.+-]*)?$')",message="must be a version such as 0.4.2 or an image tag"
	Version string `json:"version,omitempty"`

	// Image configures the repository of the container image and how it is pulled.
	// +optional
	Image *Image `json:"image,omitempty"`

	// Source is the source of the original images.
	// +required
	Source Source `json:"source"`

	// SubDomains are the sub-domains at which images are served. Each is a DNS label
	// or several joined by dots. The host is <subDomain>.<base domain>; the base
	// domain is a setting of the operator.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=190
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')",message="must be a DNS name: labels of lower-case letters, digits and '-', joined by dots, for example photos or img.photos"
	SubDomains []string `json:"subDomains"`

	// Replicas is the desired number of pods. It is ignored with autoscaling.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`

	// Autoscaling creates a HorizontalPodAutoscaler, which sets the number of pods.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// Resources are the compute resources of each pod. Unset values default to those
	// of the chart. The memory limit defaults to 2Gi, or to the memory request if that
	// is higher.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// CacheTTLSeconds is the cache lifetime of images in browsers and CDNs, in seconds
	// (Cache-Control: max-age). Defaults to one year.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	CacheTTLSeconds *int64 `json:"cacheTTLSeconds,omitempty"`

	// LogLevel is the minimum severity that Darkroom logs. Defaults to info.
	// +optional
	LogLevel LogLevel `json:"logLevel,omitempty"`

	// DefaultParams are URL parameters added to every request for an image, for
	// example auto: compress. If the request has the same parameter, both values
	// apply, so do not set w, h or fit here. No released version of Darkroom serves
	// WebP with auto: format.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(name, size(name) <= 64)",message="names must have at most 64 characters"
	DefaultParams map[string]ParamValue `json:"defaultParams,omitempty"`

	// Metrics configures the metrics of the pods.
	// +optional
	Metrics *Metrics `json:"metrics,omitempty"`

	// Probe is a request for an image that the operator sends to the Darkroom at
	// intervals. The Darkroom is ready only while the image is served, and a new pod
	// receives requests only after it has served the image. Without a probe
	// only /ping of each pod is checked, which succeeds even if the source cannot be
	// read. A failed probe does not restart or remove pods.
	// +optional
	Probe *Probe `json:"probe,omitempty"`

	// Ingress configures the Ingress that routes the hosts. An Ingress is created
	// unless only gateway is set. If both are set, an Ingress and an HTTPRoute route
	// the hosts, which allows a migration without downtime.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// Gateway creates an HTTPRoute of the Gateway API for the hosts. It replaces the
	// Ingress, unless ingress is set too.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`

	// Service configures the Services of the pods.
	// +optional
	Service *Service `json:"service,omitempty"`

	// NetworkPolicy restricts the traffic of the pods.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// PodTemplate configures scheduling and metadata of the pods.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`

	// ExtraEnv are environment variables added to the Darkroom container. They take
	// precedence over those that the operator sets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.all(e, e.name != 'DEBUG')",message="DEBUG is not allowed: it exposes profiling on the port that serves images; set logLevel: debug for verbose logs"
	ExtraEnv []corev1.EnvVar `json:"extraEnv,omitempty"`

	// ExtraEnvFrom are sources of environment variables added to the Darkroom
	// container.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	ExtraEnvFrom []corev1.EnvFromSource `json:"extraEnvFrom,omitempty"`
}

// ParamValue is the value of a URL parameter.
//
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:XValidation:rule="self.matches('^[^;=[:cntrl:]]*$')",message="must not contain ';', '=' or control characters"
type ParamValue string

// LogLevel is a log level of Darkroom. (Darkroom hangs with any other level.)
//
// +kubebuilder:validation:Enum=debug;info;warn;error;fatal;panic
type LogLevel string

// Image configures the repository of the container image and how it is pulled.
type Image struct {
	// Repository is the container image without a tag. Defaults to the operator's
	// environment variable RELATED_IMAGE_DARKROOM, or to gojektech/darkroom.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*$')",message="must be a repository such as registry.example.com/team/darkroom, without a tag: the tag is spec.version"
	Repository string `json:"repository,omitempty"`

	// PullPolicy is the pull policy of the container image. Defaults to IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`

	// PullSecrets are references to Secrets with registry credentials in the same
	// namespace.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	PullSecrets []corev1.LocalObjectReference `json:"pullSecrets,omitempty"`
}

// Autoscaling configures a HorizontalPodAutoscaler.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",fieldPath=".minReplicas",message="must not exceed maxReplicas"
type Autoscaling struct {
	// MinReplicas is the minimum number of pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// MaxReplicas is the maximum number of pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReplicas int32 `json:"maxReplicas"`

	// TargetCPUUtilizationPercentage is the target of the average CPU usage, as a
	// percentage of the CPU request. Defaults to 75.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`
}

// Metrics configures the metrics of the pods.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.serviceMonitor) && self.serviceMonitor) || (has(self.enabled) && self.enabled)",fieldPath=".serviceMonitor",message="requires metrics.enabled: true"
type Metrics struct {
	// Enabled serves Prometheus metrics at /metrics of the pods. The Ingress and the
	// HTTPRoute do not expose them.
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// ServiceMonitor creates a ServiceMonitor for the pods. It requires the CRDs of
	// the Prometheus Operator.
	// +optional
	ServiceMonitor bool `json:"serviceMonitor,omitempty"`
}

// Service configures the Services of the pods.
type Service struct {
	// IPFamilyPolicy defines whether the Services have IPv4 and IPv6 addresses.
	// PreferDualStack assigns both where the cluster has both; RequireDualStack fails in
	// other clusters. Defaults to SingleStack.
	// +optional
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	IPFamilyPolicy corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`
}

// NetworkPolicy restricts the traffic of the pods.
type NetworkPolicy struct {
	// Enabled creates a NetworkPolicy that allows ingress to the HTTP port only, and
	// egress to all addresses except the metadata services of clouds.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
}

// Ingress configures the Ingress that routes the hosts.
type Ingress struct {
	// ClassName is the IngressClass. Defaults to the default class of the operator,
	// if set, or of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`

	// Annotations are added to the Ingress. The administrator configures which are
	// allowed (flag --ingress-annotations of the operator). By default, annotations
	// that route, authenticate or inject configuration are not allowed. Keys of
	// helm.sh and deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// TLSSecretName is the name of a Secret with the TLS certificate of the hosts, in
	// the same namespace. If empty, the Ingress has no TLS section.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TLSSecretName string `json:"tlsSecretName,omitempty"`
}

// Gateway configures the HTTPRoute that routes the hosts.
type Gateway struct {
	// ParentRefs are the Gateways that the route is attached to. References to the
	// same Gateway must have different sectionNames.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.name == b.name && has(a.__namespace__) == has(b.__namespace__) && (!has(a.__namespace__) || a.__namespace__ == b.__namespace__) && (!has(a.sectionName) || !has(b.sectionName) || a.sectionName == b.sectionName)))",message="a Gateway is referenced more than once: remove the duplicate, or name a different listener in the sectionName of each reference"
	ParentRefs []ParentRef `json:"parentRefs"`

	// Annotations are added to the HTTPRoute. The administrator configures which are
	// allowed, as for those of the Ingress. Keys of helm.sh and
	// deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// Timeouts are the timeouts of the route.
	// +optional
	Timeouts *GatewayTimeouts `json:"timeouts,omitempty"`
}

// GatewayTimeouts are the timeouts of an HTTPRoute.
type GatewayTimeouts struct {
	// Request is the timeout of a request, as a duration of the Gateway API such as
	// 10s or 1m30s. 0s disables the timeout. Defaults to that of the Gateway.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$')",message="must be a duration of the Gateway API, for example 10s or 1m30s"
	// +kubebuilder:validation:MaxLength=32
	Request string `json:"request,omitempty"`
}

// ParentRef is a reference to a Gateway, or to one of its listeners.
type ParentRef struct {
	// Name is the name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace is the namespace of the Gateway. Defaults to that of the Darkroom.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// SectionName is the name of a listener. If empty, all listeners are used.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
}

// PodTemplate configures scheduling and metadata of the pods.
type PodTemplate struct {
	// Annotations are added to the pods. Keys of helm.sh and
	// deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// Labels are added to the pods. Keys of helm.sh and deployments.example.com
	// are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Labels map[string]string `json:"labels,omitempty"`

	// NodeSelector selects the nodes for the pods by label.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations allow the pods to run on tainted nodes.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity are the affinity and anti-affinity rules of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// TopologySpreadConstraints spread the pods across zones or nodes. Each pair of
	// topologyKey and whenUnsatisfiable must be unique.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// ServiceAccountName is the ServiceAccount of the pods. Defaults to one that is
	// created for this Darkroom. Its token is not mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}
