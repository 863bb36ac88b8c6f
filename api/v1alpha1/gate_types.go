package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Gate configures a proxy next to Darkroom in each pod. It limits requests and originals, fetches each image once,
// caches results, and admits only as many concurrent transformations as fit into the memory of Darkroom.
//
// +kubebuilder:validation:XValidation:rule="!has(self.onlyPresets) || !self.onlyPresets || has(self.presets)",fieldPath=".onlyPresets",message="requires presets"
// +kubebuilder:validation:XValidation:rule="!has(self.presets) || self.presets.all(name, self.presets[name].split('&').all(p, (!p.startsWith('w=') || int(p.substring(2)) <= (has(self.limits) && has(self.limits.maxWidth) ? self.limits.maxWidth : 4096)) && (!p.startsWith('h=') || int(p.substring(2)) <= (has(self.limits) && has(self.limits.maxHeight) ? self.limits.maxHeight : 4096))))",fieldPath=".presets",message="w and h must not exceed limits.maxWidth and limits.maxHeight, which default to 4096"
type Gate struct {
	// limits restrict what a request may cost. Requests that exceed a limit are rejected with status 400, and originals
	// with 413.
	// +optional
	Limits *GateLimits `json:"limits,omitempty"`

	// presets are named sets of URL parameters. For example, thumb: w=200&h=200&fit=crop is requested with
	// ?preset=thumb.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[a-zA-Z0-9_-]{1,64}$'))",message="names must consist of 1 to 64 letters, digits, '-' and '_'"
	Presets map[string]PresetParameters `json:"presets,omitempty"`

	// onlyPresets rejects URL parameters other than preset.
	// +optional
	OnlyPresets bool `json:"onlyPresets,omitempty"`

	// cache configures the cache of results.
	// +optional
	Cache *GateCache `json:"cache,omitempty"`

	// signing serves only signed URLs. By default all URLs are served.
	// +optional
	Signing *GateSigning `json:"signing,omitempty"`

	// resizer selects what resizes images: Gate (default), at a fraction of the cost, or Darkroom, for pixel-identical
	// results.
	// +optional
	Resizer GateResizer `json:"resizer,omitempty"`

	// serverTiming adds the header Server-Timing, which browsers display, with the state of the cache and the duration
	// of each part of a request. Defaults to true.
	// +optional
	ServerTiming *bool `json:"serverTiming,omitempty"`

	// accessLog logs each request as JSON.
	// +optional
	AccessLog bool `json:"accessLog,omitempty"`

	// resources are the compute resources of the gate in each pod. The memory limit
	// defaults to 512Mi. A quarter of it is used for the cache.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// PresetParameters are URL parameters as in a query string, with the names of GateParameter.
//
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:XValidation:rule="self.matches('^((w|h)=[1-9][0-9]{0,3}|q=([1-9][0-9]?|100)|fit=(clip|crop|max|min|scale)|crop=((top|bottom)(,left|,right)?|left|right)|mono=000000|blur=([0-9]{1,2}([.][0-9]*)?|100([.]0*)?)|dpr=([1-4]([.][0-9]*)?|5([.]0*)?)|rot=(([12]?[0-9]{1,2}|3[0-5][0-9])([.][0-9]*)?|360([.]0*)?)|flip=([hH][vV]?|[vV][hH]?)|auto=(compress|format)(,compress|,format)*)(&((w|h)=[1-9][0-9]{0,3}|q=([1-9][0-9]?|100)|fit=(clip|crop|max|min|scale)|crop=((top|bottom)(,left|,right)?|left|right)|mono=000000|blur=([0-9]{1,2}([.][0-9]*)?|100([.]0*)?)|dpr=([1-4]([.][0-9]*)?|5([.]0*)?)|rot=(([12]?[0-9]{1,2}|3[0-5][0-9])([.][0-9]*)?|360([.]0*)?)|flip=([hH][vV]?|[vV][hH]?)|auto=(compress|format)(,compress|,format)*))*$')",message="must be URL parameters of Darkroom, dpr or q with valid values, for example w=200&h=200&fit=crop"
type PresetParameters string

// GateLimits restrict what a request may cost.
type GateLimits struct {
	// maxWidth is the maximum width of a result in pixels. Defaults to 4096.
	// +optional
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=9999
	MaxWidth *int32 `json:"maxWidth,omitempty"`

	// maxHeight is the maximum height of a result in pixels. Defaults to 4096.
	// +optional
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=9999
	MaxHeight *int32 `json:"maxHeight,omitempty"`

	// maxSourcePixels is the maximum number of pixels of an original. Defaults to 50
	// million.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	MaxSourcePixels *int64 `json:"maxSourcePixels,omitempty"`

	// maxSourceBytes is the maximum size of an original. Defaults to 64Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : quantity(self).isGreaterThan(quantity('0'))",message="must be greater than 0, for example 64Mi"
	MaxSourceBytes *resource.Quantity `json:"maxSourceBytes,omitempty"`

	// parameters are the allowed URL parameters. By default all parameters of Darkroom are allowed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=11
	Parameters []GateParameter `json:"parameters,omitempty"`
}

// GateParameter is the name of a URL parameter of Darkroom, or dpr or q.
//
// +kubebuilder:validation:Enum=auto;blur;crop;dpr;fit;flip;h;mono;q;rot;w
type GateParameter string

// GateCache configures the cache of results.
type GateCache struct {
	// disk is the size of a cache on the disk of the node, in an emptyDir volume. The cache survives restarts of the
	// container and is deleted with the pod. By default results are cached only in memory.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 16777216 : quantity(self).compareTo(quantity('16Mi')) >= 0",message="must be at least 16Mi"
	Disk *resource.Quantity `json:"disk,omitempty"`

	// revalidateSeconds is the age after which a cached image is revalidated at the source. Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	RevalidateSeconds *int32 `json:"revalidateSeconds,omitempty"`

	// staleIfErrorSeconds is the additional time for which a cached image is served while it is being revalidated or
	// the source fails. Defaults to 86400.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	StaleIfErrorSeconds *int32 `json:"staleIfErrorSeconds,omitempty"`
}

// GateSigning configures signed URLs. A signature covers the path and all parameters. The image of probe.path with a
// width of 16 pixels needs no signature.
type GateSigning struct {
	// secretRef is a reference to a Secret with the keys in the same namespace.
	// +required
	SecretRef SigningSecretRef `json:"secretRef"`

	// mode is Require or Report. Require rejects requests without a valid signature with status 403, and expired ones
	// with 410. Report serves all requests, and counts them in the metric darkroom_gate_signatures_total. Defaults to
	// Require.
	// +optional
	Mode SigningMode `json:"mode,omitempty"`

	// scheme is sha256 or imgix. imgix also accepts the weaker MD5 signatures of imgix client libraries. Defaults to
	// sha256.
	// +optional
	Scheme SigningScheme `json:"scheme,omitempty"`
}

// SigningSecretRef is a reference to a key of a Secret.
type SigningSecretRef struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of a Secret"
	Name string `json:"name"`

	// key is the key in the Secret. Its value contains signing keys of at least 16 characters, one per line. The first
	// key signs, and all keys verify. Defaults to keys.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a Secret: letters, digits, '-', '_' and '.'"
	Key string `json:"key,omitempty"`
}

// GateResizer selects what resizes images.
//
// +kubebuilder:validation:Enum=Gate;Darkroom
type GateResizer string

// Resizers.
const (
	ResizerGate     GateResizer = "Gate"
	ResizerDarkroom GateResizer = "Darkroom"
)

// SigningMode selects how requests without a valid signature are handled.
//
// +kubebuilder:validation:Enum=Require;Report
type SigningMode string

// Modes of signing.
const (
	SigningRequire SigningMode = "Require"
	SigningReport  SigningMode = "Report"
)

// SigningScheme is the algorithm of signatures.
//
// +kubebuilder:validation:Enum=sha256;imgix
type SigningScheme string

// Schemes of signing.
const (
	SigningSHA256 SigningScheme = "sha256"
	SigningImgix  SigningScheme = "imgix"
)
