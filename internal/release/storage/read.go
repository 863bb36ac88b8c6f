package storage

import (
	"cmp"
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

	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// Last returns the summary of the newest revision of a Darkroom's release. The error is driver.ErrReleaseNotFound if
// there is none, and ErrForeignRelease if revisions of that name do not belong to the Darkroom. Last sends no request
// while the cached Secret is the one that this process last read or wrote.
func (r *Revisions) Last(ctx context.Context) (*helmrelease.Release, error) {
	indexed, err := r.revisions(ctx)
	if err != nil {
		return nil, err
	}
	if last := r.memory; last.last != nil && len(indexed) > 0 && indexed[0].Name == last.secret &&
		indexed[0].ResourceVersion == last.resourceVersion {
		return Copy(last.last), nil
	}
	if r.memory.last == nil && len(indexed) == 0 {
		if used, err := r.isUsed(ctx); err != nil || !used {
			return nil, cmp.Or(err, driver.ErrReleaseNotFound)
		}
	}
	// This process has just started, the caches are stale, or another client wrote a revision.
	current, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	return summary(current[0]), nil
}

// Current returns the newest revision of a Darkroom's release and the deployed ones, newest first. It returns the same
// errors as Last. Each revision is read by name. Secrets are listed only if the caches cannot provide the names,
// because a consistent list takes 100 ms or more, depending on the number of Secrets in the namespace.
func (r *Revisions) Current(ctx context.Context) ([]*helmrelease.Release, error) {
	indexed, err := r.revisions(ctx)
	if err != nil {
		return nil, err
	}
	used, err := r.isUsed(ctx)
	if err != nil {
		return nil, err
	}
	isStale := len(indexed) > 0 && r.memory.last != nil && r.memory.last.Version > versionOf(&indexed[0])
	if !used && !isStale {
		if releases, err := r.read(ctx, indexed); err != nil || len(releases) > 0 {
			return releases, err
		}
	}
	listed, err := r.stored(ctx)
	if err != nil {
		return nil, err
	}
	releases, err := r.read(ctx, listed)
	if err == nil && len(releases) == 0 {
		*r.memory = Memory{}
		return nil, driver.ErrReleaseNotFound
	}
	return releases, err
}

// read returns the newest revision and the deployed ones, and remembers the newest. It returns none if a Secret no
// longer belongs to the Darkroom. A newest revision that cannot be decoded is deleted, because it contains no
// information and would block the number of the next revision. The result is limited, because users can create any
// number of deployed revisions.
func (r *Revisions) read(ctx context.Context, newestFirst []corev1.Secret) (releases []*helmrelease.Release, err error) {
	for i := range newestFirst {
		secret := &newestFirst[i]
		if len(releases) == listPage || len(releases) > 0 && !isDeployed(secret) {
			continue
		}
		if secret.Data == nil {
			secret, err = r.secrets.Secrets(secret.Namespace).Get(ctx, secret.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				continue
			case err != nil:
				return nil, fmt.Errorf("read revision of release %s: %w", r.key(), err)
			case !ownership.OwnsRevision(r.darkroom, secret):
				return nil, nil
			}
		}
		release, err := decode(secret)
		switch {
		case err == nil && len(releases) == 0:
			r.memory.remember(release, secret, r.clock.Now())
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
	return releases, nil
}

// IsDeployed reports whether the caches contain a deployed revision of a Darkroom's release.
func (r *Revisions) IsDeployed(ctx context.Context) (bool, error) {
	indexed, err := r.revisions(ctx)
	return slices.ContainsFunc(indexed, func(secret corev1.Secret) bool { return isDeployed(&secret) }), err
}

// isUsed reports whether the caches contain a foreign revision of a release with the Darkroom's name. If the caches
// lag, Create fails, because the first revision of the foreign release exists.
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

// stored lists the revisions of a Darkroom's release from the API server, newest first. It fails unless all of them
// belong to the Darkroom. The error is ErrPredecessor if the others belong to Darkrooms that are gone, because two
// Darkrooms of the same name cannot exist at the same time. Secrets beyond a total size of maxData are returned without
// data.
func (r *Revisions) stored(ctx context.Context) (own []corev1.Secret, err error) {
	size, predecessor := 0, false
	err = r.each(ctx, func(secret *corev1.Secret) error {
		switch {
		case ownership.OwnsRevision(r.darkroom, secret):
			release := secret.Data[dataRelease]
			if secret.Data = nil; size+len(release) <= maxData {
				secret.Data = map[string][]byte{dataRelease: release}
				size += len(release)
			}
			own = append(own, *secret)
		case metav1.GetControllerOfNoCopy(secret) == nil || ownership.UID(secret) == "":
			return fmt.Errorf("%w: rename the Darkroom, or uninstall the release %s with helm",
				ErrForeignRelease, r.darkroom.Name)
		default:
			predecessor = true
		}
		return nil
	})
	if err == nil && predecessor {
		err = fmt.Errorf("release %s: %w", r.key(), ErrPredecessor)
	}
	slices.SortFunc(own, newerFirst)
	return own, err
}

const (
	// listPage is the number of revisions per List request, and the maximum number that is decoded.
	listPage = 10
	// maxData limits the total size of revisions that are kept in memory, in bytes.
	maxData = 8 << 20
)

// each visits all revisions of a release's name, including foreign ones. It reads them page by page, because users can
// create any number of them.
func (r *Revisions) each(ctx context.Context, visit func(*corev1.Secret) error) error {
	options := metav1.ListOptions{
		LabelSelector: labelOwner + "=" + ownerHelm + "," + labelName + "=" + r.darkroom.Name,
		Limit:         listPage,
	}
	for {
		page, err := r.secrets.Secrets(r.darkroom.Namespace).List(ctx, options)
		if err != nil {
			return fmt.Errorf("list revisions of release %s: %w", r.key(), err)
		}
		for i := range page.Items {
			secret := &page.Items[i]
			secret.ManagedFields, secret.Annotations = nil, nil
			if err := visit(secret); err != nil {
				return err
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

func newerFirst(a, b corev1.Secret) int { return versionOf(&b) - versionOf(&a) }

// revisions returns the Darkroom's revisions from the cache, without data, newest first.
func (r *Revisions) revisions(ctx context.Context) (own []corev1.Secret, err error) {
	cached, err := r.cached(ctx, r.own, client.MatchingFields{ownership.Index: ownership.IndexKey(r.darkroom.UID)})
	for i := range cached {
		secret := &cached[i]
		if IsRevision(secret) && secret.Labels[labelName] == r.darkroom.Name && ownership.OwnsRevision(r.darkroom, secret) {
			own = append(own, corev1.Secret{ObjectMeta: secret.ObjectMeta})
		}
	}
	slices.SortFunc(own, newerFirst)
	return own, err
}

// cached lists the Secrets in a Darkroom's namespace that match a key of one of a cache's indexes.
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
