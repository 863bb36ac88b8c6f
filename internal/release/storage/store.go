package storage

import (
	"context"
	"fmt"
	"strconv"
	"sync"
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

// Store reads and writes revisions. The last revision of each release is remembered; a
// cache of the Secrets' metadata shows whether it still is the last one.
type Store struct {
	secrets corev1client.SecretsGetter
	own     client.Reader
	others  client.Reader
	clock   clock.PassiveClock

	mu   sync.Mutex
	last map[types.NamespacedName]*known
}

// known is what is remembered of a release as stored in a certain version of its
// Secret.
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
	return &Store{secrets: secrets, own: own, others: others, clock: clock, last: map[types.NamespacedName]*known{}}
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

// Create stores a new revision, with the spec of the Darkroom. The error is a *ForeignError
// if a release that does not belong to the Darkroom has the revision.
func (s *Store) Create(ctx context.Context, darkroom client.Object, release *helmrelease.Release) error {
	uids, err := s.uids(ctx, darkroom)
	if err != nil {
		return err
	}
	secret, err := secretOf(darkroom, release)
	if err != nil {
		return err
	}
	if secret.Data[v1alpha1.RevisionSpec], err = specOf(darkroom); err != nil {
		return err
	}
	secret.Labels[labelCreated] = s.timestamp()
	written, err := s.secrets.Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{})
	err = s.wrote(darkroom, release, uids, written, err)
	if apierrors.IsAlreadyExists(err) {
		if _, foreign := s.stored(ctx, darkroom); foreign != nil {
			return foreign
		}
	}
	return err
}

// Update overwrites a revision.
func (s *Store) Update(ctx context.Context, darkroom client.Object, release *helmrelease.Release) error {
	return s.Deployed(ctx, darkroom, release, nil)
}

// Deployed overwrites a revision, with a record of what was applied beside it.
func (s *Store) Deployed(ctx context.Context, darkroom client.Object, release *helmrelease.Release, record []byte) error {
	uids, err := s.uids(ctx, darkroom)
	if err != nil {
		return err
	}
	secret, err := secretOf(darkroom, release)
	if err != nil {
		return err
	}
	secret.Labels[labelModified] = s.timestamp()
	uid := uids.of(release.Version)
	if uid == "" {
		return s.wrote(darkroom, release, uids, nil, fmt.Errorf("update Secret %s: %w", secret.Name, errUnknownRevision))
	}
	patch, err := patchOf(secret, uid, record)
	if err != nil {
		return fmt.Errorf("encode Secret %s: %w", secret.Name, err)
	}
	written, err := s.secrets.Secrets(secret.Namespace).Patch(ctx, secret.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return s.wrote(darkroom, release, uids, written, err)
}

// wrote remembers a revision that was written, unless there was an error.
func (s *Store) wrote(darkroom client.Object, release *helmrelease.Release, uids revisionUIDs, written *corev1.Secret, err error) error {
	key := keyOf(darkroom)
	if err != nil {
		// The state of the Secret is unknown, because the response may have been lost.
		s.Forget(key)
		return fmt.Errorf("store revision %d of release %s: %w", release.Version, key, err)
	}
	if last := s.remembered(key); last == nil || last.release.Version <= release.Version {
		s.remember(key, &known{
			release:         revision.Summary(release),
			secretName:      written.Name,
			resourceVersion: written.ResourceVersion,
			uids:            uids.with(release.Version, written.UID),
		})
	}
	return nil
}

// uids returns the UIDs of a Darkroom's revisions: those that the cache shows, and those that
// this process wrote or read lately.
func (s *Store) uids(ctx context.Context, darkroom client.Object) (revisionUIDs, error) {
	indexed, err := s.revisions(ctx, darkroom)
	return knownUIDs(indexed, s.remembered(keyOf(darkroom))), err
}

// timestamp is the time in the labels of Helm's driver.
func (s *Store) timestamp() string { return strconv.FormatInt(s.clock.Now().Unix(), 10) }

// TakeRecord returns the record that was read with the last revision, once.
func (s *Store) TakeRecord(key types.NamespacedName) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last[key]
	if last == nil {
		return nil
	}
	taken := last.record
	last.record = nil
	return taken
}

