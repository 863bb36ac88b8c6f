package storage

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/revision"
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
	// dataSummary is the summary of the release, as JSON. A restarted operator reads it in
	// place of the release, which takes twenty times the memory to decode.
	dataSummary = "summary"
)

// errUnknownRevision is returned for the update of a revision that the Darkroom is not
// known to own.
var errUnknownRevision = errors.New("this Darkroom has no revision of that name")

// revisionType is Helm's type of the Secrets of revisions.
const revisionType = "helm.sh/release.v1"

// secretOf returns the Secret of a revision as Helm's driver writes it, with what makes it a
// Darkroom's. The driver itself is not used, because it allocates a compressor of 800 KB for
// each revision.
func secretOf(darkroom client.Object, release *helmrelease.Release) (*corev1.Secret, error) {
	encoded, err := encode(release)
	if err != nil {
		return nil, err
	}
	summary, err := json.Marshal(revision.Summary(release))
	if err != nil {
		return nil, fmt.Errorf("encode release: %w", err)
	}
	labels := maps.Clone(release.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelName], labels[labelOwner] = release.Name, ownerHelm
	labels[labelStatus], labels[labelVersion] = release.Info.Status.String(), strconv.Itoa(release.Version)
	labels[v1alpha1.LabelDarkroom], labels[v1alpha1.LabelDarkroomUID] = darkroom.GetName(), string(darkroom.GetUID())
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       darkroom.GetNamespace(),
			Name:            secretName(release),
			Labels:          labels,
			Annotations:     map[string]string{annotationOperator: "true"},
			OwnerReferences: []metav1.OwnerReference{ownership.Reference(darkroom)},
		},
		Type: revisionType,
		Data: map[string][]byte{dataRelease: encoded, dataSummary: summary},
	}, nil
}

// compressors are reused, because each is large.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// encode encodes a release as Helm's driver decodes it: JSON, compressed, as Base64.
func encode(release *helmrelease.Release) ([]byte, error) {
	raw, err := json.Marshal(release)
	if err != nil {
		return nil, fmt.Errorf("encode release: %w", err)
	}
	compressor := compressors.Get().(*gzip.Writer) //nolint:forcetypeassert // nothing else is stored
	defer compressors.Put(compressor)
	var out bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &out)
	compressor.Reset(text)
	// Writes to memory do not fail.
	_, _ = compressor.Write(raw)
	_ = compressor.Close()
	_ = text.Close()
	return out.Bytes(), nil
}

// patchOf returns the merge patch that overwrites a revision, with a record beside it, or
// none. It leaves the spec that the revision was made from. It fails if another Secret than
// that with the UID has the name.
func patchOf(secret *corev1.Secret, uid types.UID, record []byte) ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{
			"uid": uid, "labels": secret.Labels, "annotations": secret.Annotations, "ownerReferences": secret.OwnerReferences,
		},
		// A nil record is removed.
		"data": map[string]any{dataRelease: secret.Data[dataRelease], dataSummary: secret.Data[dataSummary], dataRecord: record},
	})
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
