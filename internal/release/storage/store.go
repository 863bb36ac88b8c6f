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
	// uids are those of all revisions, by the names of their Secrets.
	uids map[string]types.UID
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
		if used, err := s.isUsed(ctx, darkroom); err != nil || !used {
			return nil, cmp.Or(err, driver.ErrReleaseNotFound)
		}
	}
	if last.isNewest(indexed) {
		return revision.Copy(last.release), nil
	}
	// The cache is stale, or another client wrote: ask the API server.
	release, err := s.Read(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	return revision.Summary(release), nil
}

// isNewest reports whether the cache shows a known revision as the last one.
func (k *known) isNewest(indexed []metav1.PartialObjectMetadata) bool {
	if k == nil || len(indexed) == 0 {
		return false
	}
	newest := &indexed[len(indexed)-1]
	return newest.Name == k.secretName && newest.ResourceVersion == k.resourceVersion
}

// isUsed reports whether the caches show a revision of a release's name that does not belong
// to the Darkroom. They may lag: Create fails for a release that is newer, because its first
// revision exists.
func (s *Store) isUsed(ctx context.Context, darkroom client.Object) (bool, error) {
	for _, cache := range []client.Reader{s.own, s.others} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
		err := cache.List(ctx, list, client.InNamespace(darkroom.GetNamespace()),
			client.MatchingFields{Index: darkroom.GetName()}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return false, fmt.Errorf("list revisions of release %s: %w", keyOf(darkroom), err)
		}
		if slices.ContainsFunc(list.Items, func(secret metav1.PartialObjectMetadata) bool { return !ownership.OwnsRevision(darkroom, &secret) }) {
			return true, nil
		}
	}
	return false, nil
}

// Read returns the newest revision of a Darkroom's release as the API server has it, with
// the errors of Last. A revision of the Darkroom that cannot be decoded is deleted.
func (s *Store) Read(ctx context.Context, darkroom client.Object) (*helmrelease.Release, error) {
	release, err := s.readByName(ctx, darkroom)
	if release != nil || err != nil {
		return release, err
	}
	return s.readListed(ctx, darkroom)
}

// readByName is Read for a release whose newest revision is known from the caches or by this
// store. It returns nil if it is not, or no longer the way it is known: to list the
// revisions takes the API server longer the more Secrets the namespace has.
func (s *Store) readByName(ctx context.Context, darkroom client.Object) (*helmrelease.Release, error) {
	indexed, err := s.revisions(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	if used, err := s.isUsed(ctx, darkroom); err != nil || used {
		return nil, err
	}
	name, uids := "", map[string]types.UID{}
	for i := range indexed {
		name, uids[indexed[i].Name] = indexed[i].Name, indexed[i].UID
	}
	if last := s.remembered(keyOf(darkroom)); last != nil {
		if len(indexed) == 0 || last.release.Version > versionOf(&indexed[len(indexed)-1]) {
			name = last.secretName
		}
		maps.Copy(uids, last.uids)
	}
	if name == "" {
		return nil, nil //nolint:nilnil // see above
	}
	secret, err := s.secrets.Secrets(darkroom.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read revision of release %s: %w", keyOf(darkroom), err)
	}
	if err != nil || secret.UID != uids[name] || !ownership.OwnsRevision(darkroom, secret) {
		return nil, nil //nolint:nilnil // see above
	}
	release, err := decode(secret)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // it is deleted by readListed
	}
	return s.found(darkroom, secret, release, uids), nil
}

// readListed is Read for a release that neither the caches nor this store knows.
func (s *Store) readListed(ctx context.Context, darkroom client.Object) (*helmrelease.Release, error) {
	secrets, err := s.stored(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	for i := range secrets {
		newest := &secrets[i]
		release, err := decode(newest)
		if err == nil {
			return s.found(darkroom, newest, release, uidsOf(secrets)), nil
		}
		if err := s.discard(ctx, newest, err); err != nil {
			return nil, err
		}
	}
	s.Forget(keyOf(darkroom))
	return nil, driver.ErrReleaseNotFound
}

// found remembers the newest revision, and returns a copy of it.
func (s *Store) found(darkroom client.Object, secret *corev1.Secret, release *helmrelease.Release, uids map[string]types.UID) *helmrelease.Release {
	s.remember(keyOf(darkroom), &known{
		release:         revision.Summary(release),
		secretName:      secret.Name,
		resourceVersion: secret.ResourceVersion,
		uids:            uids,
		record:          secret.Data[dataRecord],
	})
	return revision.Copy(release)
}

// History returns all readable revisions of a Darkroom's release, the newest first, with
// the errors of Last.
func (s *Store) History(ctx context.Context, darkroom client.Object) ([]*helmrelease.Release, error) {
	secrets, err := s.stored(ctx, darkroom)
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

// Current returns the newest revision of a Darkroom's release and the deployed ones, the
// newest first, with the errors of Last. It reads each by its name if the caches show what
// this store knows, because a list that has to be consistent can take 100 ms. Otherwise it
// is History.
func (s *Store) Current(ctx context.Context, darkroom client.Object) ([]*helmrelease.Release, error) {
	indexed, err := s.revisions(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	used, err := s.isUsed(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	if used || !s.remembered(keyOf(darkroom)).isNewest(indexed) {
		return s.History(ctx, darkroom)
	}
	var releases []*helmrelease.Release
	for i := len(indexed) - 1; i >= 0; i-- {
		metadata := &indexed[i]
		if i < len(indexed)-1 && metadata.Labels[labelStatus] != helmrelease.StatusDeployed.String() {
			continue
		}
		secret, err := s.secrets.Secrets(metadata.Namespace).Get(ctx, metadata.Name, metav1.GetOptions{})
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read revision of release %s: %w", keyOf(darkroom), err)
		}
		if err != nil || secret.UID != metadata.UID || secret.ResourceVersion != metadata.ResourceVersion {
			return s.History(ctx, darkroom)
		}
		release, err := decode(secret)
		if err != nil {
			return s.History(ctx, darkroom)
		}
		releases = append(releases, release)
	}
	return releases, nil
}

// stored lists the revisions of a Darkroom's release, the newest first, from the API server.
func (s *Store) stored(ctx context.Context, darkroom client.Object) ([]corev1.Secret, error) {
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

// Create stores a new revision. The error is a *ForeignError if a release that does not
// belong to the Darkroom has the revision.
func (s *Store) Create(ctx context.Context, darkroom client.Object, release *helmrelease.Release) error {
	err := s.write(ctx, darkroom, release, nil, (*driver.Secrets).Create)
	if errors.Is(err, driver.ErrReleaseExists) {
		if _, foreign := s.stored(ctx, darkroom); foreign != nil {
			return foreign
		}
	}
	return err
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
	err := s.own.List(ctx, list, client.InNamespace(darkroom.GetNamespace()),
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