// Record stores a record beside the last revision, unless same reports that the stored
// one is equal. If another client writes the revision meanwhile, its version is kept.
func (s *Store) Record(ctx context.Context, darkroom client.Object, record []byte, same func(a, b []byte) bool) error {
	key := keyOf(darkroom)
	last := s.remembered(key)
	if last == nil || record == nil {
		return nil
	}
	secrets := s.secrets.Secrets(key.Namespace)
	secret, err := secrets.Get(ctx, last.secretName, metav1.GetOptions{})
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if secret.ResourceVersion != last.resourceVersion || same(secret.Data[dataRecord], record) {
		return nil
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[dataRecord] = record
	written, err := secrets.Update(ctx, secret, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	s.remember(key, &known{release: last.release, secretName: last.secretName, resourceVersion: written.ResourceVersion, uids: last.uids})
	return nil
}

// Prune deletes the oldest revisions so that at most keep remain; 0 keeps all.
// The deployed revision and the newest one are never deleted.
func (s *Store) Prune(ctx context.Context, darkroom client.Object, keep int) error {
	if keep <= 0 {
		return nil
	}
	indexed, err := s.revisions(ctx, darkroom)
	if err != nil {
		return err
	}
	surplus := len(indexed) - keep
	for i := 0; i < surplus; i++ {
		oldest := &indexed[i]
		if oldest.Labels[labelStatus] == helmrelease.StatusDeployed.String() {
			continue
		}
		if err := s.delete(ctx, oldest); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes every revision that belongs to a Darkroom and is newer than a version, and
// reports whether there was one. Revisions of the same name that belong to others stay.
func (s *Store) Delete(ctx context.Context, darkroom client.Object, newerThan int) (bool, error) {
	list, err := s.list(ctx, darkroom)
	if err != nil {
		return false, err
	}
	found := false
	for i := range list.Items {
		secret := &list.Items[i]
		if !ownership.OwnsRevision(darkroom, secret) || versionOf(secret) <= newerThan {
			continue
		}
		found = true
		if err := s.delete(ctx, secret); err != nil {
			return found, err
		}
	}
	s.Forget(keyOf(darkroom))
	return found, nil
}

// Manifest returns the identity of the manifest of the last revision, as far as it is
// remembered; else nothing.
func (s *Store) Manifest(key types.NamespacedName) string {
	if last := s.remembered(key); last != nil {
		return last.release.Manifest
	}
	return ""
}

// Forget drops what is remembered of a release.
func (s *Store) Forget(key types.NamespacedName) {
	s.mu.Lock()
	delete(s.last, key)
	s.mu.Unlock()
}

// Seen returns when this process first saw the last revision in its present version; now
// if it remembers none.
func (s *Store) Seen(key types.NamespacedName) time.Time {
	if last := s.remembered(key); last != nil {
		return last.seen
	}
	return s.clock.Now()
}

// delete deletes a Secret, but not another one that has taken its name.
func (s *Store) delete(ctx context.Context, secret metav1.Object) error {
	uid := secret.GetUID()
	err := s.secrets.Secrets(secret.GetNamespace()).Delete(ctx, secret.GetName(), metav1.DeleteOptions{
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

func (s *Store) remembered(key types.NamespacedName) *known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[key]
}

func (s *Store) remember(key types.NamespacedName, now *known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now.seen = s.clock.Now()
	if before := s.last[key]; before != nil && before.secretName == now.secretName && before.resourceVersion == now.resourceVersion {
		now.seen = before.seen
	}
	s.last[key] = now
}

func keyOf(darkroom client.Object) types.NamespacedName { return client.ObjectKeyFromObject(darkroom) }

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
