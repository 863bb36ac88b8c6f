package v1alpha1

// Gateway configures the HTTPRoute that routes the hosts.
type Gateway struct {
	// parentRefs are the Gateways and ListenerSets to which the route is attached. Several references to the same one
	// must have different sectionNames.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.name == b.name && (has(a.kind) && a.kind == 'ListenerSet') == (has(b.kind) && b.kind == 'ListenerSet') && has(a.__namespace__) == has(b.__namespace__) && (!has(a.__namespace__) || a.__namespace__ == b.__namespace__) && (!has(a.sectionName) || !has(b.sectionName) || a.sectionName == b.sectionName)))",message="a Gateway is referenced more than once: remove the duplicate, or name a different listener in the sectionName of each reference"
	ParentRefs []ParentRef `json:"parentRefs"`

	// annotations are added to the HTTPRoute. The administrator configures which annotations are allowed, as for the
	// Ingress. Keys of helm.sh and deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// timeouts are the timeouts of the route.
	// +optional
	Timeouts *GatewayTimeouts `json:"timeouts,omitempty"`
}

// GatewayTimeouts are the timeouts of an HTTPRoute.
type GatewayTimeouts struct {
	// request is the timeout of a request, as a duration of the Gateway API such as
	// 10s or 1m30s. 0s disables the timeout. Defaults to the timeout of the
	// Gateway.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$')",message="must be a duration of the Gateway API, for example 10s or 1m30s"
	// +kubebuilder:validation:MaxLength=32
	Request string `json:"request,omitempty"`
}

// ParentRef is a reference to a Gateway or ListenerSet, or to one of its listeners.
type ParentRef struct {
	// kind is Gateway (default) or ListenerSet. A ListenerSet contains listeners that a Gateway delegates to a
	// namespace (Gateway API 1.5 and later).
	// +optional
	// +kubebuilder:validation:Enum=Gateway;ListenerSet
	Kind string `json:"kind,omitempty"`

	// name is the name of the Gateway or ListenerSet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace is the namespace of the Gateway or ListenerSet. Defaults to the namespace of the Darkroom.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$')",message="must be the name of a namespace"
	Namespace string `json:"namespace,omitempty"`

	// sectionName is the name of a listener. If empty, all listeners are used.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
}
