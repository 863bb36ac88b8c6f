package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// A digest of credentials must not be public: users who can read a pod or a Deployment
// could guess a short password and verify each guess. A salt does not prevent that, and a
// slow hash only delays it. Therefore the pods have only the version of the Secret at which
// its data last changed, which discloses nothing. The digest that detects a change is
// stored in a Secret of the Darkroom. It survives restarts and is available to every
// operator, unlike a key of the operator's own.

// suffixState is appended to a Darkroom's name to name the Secret with its state.
const suffixState = "-credentials-state"

// labelComponent distinguishes that Secret from the objects of the chart.
const (
	labelComponent = "app.kubernetes.io/component"
	componentState = "operator-state"
)

// typeState is the type of that Secret.
const typeState corev1.SecretType = "deployments.example.com/credentials-state"

// dataDigest is the key of the digest in that Secret. The rest of the state is not
// confidential and is kept in annotations, which the metadata cache has.
const (
	dataDigest          = "digest"
	annotationVersion   = "deployments.example.com/credentials-version"
	annotationReference = "deployments.example.com/credentials-reference"
)

// credentialsState is the state of the credentials that a Darkroom's pods use.
type credentialsState struct {
	// reference names the Secret and the used keys.
	reference string
	// version is the version of the Secret at which the used data last changed. It is an
	// annotation of the pods.
	version string
	// digest is that of the used data; empty if this process has not read it.
	digest string
}

// referenceOf names the Secret that a Darkroom references, and the keys that it uses.
func referenceOf(source *v1alpha1.Source) string {
	return values.CredentialsSecret(source) + ": " + strings.Join(values.CredentialsKeys(source), ", ")
}

// versionOf identifies a version of a Secret without disclosing its content.
func versionOf(secret metav1.Object) string {
	sum := sha256.Sum256([]byte(string(secret.GetUID()) + "/" + secret.GetResourceVersion()))
	return hex.EncodeToString(sum[:8])
}

// contents are digests of a Secret's data at some version.
type contents struct {
	version string
	sums    map[string][sha256.Size]byte
}

func contentsOf(secret *corev1.Secret) contents {
	c := contents{version: versionOf(secret), sums: make(map[string][sha256.Size]byte, len(secret.Data))}
	for key, value := range secret.Data {
		c.sums[key] = sha256.Sum256(value)
	}
	return c
}

// digest is that of some keys. A missing key differs from an empty one.
func (c contents) digest(keys []string) string {
	hash := sha256.New()
	for _, key := range keys {
		sum, found := c.sums[key]
		fmt.Fprintf(hash, "%q %t %x\n", key, found, sum)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func stateKey(darkroom client.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: darkroom.GetNamespace(), Name: darkroom.GetName() + suffixState}
}

// isState reports whether an object is the Secret with a Darkroom's state.
func isState(darkroom client.Object, kind schema.GroupVersionKind, object metav1.Object) bool {
	return kind.Kind == "Secret" && object.GetName() == stateKey(darkroom).Name
}

// storedMetadata returns the metadata of the Secret with a Darkroom's state, as the
// cache has it, or nil if there is none.
func (c *credentials) storedMetadata(ctx context.Context, darkroom *v1alpha1.Darkroom) (*metav1.PartialObjectMetadata, error) {
	secret := secretMetadata()
	err := c.caches.Get(ctx, stateKey(darkroom), secret, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && !ownership.Owns(darkroom, secret) {
		return nil, nil //nolint:nilnil // nothing is stored, which is no error
	}
	if err != nil {
		return nil, fmt.Errorf("look for Secret %s: %w", stateKey(darkroom), err)
	}
	return secret, nil
}

// stored returns the stored state of a Darkroom; the zero state if there is none.
func (c *credentials) stored(ctx context.Context, darkroom *v1alpha1.Darkroom) (credentialsState, error) {
	metadata, err := c.storedMetadata(ctx, darkroom)
	if err != nil || metadata == nil {
		return credentialsState{}, err
	}
	secret := &corev1.Secret{}
	if err := c.live.Get(ctx, stateKey(darkroom), secret); err != nil {
		if apierrors.IsNotFound(err) {
			return credentialsState{}, nil
		}
		return credentialsState{}, fmt.Errorf("read Secret %s: %w", stateKey(darkroom), err)
	}
	return credentialsState{
		reference: secret.Annotations[annotationReference],
		version:   secret.Annotations[annotationVersion],
		digest:    string(secret.Data[dataDigest]),
	}, nil
}

// store stores the state of a Darkroom.
func (c *credentials) store(ctx context.Context, darkroom *v1alpha1.Darkroom, state credentialsState) error {
	key := stateKey(darkroom)
	secret := &corev1.Secret{Type: typeState, ObjectMeta: metav1.ObjectMeta{
		Namespace:       key.Namespace,
		Name:            key.Name,
		OwnerReferences: []metav1.OwnerReference{ownership.Reference(darkroom)},
	}}
	fill := func() {
		secret.Labels = map[string]string{v1alpha1.LabelDarkroom: darkroom.Name, labelComponent: componentState}
		secret.Annotations = map[string]string{annotationReference: state.reference, annotationVersion: state.version}
		secret.Data = map[string][]byte{dataDigest: []byte(state.digest)}
	}
	fill()
	err := c.client.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		if err = c.live.Get(ctx, key, secret); err == nil {
			if !metav1.IsControlledBy(secret, darkroom) {
				return fmt.Errorf("Secret %s exists and does not belong to this Darkroom: delete it, or rename the Darkroom", key)
			}
			fill()
			err = c.client.Update(ctx, secret)
		}
	}
	if err != nil {
		return fmt.Errorf("store state of credentials in Secret %s: %w", key, err)
	}
	return nil
}

// discard deletes the stored state of a Darkroom that references no Secret, or that is
// being deleted.
func (c *credentials) discard(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	c.forget(keyOf(darkroom))
	secret, err := c.storedMetadata(ctx, darkroom)
	if err != nil || secret == nil {
		return err
	}
	err = c.client.Delete(ctx, secret.DeepCopy(), client.Preconditions{UID: &secret.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s: %w", stateKey(darkroom), err)
	}
	return nil
}

// remember keeps the state of a Darkroom in memory, and at which version of the Secret
// it was found.
func (c *credentials) remember(darkroom *v1alpha1.Darkroom, secret types.NamespacedName, seen string, state credentialsState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states[keyOf(darkroom)] = remembered{owner: darkroom.UID, secret: secret, seen: seen, credentialsState: state}
}

// recall returns the state of a Darkroom in memory; the zero value if there is none.
func (c *credentials) recall(darkroom *v1alpha1.Darkroom) remembered {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.states[keyOf(darkroom)]; known.owner == darkroom.UID {
		return known
	}
	return remembered{}
}

// forget drops the state of a Darkroom that is gone or references no Secret.
func (c *credentials) forget(darkroom types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Another Darkroom that references the Secret reads it once more when it changes.
	delete(c.contents, c.states[darkroom].secret)
	delete(c.states, darkroom)
}
