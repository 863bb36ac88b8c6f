package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Darkroom is one deployment of the Darkroom image proxy.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=dr
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.source.type`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.pods`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Domains",type=string,JSONPath=`.status.domains`,priority=1
// +kubebuilder:printcolumn:name="Deleted",type=date,JSONPath=`.metadata.deletionTimestamp`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 53",message="metadata.name must be no longer than 53 characters: it becomes the name of a Helm release"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must start with a letter and contain only lower-case letters, digits and '-': it becomes the name of a Service"
type Darkroom struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of objects.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec DarkroomSpec `json:"spec"`

	// status is the observed state. Only the operator writes it. The default
	// observedGeneration of -1 marks a Darkroom that has not been reconciled yet.
	// +optional
	// +default={"observedGeneration":-1}
	Status DarkroomStatus `json:"status,omitzero"`
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
// +kubebuilder:validation:XValidation:rule="!has(self.probe) || !has(self.gate) || !has(self.gate.onlyPresets) || !self.gate.onlyPresets",fieldPath=".gate.onlyPresets",message="cannot be combined with probe, which requests w=16"
// +kubebuilder:validation:XValidation:rule="!has(self.probe) || !has(self.gate) || !has(self.gate.limits) || !has(self.gate.limits.parameters) || 'w' in self.gate.limits.parameters",fieldPath=".gate.limits.parameters",message="must contain w, because probe requests w=16"
// +kubebuilder:validation:XValidation:rule="!has(self.gate) || !has(self.defaultParams) || self.defaultParams.all(name, !(name + '=').matches('^(auto|blur|crop|dpr|fit|flip|h|mono|q|rot|w)=$') || (name + '=' + self.defaultParams[name]).matches('^((w|h)=[1-9][0-9]{0,3}|q=([1-9][0-9]?|100)|fit=(clip|crop|max|min|scale)|crop=((top|bottom)(,left|,right)?|left|right)|mono=000000|blur=([0-9]{1,2}([.][0-9]*)?|100([.]0*)?)|dpr=([1-4]([.][0-9]*)?|5([.]0*)?)|rot=(([12]?[0-9]{1,2}|3[0-5][0-9])([.][0-9]*)?|360([.]0*)?)|flip=([hH][vV]?|[vV][hH]?)|auto=(compress|format)(,compress|,format)*)$') && (name != 'w' || int(self.defaultParams[name]) <= (has(self.gate.limits) && has(self.gate.limits.maxWidth) ? self.gate.limits.maxWidth : 4096)) && (name != 'h' || int(self.defaultParams[name]) <= (has(self.gate.limits) && has(self.gate.limits.maxHeight) ? self.gate.limits.maxHeight : 4096)))",fieldPath=".defaultParams",message="with gate, URL parameters must have valid values, for example auto: compress"
// +kubebuilder:validation:XValidation:rule="!has(self.source.caBundleRef) || has(self.gate)",fieldPath=".source.caBundleRef",message="requires gate, which reads the source in place of Darkroom: set gate: {}"
// +kubebuilder:validation:XValidation:rule="!has(self.source.auth) || has(self.gate)",fieldPath=".source.auth",message="requires gate, which reads the source in place of Darkroom: set gate: {}"
// +kubebuilder:validation:XValidation:rule="!has(self.additionalSources) || has(self.gate)",fieldPath=".additionalSources",message="requires gate, which reads the sources in place of Darkroom: set gate: {}"
// +kubebuilder:validation:XValidation:rule="!has(self.additionalSources) || self.additionalSources.all(a, !has(a.auth) || (!has(self.source.auth) || self.source.type == a.type) && self.additionalSources.all(b, !has(b.auth) || a.type == b.type))",fieldPath=".additionalSources",message="source.auth and additionalSources[].auth: the pods have one workload identity, so all sources with auth must have the same type; use credentialsSecretRef for the others"
// +kubebuilder:validation:XValidation:rule="!has(self.gate) || !has(self.podTemplate) || !has(self.podTemplate.terminationGracePeriodSeconds) || self.podTemplate.terminationGracePeriodSeconds > 25",fieldPath=".podTemplate.terminationGracePeriodSeconds",message="must be more than 25 with gate, which needs 15 seconds to finish requests after new ones are no longer accepted"
type DarkroomSpec struct {
	// version is the Darkroom release to run, used as the container image tag. A
	// semantic version such as 0.4.2 means the tag v0.4.2, because release tags have
	// a leading "v". Other tags are used unchanged. Defaults to the release that the
	// operator was built for.
	// +optional
	// +kubebuilder:validation:MaxLength=127
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9_][A-Za-z0-9_.+-]*)?$')",message="must be a version such as 0.4.2 or an image tag"
	Version string `json:"version,omitempty"`

	// image configures the repository of the container image and how it is pulled.
	// +optional
	Image *Image `json:"image,omitempty"`

	// source is the source of the original images.
	// +required
	Source Source `json:"source"`

	// additionalSources are sources for other paths, and fallbacks. They require gate.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(a, !has(a.path) || (has(a.fallback) && a.fallback) || self.exists_one(b, (!has(b.fallback) || !b.fallback) && has(b.path) && a.path == b.path))",message="each path must be used by one source only, unless the others set fallback"
	AdditionalSources []AdditionalSource `json:"additionalSources,omitempty"`

	// subDomains are the sub-domains at which images are served. Each is a DNS label
	// or several joined by dots. The host is <subDomain>.<base domain>; the base
	// domain is a setting of the operator.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=190
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')",message="must be a DNS name: labels of lower-case letters, digits and '-', joined by dots, for example photos or img.photos"
	SubDomains []string `json:"subDomains"`

	// baseDomain is the domain that is appended to each sub-domain. It must be one that the operator offers, either
	// literally or with {namespace} replaced by the namespace of the Darkroom. Empty means the first domain that the
	// operator offers.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([{]namespace[}]|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')",message="must be a DNS name in lower case, for example img.example.com or {namespace}.img.example.com"
	BaseDomain string `json:"baseDomain,omitempty"`

	// replicas is the desired number of pods. It is ignored with autoscaling.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`

	// autoscaling creates a HorizontalPodAutoscaler, which sets the number of pods.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// resources are the compute resources of each pod. Unset values default to the values of the chart. The memory
	// limit defaults to 2Gi, or to the memory request if that is higher. With autoscaling, the CPU request defaults to
	// 500m.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// cacheTTLSeconds is the cache lifetime of images in browsers and CDNs, in seconds
	// (Cache-Control: max-age). Defaults to one year.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	CacheTTLSeconds *int64 `json:"cacheTTLSeconds,omitempty"`

	// logLevel is the minimum severity that Darkroom logs. Defaults to info.
	// +optional
	LogLevel LogLevel `json:"logLevel,omitempty"`

	// defaultParams are URL parameters added to every request for an image, for example auto: compress. If the request
	// has the same parameter, both values apply, so do not set w, h or fit here. With gate, auto: format serves WebP to
	// clients that accept it; without gate it has no effect.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(name, size(name) <= 64)",message="names must have at most 64 characters"
	DefaultParams map[string]ParamValue `json:"defaultParams,omitempty"`

	// metrics configures the metrics of the pods.
	// +optional
	Metrics *Metrics `json:"metrics,omitempty"`

	// probe is a request for an image that the operator periodically sends to the Darkroom. The Darkroom is ready only
	// while the image is served, and a new pod receives requests only after it has served the image. Without a probe,
	// only /ping of each pod is checked, which succeeds even if the source cannot be read. A failed probe does not
	// restart or remove pods.
	// +optional
	Probe *Probe `json:"probe,omitempty"`

	// gate runs a proxy next to Darkroom in each pod. The proxy protects Darkroom from overload, caches results, and
	// reads the source instead of Darkroom. By default there is no gate.
	// +optional
	Gate *Gate `json:"gate,omitempty"`

	// ingress configures the Ingress that routes the hosts. An Ingress is created unless only gateway is set. If both
	// are set, an Ingress and an HTTPRoute route the hosts, which allows a migration without downtime.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// gateway creates an HTTPRoute of the Gateway API for the hosts. It replaces the Ingress unless ingress is also
	// set.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`

	// service configures the Services of the pods.
	// +optional
	Service *Service `json:"service,omitempty"`

	// networkPolicy restricts the traffic of the pods.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// podTemplate configures scheduling and metadata of the pods.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`

	// extraEnv are environment variables added to the Darkroom container, or with gate to the container of the gate.
	// They take precedence over variables set by the operator.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.all(e, e.name != 'DEBUG')",message="DEBUG is not allowed: it exposes profiling on the port that serves images; set logLevel: debug for verbose logs"
	ExtraEnv []corev1.EnvVar `json:"extraEnv,omitempty"`

	// extraEnvFrom are sources of environment variables added to the same container.
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
	// repository is the container image without a tag. Defaults to the operator's
	// environment variable RELATED_IMAGE_DARKROOM, or to gojektech/darkroom.
	// +optional
	// +kubebuilder:validation:MaxLength=237
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([a-zA-Z0-9]+(([.]|-+)[a-zA-Z0-9]+)*(:[0-9]{1,5})?/)?[a-z0-9]+(([._/]|__|-+)[a-z0-9]+)*$')",message="must be a repository such as registry.example.com/team/darkroom, without a tag: the tag is spec.version"
	Repository string `json:"repository,omitempty"`

	// pullPolicy is the pull policy of the container image. Defaults to IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`

	// pullSecrets are references to Secrets with registry credentials in the same
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
	// minReplicas is the minimum number of pods.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the maximum number of pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilizationPercentage is the target for the average CPU usage of the Darkroom containers, as a
	// percentage of their CPU request. Defaults to 75. With the default request of 500m, that is about ten images of
	// one megapixel per second and pod, or one image of twelve megapixels.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`

	// behavior limits how fast the number of pods is increased and decreased, as in a HorizontalPodAutoscaler. Defaults
	// to the behavior of Kubernetes.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}

