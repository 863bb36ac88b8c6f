package storage

import (
	"context"
	"fmt"
	"slices"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// Last returns the summary of the newest revision of a Darkroom's release. The error is
// driver.ErrReleaseNotFound if there is none, and ErrForeignRelease if there are revisions
// of that name that do not belong to the Darkroom. It costs no request while the cache
// shows the Secret as this store last saw it.
func (r *Revisions) Last(ctx context.Context) (*helmrelease.Release, error) {
	indexed, err := r.revisions(ctx)
	if err != nil {
		return nil, err
	}
	if r.memory.last == nil && len(indexed) == 0 {
		used, err := r.isUsed(ctx)
		if err != nil {
			return nil, err
		}
		if !used {
			return nil, driver.ErrReleaseNotFound
		}
	}
	if r.memory.isNewest(indexed) {
		return Copy(r.memory.last), nil
	}
	// This process has just started, the caches are stale, or another client wrote.
	current, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	return summary(current[0]), nil
}

// isNewest reports whether the cache shows the Secret of the remembered revision as the newest, as it
// was written or read.
func (m *Memory) isNewest(indexed []metav1.PartialObjectMetadata) bool {
	if m.last == nil || len(indexed) == 0 {
		return false
	}
	newest := &indexed[len(indexed)-1]
	return newest.Name == m.secret && newest.ResourceVersion == m.resourceVersion
}

// Current returns the newest revision of a Darkroom's release and the deployed ones, the newest
// first, with the errors of Last. It reads each by its name, because a list that has to be
// consistent takes up to 100 ms, and longer the more Secrets the namespace has. If the caches do
// not show what to read, it returns all revisions.
func (r *Revisions) Current(ctx context.Context) ([]*helmrelease.Release, error) {
	indexed, err := r.revisions(ctx)
	if err != nil {
		return nil, err
	}
	used, err := r.isUsed(ctx)
	if err != nil {
		return nil, err
	}
	newest := len(indexed) - 1
	if used || newest < 0 || r.memory.last != nil && r.memory.last.Version > versionOf(&indexed[newest]) {
		return r.listed(ctx)
	}
	var releases []*helmrelease.Release
	for i, metadata := range slices.Backward(indexed) {
		if i < newest && !isDeployed(&metadata) {
			continue
		}
		secret, err := r.secrets.Secrets(metadata.Namespace).Get(ctx, metadata.Name, metav1.GetOptions{})
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read revision of release %s: %w", r.key(), err)
		}
		if err != nil || !ownership.OwnsRevision(r.darkroom, secret) {
			return r.listed(ctx)
		}
		release, err := decode(secret)
		if err != nil {
			return r.listed(ctx)
		}
		if i == newest {
			r.found(secret, release)
		}
		releases = append(releases, release)
	}
	return releases, nil
}

