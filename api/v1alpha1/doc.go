// Package v1alpha1 holds the Darkroom resource of the API group
// deployments.example.com.
//
// A Darkroom describes one deployment of the Darkroom image proxy: where the
// original images are, at which sub-domains they are served, and how the pods
// run. The rules in the markers become CEL rules, patterns and enums of the
// CustomResourceDefinition, so that the API server refuses a bad resource at
// once and without a webhook.
//
// +kubebuilder:object:generate=true
// +groupName=deployments.example.com
package v1alpha1
