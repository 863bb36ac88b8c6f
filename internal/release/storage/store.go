package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	helmstorage "helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/revision"
)

// Labels of Helm's release Secrets.
const (
	labelOwner   = "owner"
	labelName    = "name"
	labelVersion = "version"
	labelStatus  = "status"
	ownerHelm    = "helm"
)

// Store reads and writes revisions. The last revision of each release is remembered; a
// cache of the Secrets' metadata shows whether it still is the last one.
type Store struct {
	secrets corev1client.SecretsGetter
	index   client.Reader
	live    client.Reader
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
	// uids are those of all revisions, by the names of their Secrets.
	uids map[string]types.UID
	// seen is when this process first saw that version.
	seen time.Time
	// record is the record read beside the release, until it is taken.
	record []byte
}

// New returns a store that writes by secrets and reads metadata of Secrets from index, a
// cache that has the index ownership.Index and is limited to Secrets that carry the label
// LabelDarkroom. Where the cache has no revision of a release, live, which is not cached,
// is asked.
func New(secrets corev1client.SecretsGetter, index, live client.Reader, clock clock.PassiveClock) *Store {
	return &Store{secrets: secrets, index: index, live: live, clock: clock, last: map[types.NamespacedName]*known{}}
}

// Last returns the summary of the newest revision of a Darkroom's release. The error is
// driver.ErrReleaseNotFound if there is none, and a *ForeignError if there are revisions
// of that name that do not belong to the Darkroom. It costs no request while the cache
// shows the Secret as this store last saw it.
func (s *Store) Last(ctx context.Context, darkroom client.Object) (*helmrelease.Release, error) {
	indexed, err := s.revisions(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	last := s.remembered(keyOf(darkroom))
	if last == nil && len(indexed) == 0 {
		if unused, err := s.isUnused(ctx, darkroom); err != nil || unused {
			return nil, cmp.Or(err, driver.ErrReleaseNotFound)
		}
	}
	if last != nil && len(indexed) > 0 {
		newest := indexed[len(indexed)-1]
		if newest.Name == last.secretName && newest.ResourceVersion == last.resourceVersion {
			return revision.Copy(last.release), nil
		}
	}
	// The cache is stale, or another client wrote: ask the API server.
	release, err := s.Read(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	return revision.Summary(release), nil
}

// isUnused reports whether no revision of a release's name exists, including foreign ones.
// The answer may come from the API server's cache, because a consistent list can take
// 100 ms. Create fails for a release that is newer than the cache: its first revision exists.
func (s *Store) isUnused(ctx context.Context, darkroom client.Object) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := s.live.List(ctx, list, client.InNamespace(darkroom.GetNamespace()),
		client.MatchingLabels{labelOwner: ownerHelm, labelName: darkroom.GetName()},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}})
	if err != nil {
		return false, fmt.Errorf("list revisions of release %s: %w", keyOf(darkroom), err)
	}
	return len(list.Items) == 0, nil
}

