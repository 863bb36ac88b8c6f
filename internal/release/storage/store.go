// Package storage stores the releases of Darkrooms where Helm stores them. Each revision is a Secret in the namespace
// of the release, in the format of Helm's driver, so `helm ls`, `history`, `get manifest`, `rollback` and `uninstall`
// work on them.
//
// Only revisions that belong to the Darkroom (see package ownership) are read, pruned and deleted. If there are foreign
// revisions of the same name, every access fails with ErrForeignRelease before anything is written.
//
// Each revision that the operator writes has a record of its spec (record.go).
package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

var (
	// ErrForeignRelease is returned if a Helm release with the Darkroom's name, in any state, does not belong to the
	// Darkroom. Nothing was written.
	ErrForeignRelease = errors.New("Helm has a release of this name, which does not belong to this Darkroom")
	// ErrPredecessor is returned while revisions of a deleted Darkroom of the same name exist. Kubernetes
	// garbage-collects them.
	ErrPredecessor = errors.New("the release of a deleted Darkroom of this name is still being removed")
	// ErrDeleted is returned if a revision was deleted after it was read. The next reconcile stores a new one.
	ErrDeleted = errors.New("a revision of the release has been deleted since it was read")
)

// Store reads and writes revisions.
type Store struct {
	secrets corev1client.SecretsGetter
	records appsv1client.ControllerRevisionsGetter
	own     client.Reader
	others  client.Reader
	clock   clock.PassiveClock
}

// New returns a store. It writes with secrets and records, and reads metadata from two caches. own contains the Secrets
// with the label LabelDarkroom and has the indexes ownership.Index and Index. others contains the Secrets without the
// label and has the index Index.
func New(
	secrets corev1client.SecretsGetter, records appsv1client.ControllerRevisionsGetter,
	own, others client.Reader, clock clock.PassiveClock,
) *Store {
	return &Store{secrets: secrets, records: records, own: own, others: others, clock: clock}
}

// Revisions are the revisions of the release of one Darkroom. The last revision is remembered; cached metadata of the
// Secrets shows whether it is still the last.
type Revisions struct {
	*Store
	darkroom *v1alpha1.Darkroom
	memory   *Memory
}

// Memory is the last revision of a release that this process wrote or read. It must not be used concurrently. The zero
// value is empty.
type Memory struct {
	// last is the summary of the revision; nil if none is remembered.
	last *helmrelease.Release
	// secret and resourceVersion identify the Secret of the revision.
	secret, resourceVersion string
	// seen is the time when this process first saw that version of the Secret.
	seen time.Time
}

// remember stores the last revision. seen is kept if the Secret is unchanged.
func (m *Memory) remember(release *helmrelease.Release, secret *corev1.Secret, now time.Time) {
	if m.secret == secret.Name && m.resourceVersion == secret.ResourceVersion {
		now = m.seen
	}
	*m = Memory{last: summary(release), secret: secret.Name, resourceVersion: secret.ResourceVersion, seen: now}
}

// Seen returns when this process first saw the last revision in its current version; the current time if it remembers
// none.
func (r *Revisions) Seen() time.Time {
	if r.memory.last == nil {
		return r.clock.Now()
	}
	return r.memory.seen
}

// Of returns the revisions of a Darkroom's release with their memory.
func (s *Store) Of(darkroom *v1alpha1.Darkroom, memory *Memory) *Revisions {
	return &Revisions{s, darkroom, memory}
}

// Create stores a new revision with the spec of the Darkroom. The error is ErrForeignRelease if the revision exists and
// belongs to a foreign release.
func (r *Revisions) Create(ctx context.Context, release *helmrelease.Release) error {
	secret, err := r.secretOf(release, (*driver.Secrets).Create)
	if err != nil {
		return err
	}
	if secret.Data[v1alpha1.RevisionSpec], err = json.Marshal(&r.darkroom.Spec); err != nil {
		return fmt.Errorf("encode Darkroom: %w", err)
	}
	written, err := r.secrets.Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{})
	err = r.wrote(release, written, err)
	if apierrors.IsAlreadyExists(err) {
		if _, foreign := r.stored(ctx); foreign != nil {
			return foreign
		}
	}
	return err
}

// Update overwrites a revision. It fails if the Secret belongs to something else, and with ErrDeleted if the Secret
// does not exist.
func (r *Revisions) Update(ctx context.Context, release *helmrelease.Release) error {
	secret, err := r.secretOf(release, (*driver.Secrets).Update)
	if err != nil {
		return err
	}
	patch, err := patchOf(secret)
	if err != nil {
		return fmt.Errorf("encode Secret %s: %w", secret.Name, err)
	}
	written, err := r.secrets.Secrets(secret.Namespace).Patch(ctx, secret.Name, types.JSONPatchType,
		patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		err = fmt.Errorf("%w: %w", ErrDeleted, err)
	}
	return r.wrote(release, written, err)
}

// wrote remembers a written revision, or drops the memory on an error.
func (r *Revisions) wrote(release *helmrelease.Release, written *corev1.Secret, err error) error {
	if err != nil {
		// The state of the Secret is unknown, because the response may have been lost.
		*r.memory = Memory{}
		return fmt.Errorf("store revision %d of release %s: %w", release.Version, r.key(), err)
	}
	if last := r.memory.last; last == nil || last.Version <= release.Version {
		r.memory.remember(release, written, r.clock.Now())
	}
	return nil
}

// Delete deletes every revision that belongs to a Darkroom, with its record, and reports whether there were any.
// Revisions of the same name that belong to others are kept. Records are not left to the garbage collector, because it
// cannot look up their owner if the CRD is deleted soon after the Darkroom.
func (r *Revisions) Delete(ctx context.Context) (found bool, err error) {
	*r.memory = Memory{}
	err = r.each(ctx, func(secret *corev1.Secret) error {
		if !ownership.OwnsRevision(r.darkroom, secret) {
			return nil
		}
		found = true
		return r.prune(ctx, secret)
	})
	return found, err
}

// AreOrphaned reports whether Kubernetes has removed the Darkroom's owner reference from all its revisions.
func (r *Revisions) AreOrphaned(ctx context.Context) (bool, error) {
	owned, orphaned := false, false
	err := r.each(ctx, func(secret *corev1.Secret) error {
		if ownership.OwnsRevision(r.darkroom, secret) {
			isOwned := metav1.IsControlledBy(secret, r.darkroom)
			owned, orphaned = owned || isOwned, orphaned || !isOwned
		}
		return nil
	})
	return orphaned && !owned, err
}

// delete deletes a Secret unless it has been replaced by another one of the same name.
func (r *Revisions) delete(ctx context.Context, secret metav1.Object) error {
	uid := secret.GetUID()
	err := r.secrets.Secrets(secret.GetNamespace()).Delete(ctx, secret.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete release Secret %s/%s: %w", secret.GetNamespace(), secret.GetName(), err)
	}
	return nil
}

func (r *Revisions) key() types.NamespacedName { return client.ObjectKeyFromObject(r.darkroom) }

// versionOf returns the number of a revision from the labels of its Secret; 0 if there is none.
func versionOf(secret metav1.Object) int {
	version, err := strconv.Atoi(secret.GetLabels()[labelVersion])
	if err != nil {
		return 0
	}
	return version
}