// Metrics configures the metrics of the pods.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.serviceMonitor) && self.serviceMonitor) || (has(self.enabled) && self.enabled)",fieldPath=".serviceMonitor",message="requires metrics.enabled: true"
type Metrics struct {
	// enabled serves Prometheus metrics at /metrics of the pods. The Ingress and the
	// HTTPRoute do not expose them.
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// serviceMonitor creates a ServiceMonitor for the pods. It requires the CRDs of
	// the Prometheus Operator.
	// +optional
	ServiceMonitor bool `json:"serviceMonitor,omitempty"`

	// serviceMonitorLabels are added to the ServiceMonitor, so that Prometheus selects it, for example release:
	// kube-prometheus-stack. Keys of helm.sh and deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	ServiceMonitorLabels map[string]string `json:"serviceMonitorLabels,omitempty"`

	// scrapeInterval is the scrape interval of the ServiceMonitor, for example 30s.
	// Defaults to the interval of Prometheus.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([0-9]+(ms|s|m|h))+$')",message="must be a duration of Prometheus, for example 30s or 1m"
	ScrapeInterval string `json:"scrapeInterval,omitempty"`
}

// Service configures the Services of the pods.
type Service struct {
	// ipFamilyPolicy defines whether the Services have IPv4 and IPv6 addresses. PreferDualStack assigns both if the
	// cluster supports both; RequireDualStack fails in other clusters. Defaults to SingleStack.
	// +optional
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	IPFamilyPolicy corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`

	// trafficDistribution is a preference for pods that are close to the client: PreferClose, or with Kubernetes 1.35
	// or later PreferSameZone or PreferSameNode. Kubernetes 1.30 ignores it.
	// +optional
	// +kubebuilder:validation:Enum=PreferClose;PreferSameZone;PreferSameNode
	TrafficDistribution string `json:"trafficDistribution,omitempty"`

	// annotations are added to the Services. The administrator configures which annotations are allowed (flag
	// --ingress-annotations of the operator). Keys of helm.sh and deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// NetworkPolicy restricts the traffic of the pods.
type NetworkPolicy struct {
	// enabled creates a NetworkPolicy that allows ingress to the HTTP port only, and
	// egress to all addresses except link-local ones and the metadata services of AWS,
	// Google Cloud, Azure and Alibaba Cloud.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
}

// Ingress configures the Ingress that routes the hosts.
type Ingress struct {
	// className is the IngressClass. Defaults to the default class of the operator,
	// if set, or of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`

	// annotations are added to the Ingress. The administrator configures which annotations are allowed (flag
	// --ingress-annotations of the operator). By default, annotations that route, authenticate or inject configuration
	// are not allowed. Keys of helm.sh and deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// tlsSecretName is the name of a Secret with the TLS certificate of the hosts, in
	// the same namespace. If empty, the Ingress has no TLS section.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TLSSecretName string `json:"tlsSecretName,omitempty"`
}
