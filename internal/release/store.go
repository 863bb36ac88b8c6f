package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Labels of Helm's release Secrets.
const (
	labelOwner   = "owner"
	labelName    = "name"
	labelVersion = "version"
	labelStatus  = "status"
	ownerHelm    = "helm"
)

// IndexRelease is the index of Secrets by the release that they are a revision of.
// Without it each look at one release would go through the Secrets of all.
const IndexRelease = "release"

// IndexReleaseFunc is the function of the index IndexRelease.
func IndexReleaseFunc(secret client.Object) []string {
	if !isRevision(secret) {
		return nil
	}
	return []string{secret.GetLabels()[labelName]}
}

// Store keeps releases where Helm does: each revision in a Secret of the
// release's namespace. The last revision of each release is remembered; a cache
// of the Secrets' metadata tells whether it still is the last one.
type Store struct {
	secrets corev1client.SecretsGetter
	index   client.Reader

	mu   sync.Mutex
	last map[types.NamespacedName]*revision
}

// revision is what is remembered of a release as stored in a certain version of its
// Secret.
type revision struct {
	// release is its summary.
	release         *helmrelease.Release
	secretName      string
	resourceVersion string
	// record is what was read beside the release, until somebody takes it.
	record []byte
}

// NewStore returns a store that writes by secrets, and reads metadata of Secrets
// from index: a cache that has the index IndexRelease, limited to Secrets that
// carry the label LabelDarkroom.
func NewStore(secrets corev1client.SecretsGetter, index client.Reader) *Store {
	return &Store{secrets: secrets, index: index, last: map[types.NamespacedName]*revision{}}
}

// Last returns the summary of a release's newest revision, or driver.ErrReleaseNotFound.
// It costs no request while the cache shows the Secret as this store last saw it.
func (s *Store) Last(ctx context.Context, key types.NamespacedName) (*helmrelease.Release, error) {
	indexed, err := s.revisions(ctx, key)
	if err != nil {
		return nil, err
	}
	known := s.remembered(key)
	if known == nil && len(indexed) == 0 {
		return nil, driver.ErrReleaseNotFound
	}
	if known != nil && len(indexed) > 0 {
		newest := indexed[len(indexed)-1]
		if newest.Name == known.secretName && newest.ResourceVersion == known.resourceVersion {
			return copyRelease(known.release), nil
		}
	}
	// The cache is behind, or somebody else wrote: ask the API server.
	release, err := s.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	return summary(release), nil
}

// Read returns the newest revision of a release as the API server has it, or
// driver.ErrReleaseNotFound.
func (s *Store) Read(ctx context.Context, key types.NamespacedName) (*helmrelease.Release, error) {
	list, err := s.secrets.Secrets(key.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labelOwner + "=" + ownerHelm + "," + labelName + "=" + key.Name,
	})
	if err != nil {
		return nil, fmt.Errorf("list revisions of release %s: %w", key, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return versionOf(&b) - versionOf(&a) })
	for i := range list.Items {
		newest := &list.Items[i]
		release, err := decode(newest)
		if err != nil {
			if err := s.discard(ctx, newest, err); err != nil {
				return nil, err
			}
			continue
		}
		s.remember(key, &revision{
			release:         summary(release),
			secretName:      newest.Name,
			resourceVersion: newest.ResourceVersion,
			record:          newest.Data[dataRecord],
		})
		return copyRelease(release), nil
	}
	s.Forget(key)
	return nil, driver.ErrReleaseNotFound
}

// discard deletes a revision that cannot be read: whoever damaged it, it tells
// nothing any more, and its number would be in the way of the next one. One that
// this operator did not make is left to its maker.
func (s *Store) discard(ctx context.Context, secret *corev1.Secret, cause error) error {
	if secret.Labels[v1alpha1.LabelDarkroom] == "" {
		return fmt.Errorf("decode Secret %s/%s: %w: delete this Secret to have the release installed anew over its objects",
			secret.Namespace, secret.Name, cause)
	}
	ctrl.LoggerFrom(ctx).Error(cause, "Deleting a revision that cannot be read; the release is made anew over its objects",
		"namespace", secret.Namespace, "darkroom", secret.Labels[v1alpha1.LabelDarkroom], "secret", secret.Name)
	return s.delete(ctx, secret.Namespace, secret.Name)
}

// History returns all revisions of a release, the newest first.
func (s *Store) History(ctx context.Context, key types.NamespacedName) ([]*helmrelease.Release, error) {
	releases, err := driver.NewSecrets(s.secretClient(ctx, key, nil)).Query(map[string]string{labelName: key.Name, labelOwner: ownerHelm})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(releases, func(a, b *helmrelease.Release) int { return b.Version - a.Version })
	return releases, nil
}

// Create stores a new revision, owned by the resource.
func (s *Store) Create(ctx context.Context, owner client.Object, release *helmrelease.Release) error {
	return s.write(ctx, owner, release, nil, (*driver.Secrets).Create)
}

// Update stores a revision anew.
func (s *Store) Update(ctx context.Context, owner client.Object, release *helmrelease.Release) error {
	return s.write(ctx, owner, release, nil, (*driver.Secrets).Update)
}

// Deployed stores a revision anew with a record of what was applied beside it.
func (s *Store) Deployed(ctx context.Context, owner client.Object, release *helmrelease.Release, record []byte) error {
	return s.write(ctx, owner, release, record, (*driver.Secrets).Update)
}

