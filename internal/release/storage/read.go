package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/revision"
)

// Last returns the summary of the newest revision of a Darkroom's release. The error is
// driver.ErrReleaseNotFound if there is none, and a *ForeignError if there are revisions
// of that name that do not belong to the Darkroom. It costs no request while the cache
// shows the Secret as this store last saw it.
func (r *Revisions) Last(ctx context.Context) (*helmrelease.Release, error) {
	indexed, err := r.revisions(ctx)
	if err != nil {
		return nil, err
	}
	last := r.memory.last
	if last == nil && len(indexed) == 0 {
		if used, err := r.isUsed(ctx); err != nil || !used {
			return nil, cmp.Or(err, driver.ErrReleaseNotFound)
		}
	}
	if last.isNewest(indexed) {
		return revision.Copy(last.release), nil
	}
	// This process has just started, the caches are stale, or another client wrote.
	release, err := r.Read(ctx)
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
func (r *Revisions) isUsed(ctx context.Context) (bool, error) {
	for _, cache := range []client.Reader{r.own, r.others} {
		named, err := r.cached(ctx, cache, client.MatchingFields{Index: r.darkroom.GetName()})
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(named, func(secret metav1.PartialObjectMetadata) bool { return !ownership.OwnsRevision(r.darkroom, &secret) }) {
			return true, nil
		}
	}
	return false, nil
}

// Read returns the newest revision of a Darkroom's release as the API server has it, with
// the errors of Last. A revision of the Darkroom that cannot be decoded is deleted.
func (r *Revisions) Read(ctx context.Context) (*helmrelease.Release, error) {
	secret, uids, err := r.readByName(ctx)
	if err != nil {
		return nil, err
	}
	if secret != nil {
		if release, err := decode(secret); err == nil {
			r.found(secret, release, uids)
			return release, nil
		}
	}
	return r.readListed(ctx)
}

// readByName returns the Secret of the newest revision of a release, if that is known from
// the caches or by this store, and the UIDs of all. It returns nil if it is not known, or no
// longer the way it is known: to list the revisions takes the API server longer the more
// Secrets the namespace has.
func (r *Revisions) readByName(ctx context.Context) (*corev1.Secret, revisionUIDs, error) {
	indexed, err := r.revisions(ctx)
	if err != nil {
		return nil, nil, err
	}
	if used, err := r.isUsed(ctx); err != nil || used {
		return nil, nil, err
	}
	name := ""
	if len(indexed) > 0 {
		name = indexed[len(indexed)-1].Name
	}
	last := r.memory.last
	if last != nil && (len(indexed) == 0 || last.release.Version > versionOf(&indexed[len(indexed)-1])) {
		name = last.secretName
	}
	if name == "" {
		return nil, nil, nil
	}
	secret, err := r.secrets.Secrets(r.darkroom.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if client.IgnoreNotFound(err) != nil {
		return nil, nil, fmt.Errorf("read revision of release %s: %w", r.key(), err)
	}
	uids := knownUIDs(indexed, last)
	if err != nil || secret.UID != uids[versionOf(secret)] || !ownership.OwnsRevision(r.darkroom, secret) {
		return nil, nil, nil
	}
	return secret, uids, nil
}

// readListed is Read for a release that neither the caches nor this store knows.
func (r *Revisions) readListed(ctx context.Context) (*helmrelease.Release, error) {
	secrets, err := r.stored(ctx)
	if err != nil {
		return nil, err
	}
	for i := range secrets {
		newest := &secrets[i]
		release, err := decode(newest)
		if err == nil {
			r.found(newest, release, uidsOf(secrets))
			return release, nil
		}
		if err := r.discard(ctx, newest, err); err != nil {
			return nil, err
		}
	}
	r.Forget()
	return nil, driver.ErrReleaseNotFound
}

// found remembers the summary of the newest revision.
func (r *Revisions) found(secret *corev1.Secret, release *helmrelease.Release, uids revisionUIDs) {
	r.memory.remember(known{
		release:         revision.Summary(release),
		secretName:      secret.Name,
		resourceVersion: secret.ResourceVersion,
		uids:            uids,
		record:          secret.Data[dataRecord],
	}, r.clock.Now())
}

// History returns all readable revisions of a Darkroom's release, the newest first, with
// the errors of Last.
func (r *Revisions) History(ctx context.Context) ([]*helmrelease.Release, error) {
	secrets, err := r.stored(ctx)
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
func (r *Revisions) Current(ctx context.Context) ([]*helmrelease.Release, error) {
	indexed, err := r.revisions(ctx)
	if err != nil {
		return nil, err
	}
	used, err := r.isUsed(ctx)
	if err != nil {
		return nil, err
	}
	if used || !r.memory.last.isNewest(indexed) {
		return r.History(ctx)
	}
	var releases []*helmrelease.Release
	for i := len(indexed) - 1; i >= 0; i-- {
		metadata := &indexed[i]
		if i < len(indexed)-1 && metadata.Labels[labelStatus] != helmrelease.StatusDeployed.String() {
			continue
		}
		secret, err := r.secrets.Secrets(metadata.Namespace).Get(ctx, metadata.Name, metav1.GetOptions{})
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read revision of release %s: %w", r.key(), err)
		}
		if err != nil || secret.UID != metadata.UID || secret.ResourceVersion != metadata.ResourceVersion {
			return r.History(ctx)
		}
		release, err := decode(secret)
		if err != nil {
			return r.History(ctx)
		}
		releases = append(releases, release)
	}
	return releases, nil
}

// stored lists the revisions of a Darkroom's release, the newest first, from the API server.
func (r *Revisions) stored(ctx context.Context) ([]corev1.Secret, error) {
	list, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]metav1.Object, len(list.Items))
	for i := range list.Items {
		found[i] = &list.Items[i]
	}
	if err := r.checkForeign(found); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return versionOf(&b) - versionOf(&a) })
	return list.Items, nil
}

