package storage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	helmstorage "helm.sh/helm/v3/pkg/storage"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/revision"
)

// Labels of Helm's release Secrets.
const (
	labelOwner    = "owner"
	labelName     = "name"
	labelVersion  = "version"
	labelStatus   = "status"
	labelCreated  = "createdAt"
	labelModified = "modifiedAt"
	ownerHelm     = "helm"
)

// Store reads and writes revisions.
type Store struct {
	secrets corev1client.SecretsGetter
	own     client.Reader
	others  client.Reader
	clock   clock.PassiveClock
}

// Revisions are those of the release of one Darkroom. The last one is remembered; a cache of
// the Secrets' metadata shows whether it still is the last.
type Revisions struct {
	*Store
	darkroom client.Object
	memory   *Memory
}

// Of returns the revisions of a Darkroom's release. What is remembered of them is in memory,
// which only one goroutine may use at a time.
func (s *Store) Of(darkroom client.Object, memory *Memory) *Revisions {
	return &Revisions{s, darkroom, memory}
}

// Memory is what is remembered of the revisions of a release. The zero value is empty.
type Memory struct {
	last *known
}

// known is the last revision as stored in a certain version of its Secret.
type known struct {
	// release is its summary.
	release         *helmrelease.Release
	secretName      string
	resourceVersion string
	// uids are those of all revisions.
	uids revisionUIDs
	// seen is when this process first saw that version.
	seen time.Time
	// record is the record read beside the release, until it is taken.
	record []byte
}

// New returns a store that writes by secrets and reads metadata from two caches: own has the
// Secrets that carry the label LabelDarkroom, with the indexes ownership.Index and Index;
// others has the Secrets without the label, with the index Index.
func New(secrets corev1client.SecretsGetter, own, others client.Reader, clock clock.PassiveClock) *Store {
	return &Store{secrets: secrets, own: own, others: others, clock: clock}
}

// Index is the name of the index of Secrets by the Helm release that they are a revision
// of.
const Index = "helm-release"

// IndexFunc is the function of the index Index.
func IndexFunc(object client.Object) []string {
	if !IsRevision(object) {
		return nil
	}
	return []string{object.GetLabels()[labelName]}
}

// Create stores a new revision, with the spec of the Darkroom and its author. The error is a *ForeignError
// if a release that does not belong to the Darkroom has the revision.
func (r *Revisions) Create(ctx context.Context, release *helmrelease.Release) error {
	uids, err := r.uids(ctx)
	if err != nil {
		return err
	}
	secret, err := r.secretOf(release)
	if err != nil {
		return err
	}
	if secret.Data[v1alpha1.RevisionSpec], err = r.spec(); err != nil {
		return err
	}
	for _, writer := range revision.LastWriter(r.darkroom.GetManagedFields()) {
		secret.Data[v1alpha1.RevisionAuthor] = []byte(writer.Time.UTC().Format(time.RFC3339) + " " + writer.Manager)
	}
	written, err := r.secrets.Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{})
	err = r.wrote(release, uids, written, err)
	if apierrors.IsAlreadyExists(err) {
		if _, foreign := r.stored(ctx); foreign != nil {
			return foreign
		}
	}
	return err
}

// Update overwrites a revision.
func (r *Revisions) Update(ctx context.Context, release *helmrelease.Release) error {
	return r.Deployed(ctx, release, nil)
}

