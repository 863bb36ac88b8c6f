package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the kind of the only resource of this group.
const Kind = "Darkroom"

var (
	// GroupVersion is the API group and version of this package.
	GroupVersion = schema.GroupVersion{Group: "deployments.example.com", Version: "v1alpha1"}

	// GroupVersionKind identifies the Darkroom.
	GroupVersionKind = GroupVersion.WithKind(Kind)

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the types of this package.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Darkroom{}, &DarkroomList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
