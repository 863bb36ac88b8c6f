package ownership_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// The label alone does not make an object the Darkroom's.
func ExampleOwns() {
	darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Name: "photos", UID: "7c2f"}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelDarkroom: "photos"}}}
	fmt.Println(ownership.Owns(darkroom, service))

	service.OwnerReferences = []metav1.OwnerReference{ownership.Reference(darkroom)}
	fmt.Println(ownership.Owns(darkroom, service))
	// Output:
	// false
	// true
}