func (s *Store) write(ctx context.Context, owner client.Object, release *helmrelease.Release, record []byte,
	write func(*driver.Secrets, string, *helmrelease.Release) error,
) error {
	key := types.NamespacedName{Namespace: release.Namespace, Name: release.Name}
	secrets := s.secretClient(ctx, key, owner)
	secrets.record = record
	if err := write(driver.NewSecrets(secrets), secretName(release), release); err != nil {
		// What is stored now is not known for sure: the answer may have been lost.
		s.Forget(key)
		return fmt.Errorf("store revision %d of release %s: %w", release.Version, key, err)
	}
	if known := s.remembered(key); known == nil || known.release.Version <= release.Version {
		s.remember(key, &revision{
			release:         summary(release),
			secretName:      secretName(release),
			resourceVersion: secrets.resourceVersion,
		})
	}
	return nil
}

// TakeRecord returns the record that was read with the last revision, once.
func (s *Store) TakeRecord(key types.NamespacedName) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.last[key]
	if known == nil {
		return nil
	}
	taken := known.record
	known.record = nil
	return taken
}

// Record stores a record beside the last revision, unless it is there already. If
// somebody writes the revision meanwhile, theirs stands.
func (s *Store) Record(ctx context.Context, key types.NamespacedName, record []byte) error {
	known := s.remembered(key)
	if known == nil || record == nil {
		return nil
	}
	secrets := s.secrets.Secrets(key.Namespace)
	secret, err := secrets.Get(ctx, known.secretName, metav1.GetOptions{})
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if secret.ResourceVersion != known.resourceVersion || sameRecord(secret.Data[dataRecord], record) {
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
	s.remember(key, &revision{release: known.release, secretName: known.secretName, resourceVersion: written.ResourceVersion})
	return nil
}

// Prune deletes the oldest revisions so that at most keep remain; 0 keeps all.
// The deployed revision and the newest one are never deleted.
func (s *Store) Prune(ctx context.Context, key types.NamespacedName, keep int) error {
	if keep <= 0 {
		return nil
	}
	indexed, err := s.revisions(ctx, key)
	if err != nil {
		return err
	}
	surplus := len(indexed) - keep
	for i := 0; i < surplus; i++ {
		oldest := &indexed[i]
		if oldest.Labels[labelStatus] == helmrelease.StatusDeployed.String() {
			continue
		}
		if err := s.delete(ctx, key.Namespace, oldest.Name); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes every revision of a release.
func (s *Store) Delete(ctx context.Context, key types.NamespacedName) error {
	list, err := s.secrets.Secrets(key.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labelOwner + "=" + ownerHelm + "," + labelName + "=" + key.Name,
	})
	if err != nil {
		return fmt.Errorf("list revisions of release %s: %w", key, err)
	}
	for i := range list.Items {
		if err := s.delete(ctx, key.Namespace, list.Items[i].Name); err != nil {
			return err
		}
	}
	s.Forget(key)
	return nil
}

// Forget drops what is remembered of a release.
func (s *Store) Forget(key types.NamespacedName) {
	s.mu.Lock()
	delete(s.last, key)
	s.mu.Unlock()
}

func (s *Store) delete(ctx context.Context, namespace, name string) error {
	err := s.secrets.Secrets(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete release Secret %s/%s: %w", namespace, name, err)
	}
	return nil
}

// revisions returns the metadata of a release's Secrets from the cache, the
// newest last.
func (s *Store) revisions(ctx context.Context, key types.NamespacedName) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := s.index.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{IndexRelease: key.Name})
	if err != nil {
		return nil, fmt.Errorf("list revisions of release %s: %w", key, err)
	}
	slices.SortFunc(list.Items, func(a, b metav1.PartialObjectMetadata) int { return versionOf(&a) - versionOf(&b) })
	return list.Items, nil
}

func (s *Store) remembered(key types.NamespacedName) *revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[key]
}

func (s *Store) remember(key types.NamespacedName, r *revision) {
	s.mu.Lock()
	s.last[key] = r
	s.mu.Unlock()
}

// secretClient is what Helm's own driver writes by, so that releases are encoded
// as Helm does.
func (s *Store) secretClient(ctx context.Context, key types.NamespacedName, owner client.Object) *secretClient {
	return &secretClient{SecretInterface: s.secrets.Secrets(key.Namespace), ctx: ctx, owner: owner}
}

// secretName is Helm's name for the Secret of a revision.
func secretName(release *helmrelease.Release) string {
	return fmt.Sprintf("%s.%s.v%d", storage.HelmStorageType, release.Name, release.Version)
}

func versionOf(secret metav1.Object) int {
	version, err := strconv.Atoi(secret.GetLabels()[labelVersion])
	if err != nil {
		return 0
	}
	return version
}

// decode reads a release from its Secret by way of Helm's driver.
func decode(secret *corev1.Secret) (*helmrelease.Release, error) {
	release, err := driver.NewSecrets(&oneSecret{secret: secret}).List(func(*helmrelease.Release) bool { return true })
	if err != nil {
		return nil, err
	}
	if len(release) == 0 {
		return nil, errors.New("it holds no readable release")
	}
	return release[0], nil
}
