// Package revision holds what the parts of internal/release have in common about Helm's
// releases: how one is copied, what of it is kept in memory, and who caused it.
package revision

import (
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
)

// Copy copies the parts of a release that this operator changes. Everything below the
// top level except Info is shared and must not be changed.
func Copy(in *helmrelease.Release) *helmrelease.Release {
	out := *in
	info := *in.Info
	out.Info = &info
	return &out
}

// Summary returns the fields of a release that are needed to detect changes. It has no
// chart, no values and no hooks, only the first line of its notes, and the identity of its
// manifest in place of the manifest. Those are most of a release's memory, and are read again
// when something must be written.
func Summary(release *helmrelease.Release) *helmrelease.Release {
	out := Copy(release)
	out.Chart, out.Config, out.Hooks = nil, nil, nil
	out.Manifest = digest.Identity(release.Manifest)
	notes, _, _ := strings.Cut(release.Info.Notes, "\n")
	out.Info.Notes = strings.Clone(notes)
	return out
}

// specFields are the managed fields of a writer of the spec, without the names of the fields in it.
var specFields = metav1.NewFieldsV1(`{"f:spec":{}}`)

// LastWriter returns the entry of the field manager that last wrote the spec of an object, without the names of the
// fields; none if no manager has a field of the spec. Kubernetes has one time for all writes of a manager: one that
// has written the spec before counts as the last writer once it writes a label. It does not record writes of the
// subresource scale of a Darkroom.
func LastWriter(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var last []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource == "status" || entry.Time == nil || entry.FieldsV1 == nil || !strings.Contains(entry.FieldsV1.GetRawString(), `"f:spec"`) {
			continue
		}
		if last == nil || !entry.Time.Before(last[0].Time) {
			last = []metav1.ManagedFieldsEntry{{Manager: entry.Manager, Time: entry.Time, FieldsV1: specFields}}
		}
	}
	return last
}
