package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Server-side apply removes a field only if no other manager owns it, so what
// somebody added by hand to an object (a key of the ConfigMap, a variable of the
// Deployment) would stay. An object of a release is the operator's alone, so such
// fields are first made the operator's own, and then go with the next apply.

// otherManagers write to objects of a release by right.
var otherManagers = []string{"kube-controller-manager", "cloud-controller-manager"}

// notReclaimed are the parts of an object that others may write to: controllers keep
// annotations and finalizers on objects of others.
var notReclaimed = []string{"apiVersion", "kind", "metadata", "status"}

// reclaim makes the operator the owner of all that others set in an object, and
// tells whether there was anything.
func (a *applier) reclaim(ctx context.Context, live *unstructured.Unstructured) (bool, error) {
	entries, found, err := reclaimed(live.GetManagedFields())
	if err != nil || !found {
		return false, err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"managedFields":   entries,
		"resourceVersion": live.GetResourceVersion(),
	}})
	if err != nil {
		return false, fmt.Errorf("encode managed fields: %w", err)
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(live.GroupVersionKind())
	object.SetNamespace(live.GetNamespace())
	object.SetName(live.GetName())
	if err := a.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return false, fmt.Errorf("reclaim fields of %s: %w", keyOf(live), err)
	}
	return true, nil
}

// reclaimed moves the fields that others own to the operator's entry, and tells
// whether there were any.
func reclaimed(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool, error) {
	own := slices.IndexFunc(entries, isOwn)
	if own < 0 || !slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return isIntruder(e, entries[own].APIVersion) }) {
		return nil, false, nil
	}
	fields, err := fieldsOf(entries[own])
	if err != nil {
		return nil, false, err
	}
	var out []metav1.ManagedFieldsEntry
	found := false
	for i, entry := range entries {
		if i == own || !isIntruder(entry, entries[own].APIVersion) {
			out = append(out, entry)
			continue
		}
		theirs, err := fieldsOf(entry)
		if err != nil {
			return nil, false, err
		}
		taken := fieldpath.NewSet()
		theirs.Iterate(func(path fieldpath.Path) {
			if name := path[0].FieldName; name != nil && !slices.Contains(notReclaimed, *name) {
				taken.Insert(path.Copy())
			}
		})
		if taken.Empty() {
			out = append(out, entry)
			continue
		}
		found = true
		fields = fields.Union(taken)
		if rest := theirs.Difference(taken); !rest.Empty() {
			if entry.FieldsV1, err = encodeFields(rest); err != nil {
				return nil, false, err
			}
			out = append(out, entry)
		}
	}
	if !found {
		return nil, false, nil
	}
	encoded, err := encodeFields(fields)
	if err != nil {
		return nil, false, err
	}
	out[slices.IndexFunc(out, isOwn)].FieldsV1 = encoded
	return out, true, nil
}

// isIntruder tells the entries of those who have no right to add anything.
func isIntruder(entry metav1.ManagedFieldsEntry, apiVersion string) bool {
	return entry.Subresource == "" && entry.Manager != FieldManager &&
		entry.APIVersion == apiVersion && !slices.Contains(otherManagers, entry.Manager)
}

// isOwn tells the entry of the operator's applies.
func isOwn(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
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
