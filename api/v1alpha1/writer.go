package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastWriter returns the managed fields entry of the manager that last wrote the spec of an object, without field
// names; none if no manager owns a field of the spec. Kubernetes records one time per manager, so a manager that owns
// spec fields also counts as the last writer after it writes a label. Writes of the scale subresource of a Darkroom are
// not recorded.
func LastWriter(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var last []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource == "status" || entry.Time == nil || entry.FieldsV1 == nil ||
			!strings.Contains(entry.FieldsV1.GetRawString(), `"f:spec"`) {
			continue
		}
		if last == nil || !entry.Time.Before(last[0].Time) {
			last = []metav1.ManagedFieldsEntry{{Manager: entry.Manager, Time: entry.Time, FieldsV1: specFields}}
		}
	}
	return last
}

// specFields are the managed fields of a writer of the spec, without the names of its fields.
var specFields = metav1.NewFieldsV1(`{"f:spec":{}}`)
