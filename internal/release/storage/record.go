package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// Each revision has a record in addition to its Secret: a ControllerRevision with the revision's spec, without
// credentials. Records show the history of a Darkroom to users who may not read Secrets. A record is written together
// with the outcome of the revision. Records are not cached, and no decision of the operator depends on them.

// ErrNotRecorded is returned if the record of a revision could not be stored.
var ErrNotRecorded = errors.New("the ControllerRevision with the record of the revision could not be stored")

// Record stores the record of a revision, including the outcome.
func (r *Revisions) Record(ctx context.Context, release *helmrelease.Release) error {
	record, err := r.recordOf(release)
	if err != nil {
		return err
	}
	records := r.records.ControllerRevisions(record.Namespace)
	_, err = records.Create(ctx, record, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		// An earlier attempt at the revision failed, or its number was used before `helm uninstall`.
		err = r.rewrite(ctx, record)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	return nil
}

// recordOf returns the record of a revision. The keys of its data are sorted, as in the API server's own encoding for
// strategic merge patches. Otherwise the API server would mistake the new order for a change of the data, and reject
// the garbage collector's patch that removes the owner.
func (r *Revisions) recordOf(release *helmrelease.Release) (*appsv1.ControllerRevision, error) {
	sorted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(
		&v1alpha1.RevisionData{Spec: *r.darkroom.Spec.Concealed()})
	if err != nil {
		return nil, fmt.Errorf("encode Darkroom: %w", err)
	}
	data, err := json.Marshal(sorted)
	if err != nil {
		return nil, fmt.Errorf("encode Darkroom: %w", err)
	}
	record := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       r.darkroom.Namespace,
			Name:            v1alpha1.RevisionName(r.darkroom, release.Version),
			Labels:          map[string]string{},
			Annotations:     map[string]string{v1alpha1.AnnotationRevisionStatus: release.Info.Status.String()},
			OwnerReferences: []metav1.OwnerReference{ownership.Reference(r.darkroom)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: int64(release.Version),
	}
	maps.Copy(record.Labels, release.Labels) // as on Helm's Secrets, because policies may require the labels
	record.Labels[v1alpha1.LabelDarkroom] = r.darkroom.Name
	record.Labels[v1alpha1.LabelDarkroomUID] = string(r.darkroom.UID)
	if author := r.author(); author != "" {
		record.Annotations[v1alpha1.AnnotationRevisionAuthor] = author
	}
	return record, nil
}

// rewrite replaces a record of the Darkroom. The data of a ControllerRevision is immutable, so a record with different
// data is deleted and created again.
func (r *Revisions) rewrite(ctx context.Context, record *appsv1.ControllerRevision) error {
	records := r.records.ControllerRevisions(record.Namespace)
	existing, err := records.Get(ctx, record.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return err
	case !ownership.Owns(r.darkroom, existing):
		return fmt.Errorf("ControllerRevision %s exists but does not belong to the Darkroom: %s: delete it",
			record.Name, ownership.Owner(existing))
	case bytes.Equal(existing.Data.Raw, record.Data.Raw):
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": existing.UID, "resourceVersion": existing.ResourceVersion, "annotations": record.Annotations,
		}})
		if err != nil {
			return err
		}
		_, err = records.Patch(ctx, record.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	if err := r.deleteRecord(ctx, existing); err != nil {
		return err
	}
	_, err = records.Create(ctx, record, metav1.CreateOptions{})
	return err
}

// RemoveRecords deletes the records of all revisions.
func (r *Revisions) RemoveRecords(ctx context.Context) error {
	return r.each(ctx, func(secret *corev1.Secret) error {
		if !ownership.OwnsRevision(r.darkroom, secret) {
			return nil
		}
		return r.removeRecord(ctx, versionOf(secret))
	})
}

// removeRecord deletes the record of a revision, if there is one. It reads the record first, because records are not
// cached and the deletion must be conditional on the UID and version.
func (r *Revisions) removeRecord(ctx context.Context, version int) error {
	name := v1alpha1.RevisionName(r.darkroom, version)
	existing, err := r.records.ControllerRevisions(r.darkroom.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && !ownership.Owns(r.darkroom, existing):
		return nil
	case err != nil:
		return fmt.Errorf("read ControllerRevision %s/%s: %w", r.darkroom.Namespace, name, err)
	}
	return r.deleteRecord(ctx, existing)
}

// deleteRecord deletes a record if it has not been replaced or changed since it was read.
func (r *Revisions) deleteRecord(ctx context.Context, record *appsv1.ControllerRevision) error {
	err := r.records.ControllerRevisions(record.Namespace).Delete(ctx, record.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &record.UID, ResourceVersion: &record.ResourceVersion},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete ControllerRevision %s/%s: %w", record.Namespace, record.Name, err)
	}
	return nil
}

// author returns the time and field manager of the last write of the Darkroom's spec; empty if unknown.
func (r *Revisions) author() string {
	for _, writer := range v1alpha1.LastWriter(r.darkroom.ManagedFields) {
		return writer.Time.UTC().Format(time.RFC3339) + " " + writer.Manager
	}
	return ""
}
