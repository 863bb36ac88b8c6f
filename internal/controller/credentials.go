package controller

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// indexCredentials indexes Darkrooms by the Secret that they reference.
const indexCredentials = "credentials"

// credentials follows the Secrets that Darkrooms reference. It watches only their metadata.
// When the version of a Secret changes, it reads that Secret to find out whether the used
// data has changed, and keeps only digests of it. A missing key is reported by the pods.
type credentials struct {
	// caches hold the Darkrooms, and the metadata of Secrets that belong to Darkrooms.
	caches client.Reader
	// others holds the names and versions of all other Secrets.
	others cache.Cache
	// live reads past the caches.
	live client.Reader
	// client writes the states of Darkrooms.
	client client.Writer

	mu sync.Mutex
	// states holds the state of each Darkroom, contents the digests of each Secret.
	states   map[types.NamespacedName]remembered
	contents map[types.NamespacedName]contents
}

// remembered is a state with its origin.
type remembered struct {
	credentialsState

	// owner is the UID of the Darkroom.
	owner types.UID
	// secret is the Secret that it references.
	secret types.NamespacedName
	// seen is the version of the Secret that the state was last compared with.
	seen string
}

func newCredentials(ctx context.Context, mgr manager.Manager, others cache.Cache) (*credentials, error) {
	err := indexOfNamespaces(mgr.GetCache()).IndexField(ctx, &v1alpha1.Darkroom{}, indexCredentials, func(object client.Object) []string {
		if darkroom, ok := object.(*v1alpha1.Darkroom); ok {
			if name := values.CredentialsSecret(&darkroom.Spec.Source); name != "" {
				return []string{name}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("index Secrets that are referenced: %w", err)
	}
	return &credentials{
		caches: mgr.GetClient(), others: others, live: mgr.GetAPIReader(), client: mgr.GetClient(),
		states: map[types.NamespacedName]remembered{}, contents: map[types.NamespacedName]contents{},
	}, nil
}

// find returns the metadata of a Secret from the caches, or nil if it is missing.
func (c *credentials) find(ctx context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	for _, reader := range []client.Reader{c.others, c.caches} {
		secret := secretMetadata()
		err := reader.Get(ctx, key, secret, client.UnsafeDisableDeepCopy)
		if err == nil {
			return secret, nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("look for Secret %s: %w", key, err)
		}
	}
	return nil, nil //nolint:nilnil // the Secret is missing, which is no error
}

// exists reports whether the caches have the Secret that a Darkroom references.
func (c *credentials) exists(ctx context.Context, key types.NamespacedName) (bool, error) {
	secret, err := c.find(ctx, key)
	return secret != nil, err
}

// version returns the version of the referenced Secret at which the used data last changed.
// A new version rolls the pods; changes of the Secret's metadata or of other keys do not.
// While the Secret is missing, the version stays as it is, because new pods could not
// start.
func (c *credentials) version(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	source := &darkroom.Spec.Source
	name := values.CredentialsSecret(source)
	if name == "" {
		return "", c.discard(ctx, darkroom)
	}
	key := types.NamespacedName{Namespace: darkroom.Namespace, Name: name}
	metadata, err := c.find(ctx, key)
	if err != nil {
		return "", err
	}
	known := c.recall(darkroom)
	if metadata != nil {
		current, err := c.unchanged(ctx, darkroom, metadata, known)
		if err != nil || current != "" {
			return current, err
		}
	}
	now, err := c.read(ctx, key, metadata)
	if apierrors.IsNotFound(err) {
		return c.deployedVersion(ctx, darkroom)
	}
	if err != nil {
		return "", fmt.Errorf("read Secret %s: %w", key, err)
	}
	before := known.credentialsState
	if before.digest == "" {
		if before, err = c.stored(ctx, darkroom); err != nil {
			return "", err
		}
	}
	state := credentialsState{reference: referenceOf(source), version: now.version, digest: now.digest(values.CredentialsKeys(source))}
	if before.reference == state.reference && before.digest == state.digest {
		state.version = before.version
	}
	stored, err := c.storedMetadata(ctx, darkroom)
	if err != nil {
		return "", err
	}
	if stored != nil && before == state {
		c.remember(darkroom, key, now.version, state)
		return state.version, nil
	}
	if err := c.store(ctx, darkroom, state); err != nil {
		// Stored before the pods are rolled, so that the next operator continues if this
		// one dies in between.
		return "", err
	}
	c.remember(darkroom, key, now.version, state)
	return state.version, nil
}

// unchanged returns the version without a request if this process has seen it or if it is
// the stored one; empty otherwise.
func (c *credentials) unchanged(ctx context.Context, darkroom *v1alpha1.Darkroom, secret *metav1.PartialObjectMetadata, known remembered) (string, error) {
	seen, reference := versionOf(secret), referenceOf(&darkroom.Spec.Source)
	if known.seen == seen && known.reference == reference {
		return known.version, nil
	}
	if known.seen != "" {
		return "", nil
	}
	stored, err := c.storedMetadata(ctx, darkroom)
	if err != nil || stored == nil || stored.Annotations[annotationReference] != reference || stored.Annotations[annotationVersion] != seen {
		return "", err
	}
	c.remember(darkroom, keyOf(secret), seen, credentialsState{reference: reference, version: seen})
	return seen, nil
}

// read returns the contents of a Secret. Darkrooms that share a Secret share the read. The
// metadata is that of the caches; nil if they do not have the Secret, which may just have
// been created.
func (c *credentials) read(ctx context.Context, key types.NamespacedName, metadata *metav1.PartialObjectMetadata) (contents, error) {
	c.mu.Lock()
	have, found := c.contents[key]
	c.mu.Unlock()
	if found && metadata != nil && have.version == versionOf(metadata) {
		return have, nil
	}
	secret := &corev1.Secret{}
	err := c.live.Get(ctx, key, secret)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		delete(c.contents, key)
		return contents{}, err
	}
	now := contentsOf(secret)
	c.contents[key] = now
	return now, nil
}

func (c *credentials) deployedVersion(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	deployment := &appsv1.Deployment{}
	err := c.caches.Get(ctx, keyOf(darkroom), deployment, client.UnsafeDisableDeepCopy)
	return values.CredentialsVersion(deployment.Spec.Template.Annotations), client.IgnoreNotFound(err)
}

// watch enqueues a Darkroom when its referenced Secret is created, changed or deleted.
// Other Secrets cost one lookup in an index.
func (c *credentials) watch(controller *ctrl.Builder, caches cache.Cache) {
	for _, cached := range []cache.Cache{c.others, caches} {
		controller.WatchesRawSource(source.Kind(cached, secretMetadata(),
			handler.TypedEnqueueRequestsFromMapFunc(c.referrers),
			predicate.TypedResourceVersionChangedPredicate[*metav1.PartialObjectMetadata]{}))
	}
}

// referrers returns the Darkrooms that reference a Secret.
func (c *credentials) referrers(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
	list := &v1alpha1.DarkroomList{}
	err := c.caches.List(ctx, list, client.InNamespace(secret.Namespace),
		client.MatchingFields{indexCredentials: secret.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Darkrooms that reference a Secret not listed", "namespace", secret.Namespace, "secret", secret.Name)
	}
	keys := make([]types.NamespacedName, len(list.Items))
	for i := range list.Items {
		keys[i] = keyOf(&list.Items[i])
	}
	return requestsFor(keys)
}

func keyOf(object client.Object) types.NamespacedName { return client.ObjectKeyFromObject(object) }
