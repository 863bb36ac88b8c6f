package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// annotationOperator marks the Secrets of revisions that the operator wrote. Helm clients
// replace a Secret's annotations when they write it, so their writes can be recognised.
// Without the mark the operator's own writes would trigger reconciles, and a failing
// upgrade would be retried at once, without end.
const annotationOperator = "deployments.example.com/written-by-operator"

// Keys of a revision's Secret. The first is Helm's.
const (
	dataRelease = "release"
	// dataRecord is the operator's record of what was applied.
	dataRecord = "applied"
)

// errUnknownRevision is returned for the update of a revision that the Darkroom is not
// known to own.
var errUnknownRevision = errors.New("this Darkroom has no revision of that name")

// secretClient adds to the Secrets that Helm's driver writes what makes them a Darkroom's.
// It also passes the context of the reconcile, where the driver passes
// context.Background().
type secretClient struct {
	corev1client.SecretInterface
	ctx      context.Context
	darkroom client.Object
	// record is written beside the release, unless it is nil.
	record []byte

	// uids are those of the revisions that belong to the Darkroom, by the names of their
	// Secrets. An update carries it, so that it fails if another Secret has taken the name.
	uids map[string]types.UID

	// uid and resourceVersion are those of the Secret written last.
	uid             types.UID
	resourceVersion string
}

// secretClient returns the client that Helm's driver writes with. Releases are encoded by
// the driver.
func (s *Store) secretClient(ctx context.Context, darkroom client.Object) *secretClient {
	return &secretClient{SecretInterface: s.secrets.Secrets(darkroom.GetNamespace()), ctx: ctx, darkroom: darkroom}
}

// Create implements corev1client.SecretInterface. It stores the Darkroom's spec with the
// revision.
func (c *secretClient) Create(_ context.Context, secret *corev1.Secret, opts metav1.CreateOptions) (*corev1.Secret, error) {
	spec, err := specOf(c.darkroom)
	if err != nil {
		return nil, err
	}
	c.own(secret)
	secret.Data[v1alpha1.RevisionSpec] = spec
	return c.written(c.SecretInterface.Create(c.ctx, secret, opts)) //nolint:contextcheck // the reconcile's, see above
}

// Update implements corev1client.SecretInterface. It is a patch, which leaves the spec that
// the revision was made from.
func (c *secretClient) Update(_ context.Context, secret *corev1.Secret, _ metav1.UpdateOptions) (*corev1.Secret, error) {
	c.own(secret)
	uid, known := c.uids[secret.Name]
	if !known {
		return nil, fmt.Errorf("update Secret %s: %w", secret.Name, errUnknownRevision)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"uid": uid, "labels": secret.Labels, "annotations": secret.Annotations, "ownerReferences": secret.OwnerReferences,
		},
		// A nil record is removed.
		"data": map[string]any{dataRelease: secret.Data[dataRelease], dataRecord: c.record},
	})
	if err != nil {
		return nil, fmt.Errorf("encode Secret %s: %w", secret.Name, err)
	}
	return c.written(c.SecretInterface.Patch(c.ctx, secret.Name, types.MergePatchType, patch, metav1.PatchOptions{})) //nolint:contextcheck // the reconcile's, see above
}

// specOf returns the spec of a Darkroom as JSON.
func specOf(darkroom client.Object) ([]byte, error) {
	raw, err := json.Marshal(darkroom)
	if err != nil {
		return nil, fmt.Errorf("encode Darkroom: %w", err)
	}
	var object struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("encode Darkroom: %w", err)
	}
	return object.Spec, nil
}

func (c *secretClient) written(secret *corev1.Secret, err error) (*corev1.Secret, error) {
	if err == nil {
		c.uid, c.resourceVersion = secret.UID, secret.ResourceVersion
	}
	return secret, err
}

func (c *secretClient) own(secret *corev1.Secret) {
	labels := maps.Clone(secret.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.LabelDarkroom] = c.darkroom.GetName()
	labels[v1alpha1.LabelDarkroomUID] = string(c.darkroom.GetUID())
	secret.Labels = labels
	secret.OwnerReferences = []metav1.OwnerReference{ownership.Reference(c.darkroom)}
	secret.Annotations = map[string]string{annotationOperator: "true"}
}

// oneSecret shows Helm's driver a Secret that was read already.
type oneSecret struct {
	corev1client.SecretInterface
	secret *corev1.Secret
}

// List implements corev1client.SecretInterface.
func (c *oneSecret) List(context.Context, metav1.ListOptions) (*corev1.SecretList, error) {
	return &corev1.SecretList{Items: []corev1.Secret{*c.secret}}, nil
}

// IsRevision reports whether an object is a Secret of Helm.
func IsRevision(object metav1.Object) bool {
	return object.GetLabels()[labelOwner] == ownerHelm
}

// ReleaseLabels returns the labels of a Secret that identify the release of its revision;
// nil if it is not a revision of Helm.
func ReleaseLabels(object metav1.Object) map[string]string {
	if !IsRevision(object) {
		return nil
	}
	return map[string]string{labelOwner: ownerHelm, labelName: object.GetLabels()[labelName]}
}

// WrittenByHand reports whether an object is the Secret of a revision that another Helm
// client wrote.
func WrittenByHand(object metav1.Object) bool {
	return IsRevision(object) && object.GetAnnotations()[annotationOperator] == ""
}

// IsHistory reports whether an object is the Secret of an old or failed revision, which
// the operator deletes by itself.
func IsHistory(object metav1.Object) bool {
	status := helmrelease.Status(object.GetLabels()[labelStatus])
	return IsRevision(object) && (status == helmrelease.StatusSuperseded || status == helmrelease.StatusFailed)
}
