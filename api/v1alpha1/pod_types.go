package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodTemplate configures scheduling and metadata of the pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMounts) || self.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name))",fieldPath=".volumeMounts",message="each mount must have the name of one of the volumes"
type PodTemplate struct {
	// annotations are added to the pods. Keys of helm.sh and
	// deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Annotations map[string]string `json:"annotations,omitempty"`

	// labels are added to the pods. Keys of helm.sh and deployments.example.com
	// are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	Labels map[string]string `json:"labels,omitempty"`

	// nodeSelector selects the nodes for the pods by label.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations allow the pods to run on tainted nodes.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity are the affinity and anti-affinity rules of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints spread the pods across zones or nodes. Each pair of
	// topologyKey and whenUnsatisfiable must be unique.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// serviceAccountName is the ServiceAccount of the pods. Defaults to a ServiceAccount that is created for this
	// Darkroom. Its token is not mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// serviceAccountAnnotations are added to the ServiceAccount that is created for this Darkroom. They have no effect
	// if serviceAccountName is set. The administrator configures which annotations are allowed (flag
	// --ingress-annotations of the operator). Keys of helm.sh and deployments.example.com are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('helm.sh/') && !key.startsWith('meta.helm.sh/') && !key.startsWith('deployments.example.com/'))",message="keys of helm.sh and deployments.example.com are reserved: Helm and the operator identify their objects by them; remove them"
	ServiceAccountAnnotations map[string]string `json:"serviceAccountAnnotations,omitempty"`

	// priorityClassName is the PriorityClass of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// terminationGracePeriodSeconds is the time that pods have to finish requests when they are stopped, in seconds.
	// Pods accept new requests during the first 10 seconds, until routers have removed them. With gate, it must be more
	// than 25. Defaults to 60.
	// +optional
	// +kubebuilder:validation:Minimum=11
	// +kubebuilder:validation:Maximum=3600
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// volumes are ConfigMaps and Secrets for volumeMounts, for example with the certificates of a private authority.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Volumes []Volume `json:"volumes,omitempty"`

	// volumeMounts mount volumes read-only in the Darkroom container.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=16
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`
}

// Volume is a ConfigMap or Secret that pods mount. Other kinds of volumes are not supported: Darkroom does not write
// files, and the operator must not mount for users anything that they may not mount themselves.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.secret)",message="must have either configMap or secret"
type Volume struct {
	// name identifies the volume in volumeMounts.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// configMap is a ConfigMap in the same namespace.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// secret is a Secret in the same namespace.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`
}

// VolumeMount mounts a volume read-only.
type VolumeMount struct {
	// name is the name of the volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// mountPath is the absolute path in the container.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^:]+$')",message="must be an absolute path without ':'"
	MountPath string `json:"mountPath"`

	// subPath is a path in the volume. If empty, the whole volume is mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	SubPath string `json:"subPath,omitempty"`
}
