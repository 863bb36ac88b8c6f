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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must start with a letter and hold only lower-case letters, digits and '-': it becomes the name of a Service"
type Darkroom struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is wanted.
	// +required
	Spec DarkroomSpec `json:"spec"`

	// Status is the observed state. Only the operator writes it. The default marks
	// a Darkroom that the operator has not observed yet, so that tools that compare
	// generations do not take it for one that is done.
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

// DarkroomSpec is what is wanted of a Darkroom.
//
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || size(self.subDomains) <= 16",fieldPath=".subDomains",message="an HTTPRoute holds 16 hosts at most: use fewer, or an Ingress in place of the gateway"
type DarkroomSpec struct {
	// Version is the Darkroom release to run, used as the image tag. A semantic
	// version such as 0.4.2 means the tag v0.4.2, because release tags carry a
	// "v"; anything else is used as it stands. Empty means the release that the
	// operator was built for.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9_][A-Za-z0-9_.+-]*)?$')",message="must be a version such as 0.4.2 or an image tag"
	Version string `json:"version,omitempty"`

	// Image says which image runs, and how it is pulled.
	// +optional
	Image *Image `json:"image,omitempty"`

	// Source is where the original images come from.
	// +required
	Source Source `json:"source"`

	// SubDomains are the names at which images are served, each a DNS label
	// or several joined by dots. The host is <subDomain>.<base domain>, where
	// the base domain is a setting of the operator.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=190
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')",message="must be a DNS name: labels of lower-case letters, digits and '-', joined by dots, for example photos or img.photos"
	SubDomains []string `json:"subDomains"`

	// Replicas is the number of pods. It is not used under autoscaling.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`

	// Autoscaling lets a HorizontalPodAutoscaler own the number of pods.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// Resources are the CPU and memory of each pod. What is left out keeps the
	// chart's default; without a memory limit of its own a pod is limited to
	// 2Gi, or to its memory request where that is more.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// CacheTTLSeconds is for how many seconds browsers and CDNs may keep an
	// image (Cache-Control: max-age). Unset means the chart's default, a year.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	CacheTTLSeconds *int64 `json:"cacheTTLSeconds,omitempty"`

	// LogLevel is the least severity that Darkroom logs. Empty means info.
	// +optional
	LogLevel LogLevel `json:"logLevel,omitempty"`

	// DefaultParams are URL parameters added to every request for an image, for
	// example auto: compress. A parameter that the request has too counts with
	// both values, so w, h and fit are no good defaults. auto: format never yields
	// WebP in any released version of Darkroom.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(name, size(name) <= 64)",message="names have 64 characters at most"
	DefaultParams map[string]ParamValue `json:"defaultParams,omitempty"`

	// Metrics says whether the pods serve metrics.
	// +optional
	Metrics *Metrics `json:"metrics,omitempty"`

	// Probe is an image that the operator requests from the Darkroom at intervals.
	// With it the Darkroom is ready only while that image is served; without it,
	// only /ping of each pod is checked, which Darkroom answers even when every
	// image fails. A failed probe removes no pod.
	// +optional
	Probe *Probe `json:"probe,omitempty"`

	// Ingress configures the Ingress that routes the hosts. An Ingress is created
	// unless gateway is set and ingress is not. With both set, the hosts are routed
	// by an Ingress and an HTTPRoute at once, which allows a migration from one to
	// the other without downtime.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// Gateway routes the hosts by an HTTPRoute of the Gateway API, in place of the
	// Ingress unless ingress is set too.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`

	// NetworkPolicy restricts the traffic of the pods.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// PodTemplate adds to the pods what this resource has no field for.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`

	// ExtraEnv are environment variables added to the Darkroom container. They
	// win over what the operator sets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.all(e, e.name != 'DEBUG')",message="DEBUG is refused: it opens profiling at the port that serves images; set logLevel: debug to see more"
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
// +kubebuilder:validation:XValidation:rule="self.matches('^[^;=[:cntrl:]]*$')",message="must hold no ';', '=' or control character"
type ParamValue string

// LogLevel is a severity that Darkroom knows. (It hangs at any other word.)
//
// +kubebuilder:validation:Enum=debug;info;warn;error;fatal;panic
type LogLevel string

// Image says which image runs, and how it is pulled.
type Image struct {
	// Repository is the image without a tag. Empty means gojektech/darkroom, or
	// what the operator's environment names in RELATED_IMAGE_DARKROOM.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*$')",message="must be a repository such as registry.example.com/team/darkroom, without a tag: the tag is spec.version"
	Repository string `json:"repository,omitempty"`

	// PullPolicy says when the image is pulled. Empty means IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`

	// PullSecrets name Secrets with registry credentials in the Darkroom's
	// namespace, each once.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	PullSecrets []corev1.LocalObjectReference `json:"pullSecrets,omitempty"`
}

// Autoscaling bounds the number of pods under a HorizontalPodAutoscaler.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",fieldPath=".minReplicas",message="must not be more than maxReplicas"
type Autoscaling struct {
	// MinReplicas is the least number of pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// MaxReplicas is the greatest number of pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReplicas int32 `json:"maxReplicas"`

	// TargetCPUUtilizationPercentage is the average CPU use that the autoscaler
	// aims at, in per cent of the CPU request. Unset means 75.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`
}

// Metrics says whether the pods serve metrics.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.serviceMonitor) && self.serviceMonitor) || (has(self.enabled) && self.enabled)",fieldPath=".serviceMonitor",message="needs metrics.enabled: true"
type Metrics struct {
	// Enabled serves Prometheus metrics at /metrics of the pods. They are never
	// routed to from outside.
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// ServiceMonitor has the Prometheus Operator scrape the pods. Its CRDs must
	// be installed.
	// +optional
	ServiceMonitor bool `json:"serviceMonitor,omitempty"`
}

// NetworkPolicy restricts the traffic of the pods.
type NetworkPolicy struct {
	// Enabled admits connections to the port that serves images alone and keeps the pods
	// from the metadata address of cloud machines.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
}

// Ingress configures the Ingress that routes the hosts.
type Ingress struct {
	// ClassName is the IngressClass. Empty means the operator's default class,
	// and without one the cluster's.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`

	// Annotations are added to the Ingress. The administrator decides which are
	// allowed (see the operator's flag --ingress-annotations); those that route,
	// authenticate or inject configuration are not by default. Keys of helm.sh
	// and deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator keep track of their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// TLSSecretName is the Secret with the TLS certificate of the hosts, in the
	// Darkroom's namespace. Empty means that the Ingress has no TLS section.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TLSSecretName string `json:"tlsSecretName,omitempty"`
}

// Gateway routes the hosts by an HTTPRoute.
type Gateway struct {
	// ParentRefs are the Gateways that the route attaches to. References to the
	// same Gateway need different sectionNames.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.name == b.name && has(a.__namespace__) == has(b.__namespace__) && (!has(a.__namespace__) || a.__namespace__ == b.__namespace__) && (!has(a.sectionName) || !has(b.sectionName) || a.sectionName == b.sectionName)))",message="a Gateway is referenced more than once: remove the duplicate, or name a different listener in the sectionName of each reference"
	ParentRefs []ParentRef `json:"parentRefs"`

	// Annotations are added to the HTTPRoute. Keys of helm.sh and
	// deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator keep track of their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// Timeouts limit how long the Gateway waits.
	// +optional
	Timeouts *GatewayTimeouts `json:"timeouts,omitempty"`
}

// GatewayTimeouts limit how long a Gateway waits.
type GatewayTimeouts struct {
	// Request is the time limit for a whole request, as a duration of the Gateway
	// API such as 10s or 1m30s. 0s disables the limit. Empty means the Gateway's
	// default.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$')",message="must be a duration of the Gateway API, for example 10s or 1m30s"
	// +kubebuilder:validation:MaxLength=32
	Request string `json:"request,omitempty"`
}

// ParentRef names a Gateway, or one listener of it.
type ParentRef struct {
	// Name is the Gateway's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace is the Gateway's namespace. Empty means the Darkroom's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// SectionName is the listener's name. Empty means all listeners.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
}

// PodTemplate adds to the pods what the Darkroom has no field for.
type PodTemplate struct {
	// Annotations are added to the pods. Keys of helm.sh and
	// deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator keep track of their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// Labels are added to the pods. Keys of helm.sh and deployments.example.com
	// are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator keep track of their objects by them; remove them"
	Labels map[string]string `json:"labels,omitempty"`

	// NodeSelector limits the nodes that the pods run on.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations let the pods run on tainted nodes.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity draws the pods to nodes or pods, or keeps them away.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// TopologySpreadConstraints spread the pods over zones or nodes, with at most
	// one for each topologyKey and whenUnsatisfiable.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// ServiceAccountName is the ServiceAccount that the pods run as. Empty means
	// one made for this Darkroom. No token is mounted in either case.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}
