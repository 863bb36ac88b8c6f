package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
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

// indexCredentials is the index of Darkrooms by the Secret that they reference.
const indexCredentials = "credentials"

// typeRelease is Helm's type of Secret; nobody references those, and they are many.
const typeRelease = "helm.sh/release.v1"

// credentials follows the Secrets that Darkrooms reference. It never reads their
// data: that one changed shows in its metadata, and whether it has a key shows in
// the pods.
type credentials struct {
	// caches has the Darkrooms, and the metadata of Secrets that belong to Darkrooms.
	caches client.Reader
	// others has the names and versions of all other Secrets.
	others cache.Cache
	// live reads past the caches.
	live client.Reader
}

func newCredentials(ctx context.Context, mgr manager.Manager, namespaces []string) (*credentials, error) {
	foreign, err := labels.NewRequirement(v1alpha1.LabelDarkroom, selection.DoesNotExist, nil)
	if err != nil {
		return nil, err
	}
	others, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:        mgr.GetHTTPClient(),
		Scheme:            mgr.GetScheme(),
		Mapper:            mgr.GetRESTMapper(),
		DefaultNamespaces: namespaceConfigs(namespaces),
		ByObject: map[client.Object]cache.ByObject{secretMetadata(): {
			Label:     labels.NewSelector().Add(*foreign),
			Field:     fields.OneTermNotEqualSelector("type", typeRelease),
			Transform: nameAndVersion,
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("make cache of Secrets: %w", err)
	}
	if err := mgr.Add(cacheRunnable{others}); err != nil {
		return nil, fmt.Errorf("add cache of Secrets: %w", err)
	}
	err = mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.Darkroom{}, indexCredentials, func(object client.Object) []string {
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
	return &credentials{caches: mgr.GetClient(), others: others, live: mgr.GetAPIReader()}, nil
}

// cacheRunnable has a manager start a cache together with its own.
type cacheRunnable struct{ cache.Cache }

// GetCache is by what a manager knows a cache.
func (c cacheRunnable) GetCache() cache.Cache { return c.Cache }

func secretMetadata() *metav1.PartialObjectMetadata {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return secret
}

// nameAndVersion drops all of a Secret's metadata that nothing here reads: clusters
// have many Secrets, and tools write long annotations.
func nameAndVersion(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	narrow := secretMetadata()
	narrow.Namespace, narrow.Name, narrow.UID, narrow.ResourceVersion = full.Namespace, full.Name, full.UID, full.ResourceVersion
	return narrow, nil
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

// exists tells whether the caches have the Secret that a Darkroom references.
func (c *credentials) exists(ctx context.Context, key types.NamespacedName) (bool, error) {
	secret, err := c.find(ctx, key)
	return secret != nil, err
}

// version tells one state of the Secret that a Darkroom references from another.
// While the Secret is missing it is what the pods were made with: pods that run are
// not replaced by ones that could not start.
func (c *credentials) version(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	name := values.CredentialsSecret(&darkroom.Spec.Source)
	if name == "" {
		return "", nil
	}
	key := types.NamespacedName{Namespace: darkroom.Namespace, Name: name}
	secret, err := c.find(ctx, key)
	if err == nil && secret == nil {
		// It may have been made a moment ago, together with the Darkroom.
		secret = secretMetadata()
		if err = c.live.Get(ctx, key, secret); apierrors.IsNotFound(err) {
			return c.deployedVersion(ctx, darkroom)
		}
	}
	if err != nil {
		return "", fmt.Errorf("look for Secret %s: %w", key, err)
	}
	sum := sha256.Sum256([]byte(string(secret.UID) + "/" + secret.ResourceVersion))
	return hex.EncodeToString(sum[:8]), nil
}

func (c *credentials) deployedVersion(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	deployment := &appsv1.Deployment{}
	err := c.caches.Get(ctx, keyOf(darkroom), deployment, client.UnsafeDisableDeepCopy)
	return values.CredentialsVersion(deployment.Spec.Template.Annotations), client.IgnoreNotFound(err)
}

// watch has a Darkroom looked at when the Secret that it references comes, changes
// or goes. Other Secrets are looked up in an index, and cause nothing.
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
		ctrl.LoggerFrom(ctx).Error(err, "Darkrooms that reference a Secret were not found", "namespace", secret.Namespace, "secret", secret.Name)
	}
	keys := make([]types.NamespacedName, len(list.Items))
	for i := range list.Items {
		keys[i] = keyOf(&list.Items[i])
	}
	return requestsFor(keys)
}

func keyOf(object client.Object) types.NamespacedName { return client.ObjectKeyFromObject(object) }
