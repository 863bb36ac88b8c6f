package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastWriter returns the entry of the field manager that last wrote the spec of an object, without the names of the
// fields; none if no manager has a field of the spec. Kubernetes has one time for all writes of a manager: one that
// has written the spec before counts as the last writer once it writes a label. It does not record writes of the
// subresource scale of a Darkroom.
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

// specFields are the managed fields of a writer of the spec, without the names of the fields in it.
var specFields = metav1.NewFieldsV1(`{"f:spec":{}}`)
