// Package credentials detects changes of the Secrets that Darkrooms reference, so that their pods are rolled.
//
// The pod template contains a version. It changes if and only if a Secret is replaced, or the data that the pods read
// from it changes. The version is a digest of that data, keyed with the UID of the Secret. So it needs no other state:
// a restarted operator reads the Secret once and computes the same version. The random UID protects weak passwords from
// users who may read pods but not Secrets, because they cannot test guesses.
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

// index indexes Darkrooms by the Secrets that they reference.
const index = "credentials"

// Versions computes the versions of the credentials of Darkrooms.
//
// For each Darkroom it remembers the version, and the resource versions of the Secrets from which the version was
// computed. Version fills this memory, and Forget drops it. Without the memory, each reconcile would read the Secrets.
type Versions struct {
	// Find returns the metadata of a Secret from the caches; nil if it is not cached. If Find is nil, no Secret is
	// cached.
	Find func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error)
	// Cached reads Darkrooms and their Deployments.
	Cached client.Reader
	// Uncached reads Secrets from the API server.
	Uncached client.Reader

	memory sync.Map // types.NamespacedName of a Darkroom → []origin
}

// origin is a Secret with the keys that a Darkroom uses, as it was last read.
type origin struct {
	values.Credentials
	// uid and resourceVersion identify the Secret; empty if it was missing.
	uid             types.UID
	resourceVersion string
	// digest is the Secret's part of the version.
	digest string
}

// Version returns the version of the credentials of a Darkroom; empty if it references no Secret. It sends requests
// only for Secrets that have changed since the last call. While a Secret is missing, its part of the version is kept,
// because new pods could not start.
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

// separator separates the digests of several Secrets in a version.
const separator = "."

// find returns the origin for a Secret of a Darkroom. The digest is empty if the Secret is missing and no earlier
// digest is remembered.
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
	// The Secret may have been created together with the Darkroom, so it is read even if it is not cached.
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

// deployed returns the version in the pod template of a Darkroom.
func (v *Versions) deployed(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	deployment := &appsv1.Deployment{}
	err := v.Cached.Get(ctx, client.ObjectKeyFromObject(darkroom), deployment, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && !metav1.IsControlledBy(deployment, darkroom) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("get the Deployment of Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	return deployment.Spec.Template.Annotations[values.AnnotationCredentials], nil
}

// Index adds the index that Referrers uses.
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
		return fmt.Errorf("index referenced Secrets: %w", err)
	}
	return nil
}

// Referrers returns the Darkrooms that reference a Secret for credentials or for the certificate of their Ingress.
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
