// Package v1alpha1 contains the Darkroom resource of the API group
// deployments.example.com.
//
// A Darkroom describes one deployment of the Darkroom image proxy: the source of
// the original images, the sub-domains that serve them, and the configuration of the
// pods. The markers become CEL rules, patterns and enums of the
// CustomResourceDefinition, so that the Kubernetes API server rejects invalid
// resources without a webhook.
//
// +kubebuilder:object:generate=true
// +groupName=deployments.example.com
package v1alpha1
