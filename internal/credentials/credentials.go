// Package credentials detects changes of the Secrets that Darkrooms reference, so that their
// pods are rolled.
//
// The pods carry a version, which changes exactly if the Secret is replaced or the data that
// they read of it changes. It is a digest of that data, keyed with the UID of the Secret. It
// therefore needs no state in the cluster: a restarted operator reads the Secret once and finds
// the same version. The key protects weak passwords from users who may read pods, but not
// Secrets: they cannot test a guess without the UID of the Secret, which is random.
package credentials

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// index is the index of Darkrooms by the Secret that they reference.
const index = "credentials"

// Versions finds the versions of the credentials of Darkrooms.
//
// For each Darkroom that references Secrets it remembers the version, and the resourceVersions of the
// Secrets from which it was computed. Version fills this memory, and Forget drops it. Without it, each
// reconcile would read the Secrets.
type Versions struct {
	// Find returns the metadata of a Secret from the caches; nil if they do not have it. Without Find, no cache has any.
	Find func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error)
	// Cached reads Darkrooms and their Deployments.
	Cached client.Reader
	// Uncached reads Secrets past the caches.
	Uncached client.Reader

	memory sync.Map // of []origin, by Darkroom
}

// origin is a Secret and the keys of it that a Darkroom uses, and what was found of it.
type origin struct {
	values.Credentials
	// uid and resourceVersion identify the Secret; empty if it was missing.
	uid             types.UID
	resourceVersion string
	// digest is a part of the version.
	digest string
}

// Version returns the version of the credentials of a Darkroom; empty if it references no
// Secret. It sends requests only for Secrets that have changed since the last call. While a
// Secret is missing, its part of the version stays as it is, because new pods could not start.
func (v *Versions) Version(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	used := values.CredentialsOf(&darkroom.Spec)
	if len(used) == 0 {
		v.Forget(client.ObjectKeyFromObject(darkroom))
		return "", nil
	}
	remembered, _ := v.memory.Load(client.ObjectKeyFromObject(darkroom))
	last, _ := remembered.([]origin)
	now, digests := make([]origin, len(used)), make([]string, len(used))
	for i, credentials := range used {
		of, err := v.find(ctx, darkroom, credentials, last)
		if err != nil {
			return "", err
		}
		if of.digest == "" {
			deployed, err := v.deployed(ctx, darkroom)
			if err != nil {
				return "", err
			}
			if parts := strings.Split(deployed, separator); len(parts) == len(used) {
				of.digest = parts[i]
			}
		}
		now[i], digests[i] = of, of.digest
	}
	v.memory.Store(client.ObjectKeyFromObject(darkroom), now)
	return strings.Join(digests, separator), nil
}

// separator is between the digests of several Secrets in a version.
const separator = "."

// find returns what a Darkroom uses of a Secret, without a digest if the Secret is missing and none is remembered.
func (v *Versions) find(
	ctx context.Context, darkroom *v1alpha1.Darkroom, credentials values.Credentials, last []origin,
) (origin, error) {
	key := types.NamespacedName{Namespace: darkroom.Namespace, Name: credentials.Name}
	var cached *metav1.PartialObjectMetadata
	var err error
	if v.Find != nil {
		if cached, err = v.Find(ctx, key); err != nil {
			return origin{}, err
		}
	}
	now := origin{Credentials: credentials}
	at := slices.IndexFunc(last,
		func(o origin) bool { return o.Name == credentials.Name && slices.Equal(o.Keys, credentials.Keys) })
	if at >= 0 {
		was := last[at]
		if cached == nil || cached.UID == was.uid && cached.ResourceVersion == was.resourceVersion {
			return was, nil
		}
		now.digest = was.digest
	}
	// The Secret is read even if it is not in the caches, because it may have been created together
	// with the Darkroom.
	secret := &corev1.Secret{}
	err = v.Uncached.Get(ctx, key, secret)
	if client.IgnoreNotFound(err) != nil {
		return origin{}, fmt.Errorf("read Secret %s: %w", key, err)
	}
	if now.uid, now.resourceVersion = secret.UID, secret.ResourceVersion; err == nil {
		now.digest = digest(secret, credentials.Keys)
	}
	return now, nil
}

// digest hashes some keys of a Secret, keyed with its UID, so that only readers of the Secret can
// verify it. A missing key differs from an empty one.
func digest(secret *corev1.Secret, keys []string) string {
	hash := hmac.New(sha256.New, []byte(secret.UID))
	for _, key := range keys {
		value, found := secret.Data[key]
		fmt.Fprintf(hash, "%q %t %d %s\n", key, found, len(value), value)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// deployed returns the version that the pods of a Darkroom have.
func (v *Versions) deployed(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	deployment := &appsv1.Deployment{}
	err := v.Cached.Get(ctx, client.ObjectKeyFromObject(darkroom), deployment, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && !metav1.IsControlledBy(deployment, darkroom) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the pods of Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	return deployment.Spec.Template.Annotations[values.AnnotationCredentials], nil
}

// Index adds the index that Referrers reads.
func Index(ctx context.Context, in client.FieldIndexer) error {
	err := in.IndexField(ctx, &v1alpha1.Darkroom{}, index, func(object client.Object) (names []string) {
		if darkroom, ok := object.(*v1alpha1.Darkroom); ok {
			for _, credentials := range values.CredentialsOf(&darkroom.Spec) {
				names = append(names, credentials.Name)
			}
			if ingress := darkroom.Spec.Ingress; ingress != nil && ingress.TLSSecretName != "" {
				names = append(names, ingress.TLSSecretName)
			}
		}
		return names
	})
	if err != nil {
		return fmt.Errorf("index Secrets that are referenced: %w", err)
	}
	return nil
}

// Referrers returns the Darkrooms that reference a Secret, for credentials or as the certificate of their Ingress.
func (v *Versions) Referrers(ctx context.Context, secret types.NamespacedName) ([]types.NamespacedName, error) {
	list := &v1alpha1.DarkroomList{}
	err := v.Cached.List(ctx, list, client.InNamespace(secret.Namespace), client.MatchingFields{index: secret.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list Darkrooms that reference Secret %s: %w", secret, err)
	}
	keys := make([]types.NamespacedName, len(list.Items))
	for i := range list.Items {
		keys[i] = client.ObjectKeyFromObject(&list.Items[i])
	}
	return keys, nil
}

// Forget drops the memory of a Darkroom that is gone.
func (v *Versions) Forget(darkroom types.NamespacedName) { v.memory.Delete(darkroom) }