// listed returns all revisions of a Darkroom's release, the newest first, as the API server has
// them, with the errors of Last. A newest one that cannot be decoded is deleted: it holds no
// information, and its number would be in the way of the next one.
func (r *Revisions) listed(ctx context.Context) ([]*helmrelease.Release, error) {
	secrets, err := r.stored(ctx)
	if err != nil {
		return nil, err
	}
	var releases []*helmrelease.Release
	for i := range secrets {
		secret := &secrets[i]
		if len(releases) == 0 {
			if secret, err = r.withData(ctx, secret); apierrors.IsNotFound(err) {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		release, err := decode(secret)
		switch {
		case err == nil && len(releases) == 0:
			r.found(secret, release)
			fallthrough
		case err == nil:
			releases = append(releases, release)
		case len(releases) == 0:
			ctrl.LoggerFrom(ctx).Error(err,
				"Deleting a revision that cannot be decoded; the release will be applied over its objects",
				"namespace", secret.Namespace, "secret", secret.Name)
			if err := r.delete(ctx, secret); err != nil {
				return nil, err
			}
		}
	}
	if len(releases) == 0 {
		*r.memory = Memory{}
		return nil, driver.ErrReleaseNotFound
	}
	return releases, nil
}

// IsDeployed reports whether the caches show a deployed revision of a Darkroom's release.
func (r *Revisions) IsDeployed(ctx context.Context) (bool, error) {
	indexed, err := r.revisions(ctx)
	return slices.ContainsFunc(indexed, func(metadata metav1.PartialObjectMetadata) bool {
		return isDeployed(&metadata)
	}), err
}

// found remembers the newest revision.
func (r *Revisions) found(secret *corev1.Secret, release *helmrelease.Release) {
	r.memory.remember(release, secret, r.clock.Now())
}

// isUsed reports whether the caches show a revision of a release's name that does not belong
// to the Darkroom. They may lag: Create fails for a release that is newer, because its first
// revision exists.
func (r *Revisions) isUsed(ctx context.Context) (bool, error) {
	for _, cache := range []client.Reader{r.own, r.others} {
		named, err := r.cached(ctx, cache, client.MatchingFields{Index: r.darkroom.Name})
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(named, func(secret metav1.PartialObjectMetadata) bool {
			return !ownership.OwnsRevision(r.darkroom, &secret)
		}) {
			return true, nil
		}
	}
	return false, nil
}

// stored lists the revisions of a Darkroom's release, the newest first, from the API server. It
// fails unless all belong to the Darkroom: with ErrPredecessor if the others belong to Darkrooms
// that are gone, because two of one name cannot exist at one time.
func (r *Revisions) stored(ctx context.Context) ([]corev1.Secret, error) {
	secrets, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	predecessor := false
	for i := range secrets {
		if ownership.OwnsRevision(r.darkroom, &secrets[i]) {
			continue
		}
		if metav1.GetControllerOfNoCopy(&secrets[i]) == nil || ownership.UID(&secrets[i]) == "" {
			return nil, fmt.Errorf(
				"%w: rename the Darkroom, uninstall the release %s with helm, or adopt it with the "+
					"annotation %s=%s on the Darkroom",
				ErrForeignRelease, r.darkroom.Name, v1alpha1.AnnotationAdoptRelease, r.darkroom.Name)
		}
		predecessor = true
	}
	if predecessor {
		return nil, fmt.Errorf("release %s: %w", r.key(), ErrPredecessor)
	}
	return secrets, nil
}

const (
	// listPage is how many revisions are read at once: as many as the operator keeps by default.
	listPage = 10
	// maxHeld is how much data of revisions is held, in bytes.
	maxHeld = 8 << 20
)

// list returns all revisions of a release's name, including foreign ones, the newest first. Users may create
// any number of them, so those that exceed maxHeld together have no data.
func (r *Revisions) list(ctx context.Context) (secrets []corev1.Secret, err error) {
	options := metav1.ListOptions{
		LabelSelector: labelOwner + "=" + ownerHelm + "," + labelName + "=" + r.darkroom.Name,
		Limit:         listPage,
	}
	for held := 0; ; {
		page, err := r.secrets.Secrets(r.darkroom.Namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list revisions of release %s: %w", r.key(), err)
		}
		for i := range page.Items {
			secret := page.Items[i]
			secret.ManagedFields, secret.Annotations = nil, nil
			release := secret.Data[dataRelease]
			if secret.Data = nil; held+len(release) <= maxHeld {
				secret.Data = map[string][]byte{dataRelease: release}
				held += len(release)
			}
			secrets = append(secrets, secret)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	slices.SortFunc(secrets, func(a, b corev1.Secret) int { return versionOf(&b) - versionOf(&a) })
	return secrets, nil
}

// withData returns a Secret with its data, which list may have left out.
func (r *Revisions) withData(ctx context.Context, secret *corev1.Secret) (*corev1.Secret, error) {
	if secret.Data != nil {
		return secret, nil
	}
	full, err := r.secrets.Secrets(secret.Namespace).Get(ctx, secret.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read revision of release %s: %w", r.key(), err)
	}
	return full, nil
}

// revisions returns the metadata of a Darkroom's revisions from the cache, the newest
// last.
func (r *Revisions) revisions(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	cached, err := r.cached(ctx, r.own, client.MatchingFields{ownership.Index: ownership.IndexKey(r.darkroom.UID)})
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(cached, func(secret metav1.PartialObjectMetadata) bool {
		return !IsRevision(&secret) || secret.Labels[labelName] != r.darkroom.Name ||
			!ownership.OwnsRevision(r.darkroom, &secret)
	})
	slices.SortFunc(own, func(a, b metav1.PartialObjectMetadata) int { return versionOf(&a) - versionOf(&b) })
	return own, nil
}

// cached lists the Secrets of a Darkroom's namespace that a cache has under a key of
// one of its indexes.
func (r *Revisions) cached(
	ctx context.Context, cache client.Reader, index client.MatchingFields,
) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := cache.List(ctx, list, client.InNamespace(r.darkroom.Namespace), index,
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list revisions of release %s: %w", r.key(), err)
	}
	return list.Items, nil
}
