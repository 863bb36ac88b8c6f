package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// annotationOperator marks the Secrets of revisions that the operator wrote. Helm clients
// replace a Secret's annotations when they write it, so their writes can be recognized.
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

// secretOf returns the Secret of a revision as Helm's driver writes it, with what makes it a
// Darkroom's.
func (r *Revisions) secretOf(release *helmrelease.Release) (*corev1.Secret, error) {
	written := &oneSecret{}
	if err := driver.NewSecrets(written).Create(secretName(release), release); err != nil {
		return nil, fmt.Errorf("encode release: %w", err)
	}
	secret := written.secret
	secret.Namespace = r.darkroom.GetNamespace()
	secret.Labels[v1alpha1.LabelDarkroom], secret.Labels[v1alpha1.LabelDarkroomUID] = r.darkroom.GetName(), string(r.darkroom.GetUID())
	secret.Annotations = map[string]string{annotationOperator: "true"}
	secret.OwnerReferences = []metav1.OwnerReference{ownership.Reference(r.darkroom)}
	return secret, nil
}

// patchOf returns the merge patch that overwrites a revision, with a record beside it, or
// none. It leaves the spec that the revision was made from, and its author. It fails if another Secret than
// that with the UID has the name.
func patchOf(secret *corev1.Secret, uid types.UID, record []byte) ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{
			"uid": uid, "labels": secret.Labels, "annotations": secret.Annotations, "ownerReferences": secret.OwnerReferences,
		},
		// A nil record is removed.
		"data": map[string]any{dataRelease: secret.Data[dataRelease], dataRecord: record},
	})
}

// spec returns the spec of the Darkroom as JSON.
func (r *Revisions) spec() ([]byte, error) {
	raw, err := json.Marshal(r.darkroom)
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

// oneSecret is all that Helm's driver sees of a cluster when it encodes or decodes a release.
type oneSecret struct {
	corev1client.SecretInterface
	secret *corev1.Secret
}

// Create implements corev1client.SecretInterface.
func (c *oneSecret) Create(_ context.Context, secret *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	c.secret = secret
	return secret, nil
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