// list returns all revisions of a release's name, including foreign ones.
func (r *Revisions) list(ctx context.Context) (*corev1.SecretList, error) {
	list, err := r.secrets.Secrets(r.darkroom.GetNamespace()).List(ctx, metav1.ListOptions{
		LabelSelector: labelOwner + "=" + ownerHelm + "," + labelName + "=" + r.darkroom.GetName(),
	})
	if err != nil {
		return nil, fmt.Errorf("list revisions of release %s: %w", r.key(), err)
	}
	return list, nil
}

// discard deletes a revision of the Darkroom's own that cannot be decoded: it holds no
// information any more, and its number would be in the way of the next one.
func (r *Revisions) discard(ctx context.Context, secret *corev1.Secret, cause error) error {
	ctrl.LoggerFrom(ctx).Error(cause, "Deleting a revision that cannot be decoded; the release will be applied over its objects",
		"namespace", secret.Namespace, "release", secret.Labels[labelName], "secret", secret.Name)
	return r.delete(ctx, secret)
}

// revisions returns the metadata of a Darkroom's revisions from the cache, the newest
// last.
func (r *Revisions) revisions(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	cached, err := r.cached(ctx, r.own, client.MatchingFields{ownership.Index: ownership.IndexKey(r.darkroom.GetUID())})
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(cached, func(secret metav1.PartialObjectMetadata) bool {
		return !IsRevision(&secret) || secret.Labels[labelName] != r.darkroom.GetName() || !ownership.OwnsRevision(r.darkroom, &secret)
	})
	slices.SortFunc(own, func(a, b metav1.PartialObjectMetadata) int { return versionOf(&a) - versionOf(&b) })
	return own, nil
}

// cached lists the Secrets of a Darkroom's namespace that a cache has under a key of
// one of its indexes.
func (r *Revisions) cached(ctx context.Context, cache client.Reader, index client.MatchingFields) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := cache.List(ctx, list, client.InNamespace(r.darkroom.GetNamespace()), index, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list revisions of release %s: %w", r.key(), err)
	}
	return list.Items, nil
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