// Deployed overwrites a revision, with a record of what was applied beside it.
func (r *Revisions) Deployed(ctx context.Context, release *helmrelease.Release, record []byte) error {
	uids, err := r.uids(ctx)
	if err != nil {
		return err
	}
	secret, err := r.secretOf(release)
	if err != nil {
		return err
	}
	delete(secret.Labels, labelCreated)
	secret.Labels[labelModified] = strconv.FormatInt(r.clock.Now().Unix(), 10)
	uid := uids[release.Version]
	if uid == "" {
		return r.wrote(release, uids, nil, fmt.Errorf("update Secret %s: %w", secret.Name, errUnknownRevision))
	}
	patch, err := patchOf(secret, uid, record)
	if err != nil {
		return fmt.Errorf("encode Secret %s: %w", secret.Name, err)
	}
	written, err := r.secrets.Secrets(secret.Namespace).Patch(ctx, secret.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return r.wrote(release, uids, written, err)
}

// wrote remembers a revision that was written, unless there was an error.
func (r *Revisions) wrote(release *helmrelease.Release, uids revisionUIDs, written *corev1.Secret, err error) error {
	if err != nil {
		// The state of the Secret is unknown, because the response may have been lost.
		r.Forget()
		return fmt.Errorf("store revision %d of release %s: %w", release.Version, r.key(), err)
	}
	if last := r.memory.last; last == nil || last.release.Version <= release.Version {
		r.memory.remember(known{
			release:         revision.Summary(release),
			secretName:      written.Name,
			resourceVersion: written.ResourceVersion,
			uids:            uids.with(release.Version, written.UID),
		}, r.clock.Now())
	}
	return nil
}

// uids returns the UIDs of a Darkroom's revisions: those that the cache shows, and those that
// this process wrote or read lately.
func (r *Revisions) uids(ctx context.Context) (revisionUIDs, error) {
	indexed, err := r.revisions(ctx)
	return knownUIDs(indexed, r.memory.last), err
}

// TakeRecord returns the record that was read with the last revision, once.
func (r *Revisions) TakeRecord() []byte {
	last := r.memory.last
	if last == nil {
		return nil
	}
	taken := last.record
	last.record = nil
	return taken
}

// Prune deletes the oldest revisions so that at most keep remain; 0 keeps all.
// The deployed revision and the newest one are never deleted.
func (r *Revisions) Prune(ctx context.Context, keep int) error {
	if keep <= 0 {
		return nil
	}
	indexed, err := r.revisions(ctx)
	if err != nil {
		return err
	}
	surplus := len(indexed) - keep
	for i := 0; i < surplus; i++ {
		oldest := &indexed[i]
		if oldest.Labels[labelStatus] == helmrelease.StatusDeployed.String() {
			continue
		}
		if err := r.delete(ctx, oldest); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes every revision that belongs to a Darkroom and is newer than a version, and
// reports whether there was one. Revisions of the same name that belong to others stay.
func (r *Revisions) Delete(ctx context.Context, newerThan int) (bool, error) {
	list, err := r.list(ctx)
	if err != nil {
		return false, err
	}
	found := false
	for i := range list.Items {
		secret := &list.Items[i]
		if !ownership.OwnsRevision(r.darkroom, secret) || versionOf(secret) <= newerThan {
			continue
		}
		found = true
		if err := r.delete(ctx, secret); err != nil {
			return found, err
		}
	}
	r.Forget()
	return found, nil
}

// Manifest returns the identity of the manifest of the last revision, as far as it is
// remembered; else nothing.
func (m *Memory) Manifest() string {
	if m.last == nil {
		return ""
	}
	return m.last.release.Manifest
}

// Forget drops what is remembered.
func (r *Revisions) Forget() { r.memory.last = nil }

// Seen returns when this process first saw the last revision in its present version; now
// if it remembers none.
func (r *Revisions) Seen() time.Time {
	if last := r.memory.last; last != nil {
		return last.seen
	}
	return r.clock.Now()
}

// delete deletes a Secret, but not another one that has taken its name.
func (r *Revisions) delete(ctx context.Context, secret metav1.Object) error {
	uid := secret.GetUID()
	err := r.secrets.Secrets(secret.GetNamespace()).Delete(ctx, secret.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete release Secret %s/%s: %w", secret.GetNamespace(), secret.GetName(), err)
	}
	return nil
}

// remember remembers the last revision, which is seen now unless it was before.
func (m *Memory) remember(last known, now time.Time) {
	last.seen = now
	if before := m.last; before != nil && before.secretName == last.secretName && before.resourceVersion == last.resourceVersion {
		last.seen = before.seen
	}
	m.last = &last
}

func (r *Revisions) key() types.NamespacedName { return client.ObjectKeyFromObject(r.darkroom) }

// secretName is Helm's name for the Secret of a revision.
func secretName(release *helmrelease.Release) string {
	return fmt.Sprintf("%s.%s.v%d", helmstorage.HelmStorageType, release.Name, release.Version)
}

// versionOf returns the number of a revision from the labels of its Secret; 0 if they have none.
func versionOf(secret metav1.Object) int {
	version, err := strconv.Atoi(secret.GetLabels()[labelVersion])
	if err != nil {
		return 0
	}
	return version
}
