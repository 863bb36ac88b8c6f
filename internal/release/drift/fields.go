package drift

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Server-side apply removes a field only if no other manager owns it. Additions by others that affect the workload (a
// key of the ConfigMap, a variable of the Deployment, a port of the Service) would therefore stay. The operator first
// takes over such fields. Its next apply then removes these fields.
//
// Legitimate additions by others are kept:
//   - all metadata: labels, annotations, finalizers, owner references;
//   - all fields of ServiceAccounts that the chart does not set, such as imagePullSecrets and
//     secrets, which OpenShift and pull-secret controllers add;
//   - labels and annotations of the pod template, such as the annotation set by
//     `kubectl rollout restart`;
//   - the number of replicas if the chart does not set it, which belongs to an autoscaler.

// trustedManagers are field managers whose additions are kept.
var trustedManagers = []string{"kube-controller-manager", "cloud-controller-manager"}

// keptFields are the fields per kind in which additions by others are kept, including nested fields; the empty kind
// applies to all kinds.
var keptFields = map[schema.GroupKind]*fieldpath.Set{
	{}: fieldpath.NewSet(
		fieldpath.MakePathOrDie("apiVersion"),
		fieldpath.MakePathOrDie("kind"),
		fieldpath.MakePathOrDie("metadata"),
		fieldpath.MakePathOrDie("status"),
	),
	{Kind: "ServiceAccount"}: fieldpath.NewSet(
		fieldpath.MakePathOrDie("automountServiceAccountToken"),
		fieldpath.MakePathOrDie("imagePullSecrets"),
		fieldpath.MakePathOrDie("secrets"),
	),
	{Group: "apps", Kind: "Deployment"}: fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "replicas"),
		fieldpath.MakePathOrDie("spec", "template", "metadata"),
	),
}

// Reclaim moves unwanted fields that other managers added to an object to the managed fields entry of the operator's
// applies. It returns the changed managed fields, and false if there is nothing to move.
func Reclaim(
	kind schema.GroupKind, manager string, entries []metav1.ManagedFieldsEntry,
) ([]metav1.ManagedFieldsEntry, bool, error) {
	isOwn := func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
	}
	own := slices.IndexFunc(entries, isOwn)
	if own < 0 {
		return nil, false, nil
	}
	var out []metav1.ManagedFieldsEntry
	taken := fieldpath.NewSet()
	for _, entry := range entries {
		if isIntruder(entry, manager, entries[own].APIVersion) {
			all, err := fieldsOf(entry)
			if err != nil {
				return nil, false, err
			}
			mustGo := all.RecursiveDifference(keptFields[schema.GroupKind{}])
			if kept, found := keptFields[kind]; found {
				mustGo = mustGo.RecursiveDifference(kept)
			}
			taken = taken.Union(mustGo)
			rest := all.Difference(mustGo)
			if rest.Empty() {
				continue
			}
			if entry.FieldsV1, err = encodeFields(rest); err != nil {
				return nil, false, err
			}
		}
		out = append(out, entry)
	}
	if taken.Empty() {
		return nil, false, nil
	}
	fields, err := fieldsOf(entries[own])
	if err != nil {
		return nil, false, err
	}
	encoded, err := encodeFields(fields.Union(taken))
	if err != nil {
		return nil, false, err
	}
	out[slices.IndexFunc(out, isOwn)].FieldsV1 = encoded
	return out, true, nil
}

// LastWriter returns the field manager other than the operator that last changed an object outside its status; empty if
// there is none.
func LastWriter(manager string, entries []metav1.ManagedFieldsEntry) string {
	writer, last := "", time.Time{}
	for _, entry := range entries {
		if entry.Manager == manager || entry.Subresource == "status" || entry.Time == nil || entry.Time.Time.Before(last) {
			continue
		}
		writer, last = entry.Manager, entry.Time.Time
	}
	return writer
}

// isIntruder reports whether an entry belongs to a manager whose additions are not kept.
func isIntruder(entry metav1.ManagedFieldsEntry, manager, apiVersion string) bool {
	return entry.Subresource == "" && entry.Manager != manager &&
		entry.APIVersion == apiVersion && !slices.Contains(trustedManagers, entry.Manager)
}

func fieldsOf(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := fieldpath.NewSet()
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("read fields of manager %s: %w", entry.Manager, err)
	}
	return set, nil
}

func encodeFields(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	raw, err := set.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("encode fields: %w", err)
	}
	return metav1.NewFieldsV1(string(raw)), nil
}