// Read returns the newest revision of a Darkroom's release as the API server has it, with
// the errors of Last. A revision of the Darkroom that cannot be decoded is deleted.
func (s *Store) Read(ctx context.Context, darkroom client.Object) (*helmrelease.Release, error) {
	key := keyOf(darkroom)
	secrets, err := s.own(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	for i := range secrets {
		newest := &secrets[i]
		release, err := decode(newest)
		if err != nil {
			if err := s.discard(ctx, newest, err); err != nil {
				return nil, err
			}
			continue
		}
		s.remember(key, &known{
			release:         revision.Summary(release),
			secretName:      newest.Name,
			resourceVersion: newest.ResourceVersion,
			uids:            uidsOf(secrets),
			record:          newest.Data[dataRecord],
		})
		return revision.Copy(release), nil
	}
	s.Forget(key)
	return nil, driver.ErrReleaseNotFound
}

// History returns all readable revisions of a Darkroom's release, the newest first, with
// the errors of Last.
func (s *Store) History(ctx context.Context, darkroom client.Object) ([]*helmrelease.Release, error) {
	secrets, err := s.own(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	var releases []*helmrelease.Release
	for i := range secrets {
		// One that cannot be decoded was reported, and deleted, by Read.
		if release, err := decode(&secrets[i]); err == nil {
			releases = append(releases, release)
		}
	}
	if len(releases) == 0 {
		return nil, driver.ErrReleaseNotFound
	}
	return releases, nil
}

// own lists the revisions of a Darkroom's release, the newest first, from the API server.
func (s *Store) own(ctx context.Context, darkroom client.Object) ([]corev1.Secret, error) {
	list, err := s.list(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	found := make([]metav1.Object, len(list.Items))
	for i := range list.Items {
		found[i] = &list.Items[i]
	}
	if err := checkForeign(darkroom, found); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return versionOf(&b) - versionOf(&a) })
	return list.Items, nil
}

// list returns all revisions of a release's name, including foreign ones.
func (s *Store) list(ctx context.Context, darkroom client.Object) (*corev1.SecretList, error) {
	list, err := s.secrets.Secrets(darkroom.GetNamespace()).List(ctx, metav1.ListOptions{
		LabelSelector: labelOwner + "=" + ownerHelm + "," + labelName + "=" + darkroom.GetName(),
	})
	if err != nil {
		return nil, fmt.Errorf("list revisions of release %s: %w", keyOf(darkroom), err)
	}
	return list, nil
}

// discard deletes a revision of the Darkroom's own that cannot be decoded: it holds no
// information any more, and its number would be in the way of the next one.
func (s *Store) discard(ctx context.Context, secret *corev1.Secret, cause error) error {
	ctrl.LoggerFrom(ctx).Error(cause, "Deleting a revision that cannot be decoded; the release will be applied over its objects",
		"namespace", secret.Namespace, "release", secret.Labels[labelName], "secret", secret.Name)
	return s.delete(ctx, secret)
}

// Create stores a new revision.
func (s *Store) Create(ctx context.Context, darkroom client.Object, release *helmrelease.Release) error {
	return s.write(ctx, darkroom, release, nil, (*driver.Secrets).Create)
}

// Update overwrites a revision.
func (s *Store) Update(ctx context.Context, darkroom client.Object, release *helmrelease.Release) error {
	return s.write(ctx, darkroom, release, nil, (*driver.Secrets).Update)
}

// Deployed overwrites a revision, with a record of what was applied beside it.
func (s *Store) Deployed(ctx context.Context, darkroom client.Object, release *helmrelease.Release, record []byte) error {
	return s.write(ctx, darkroom, release, record, (*driver.Secrets).Update)
}

func (s *Store) write(ctx context.Context, darkroom client.Object, release *helmrelease.Release, record []byte,
	write func(*driver.Secrets, string, *helmrelease.Release) error,
) error {
	key := keyOf(darkroom)
	secrets := s.secretClient(ctx, darkroom)
	secrets.record = record
	if err := s.identify(ctx, darkroom, secrets); err != nil {
		return err
	}
	if err := write(driver.NewSecrets(secrets), secretName(release), release); err != nil {
		// The state of the Secret is unknown, because the response may have been lost.
		s.Forget(key)
		return fmt.Errorf("store revision %d of release %s: %w", release.Version, key, err)
	}
	secrets.uids[secretName(release)] = secrets.uid
	if last := s.remembered(key); last == nil || last.release.Version <= release.Version {
		s.remember(key, &known{
			release:         revision.Summary(release),
			secretName:      secretName(release),
			resourceVersion: secrets.resourceVersion,
			uids:            secrets.uids,
		})
	}
	return nil
}

// identify gives a client the UIDs of a Darkroom's revisions: those that the cache shows,
// and those that this process wrote or read lately.
func (s *Store) identify(ctx context.Context, darkroom client.Object, secrets *secretClient) error {
	indexed, err := s.revisions(ctx, darkroom)
	if err != nil {
		return err
	}
	secrets.uids = map[string]types.UID{}
	for i := range indexed {
		secrets.uids[indexed[i].Name] = indexed[i].UID
	}
	if last := s.remembered(keyOf(darkroom)); last != nil {
		maps.Copy(secrets.uids, last.uids)
	}
	return nil
}

func uidsOf(secrets []corev1.Secret) map[string]types.UID {
	uids := make(map[string]types.UID, len(secrets))
	for i := range secrets {
		uids[secrets[i].Name] = secrets[i].UID
	}
	return uids
}

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

// Delete removes every revision that belongs to a Darkroom, and reports whether there was
// one. Revisions of the same name that belong to others stay.
func (s *Store) Delete(ctx context.Context, darkroom client.Object) (bool, error) {
	list, err := s.list(ctx, darkroom)
	if err != nil {
		return false, err
	}
	found := false
	for i := range list.Items {
		secret := &list.Items[i]
		if !ownership.OwnsRevision(darkroom, secret) {
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

// revisions returns the metadata of a Darkroom's revisions from the cache, the newest
// last.
func (s *Store) revisions(ctx context.Context, darkroom client.Object) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := s.index.List(ctx, list, client.InNamespace(darkroom.GetNamespace()),
		client.MatchingFields{ownership.Index: string(darkroom.GetUID())}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list revisions of release %s: %w", keyOf(darkroom), err)
	}
	own := slices.DeleteFunc(list.Items, func(secret metav1.PartialObjectMetadata) bool {
		return !IsRevision(&secret) || secret.Labels[labelName] != darkroom.GetName() || !ownership.OwnsRevision(darkroom, &secret)
	})
	slices.SortFunc(own, func(a, b metav1.PartialObjectMetadata) int { return versionOf(&a) - versionOf(&b) })
	return own, nil
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
	if len(release) == 0 || release[0].Info == nil {
		return nil, errors.New("it contains no readable release")
	}
	return release[0], nil
}
