package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	helmrelease "helm.sh/helm/v3/pkg/release"
	helmstorage "helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// Labels of Helm's release Secrets.
const (
	labelOwner   = "owner"
	labelName    = "name"
	labelVersion = "version"
	labelStatus  = "status"
	ownerHelm    = "helm"
)

// annotationOperator marks Secrets of revisions that the operator wrote. Helm clients replace the annotations of a
// Secret when they write it, so their writes can be recognized. Without the mark, the operator's own writes would
// trigger reconciles, and a failing upgrade would be retried in a tight loop.
const annotationOperator = "deployments.example.com/written-by-operator"

// dataRelease is the key of the release in a revision's Secret, as defined by Helm.
const dataRelease = "release"

// Index is the name of the index of Helm's Secrets by their release.
const Index = "helm-release"

// IndexFunc is the index function of Index.
func IndexFunc(object client.Object) []string {
	if !IsRevision(object) {
		return nil
	}
	return []string{object.GetLabels()[labelName]}
}

// IsRevision reports whether an object is a Secret of Helm.
func IsRevision(object metav1.Object) bool {
	return object.GetLabels()[labelOwner] == ownerHelm
}

// ReleaseLabels returns the labels of a Secret that identify its release; nil if the Secret is not a revision of Helm.
func ReleaseLabels(object metav1.Object) map[string]string {
	if !IsRevision(object) {
		return nil
	}
	return map[string]string{labelOwner: ownerHelm, labelName: object.GetLabels()[labelName]}
}

// WrittenByHand reports whether an object is the Secret of a revision that another Helm client wrote.
func WrittenByHand(object metav1.Object) bool {
	return IsRevision(object) && object.GetAnnotations()[annotationOperator] == ""
}

// IsHistory reports whether an object is the Secret of a superseded or failed revision, which the operator itself
// prunes.
func IsHistory(object metav1.Object) bool {
	status := helmrelease.Status(object.GetLabels()[labelStatus])
	return IsRevision(object) && (status == helmrelease.StatusSuperseded || status == helmrelease.StatusFailed)
}

// secretOf returns the Secret of a revision as Helm's driver creates or updates it, plus the labels and owner reference
// of the Darkroom.
func (r *Revisions) secretOf(
	release *helmrelease.Release, write func(*driver.Secrets, string, *helmrelease.Release) error,
) (*corev1.Secret, error) {
	written := &oneSecret{}
	name := fmt.Sprintf("%s.%s.v%d", helmstorage.HelmStorageType, release.Name, release.Version)
	if err := write(driver.NewSecrets(written), name, release); err != nil {
		return nil, fmt.Errorf("encode release: %w", err)
	}
	secret := written.secret
	secret.Namespace = r.darkroom.Namespace
	secret.Labels[v1alpha1.LabelDarkroom] = r.darkroom.Name
	secret.Labels[v1alpha1.LabelDarkroomUID] = string(r.darkroom.UID)
	secret.Annotations = map[string]string{annotationOperator: "true"}
	secret.OwnerReferences = []metav1.OwnerReference{ownership.Reference(r.darkroom)}
	return secret, nil
}

// patchOf returns the JSON patch that overwrites a revision of the same Darkroom. It keeps the spec stored with the
// revision.
func patchOf(secret *corev1.Secret) ([]byte, error) {
	label := func(name string) string { return "/metadata/labels/" + strings.ReplaceAll(name, "/", "~1") }
	patch := []jsonpatch.Operation{
		jsonpatch.NewOperation("test", label(v1alpha1.LabelDarkroomUID), secret.Labels[v1alpha1.LabelDarkroomUID]),
		jsonpatch.NewOperation("add", "/metadata/annotations", secret.Annotations),
		jsonpatch.NewOperation("add", "/metadata/ownerReferences", secret.OwnerReferences),
		jsonpatch.NewOperation("add", "/data/"+dataRelease, secret.Data[dataRelease]),
	}
	for name, value := range secret.Labels {
		patch = append(patch, jsonpatch.NewOperation("add", label(name), value))
	}
	return json.Marshal(patch)
}

// oneSecret simulates a cluster with a single Secret, so that Helm's driver can encode and decode releases.
type oneSecret struct {
	corev1client.SecretInterface
	secret *corev1.Secret
}

// Create implements corev1client.SecretInterface.
func (c *oneSecret) Create(_ context.Context, secret *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	c.secret = secret
	return secret, nil
}

// Update implements corev1client.SecretInterface.
func (c *oneSecret) Update(_ context.Context, secret *corev1.Secret, _ metav1.UpdateOptions) (*corev1.Secret, error) {
	c.secret = secret
	return secret, nil
}

// List implements corev1client.SecretInterface.
func (c *oneSecret) List(context.Context, metav1.ListOptions) (*corev1.SecretList, error) {
	return &corev1.SecretList{Items: []corev1.Secret{*c.secret}}, nil
}

// decode reads a release from its Secret with Helm's driver.
func decode(secret *corev1.Secret) (*helmrelease.Release, error) {
	if err := checkSize(secret.Data[dataRelease]); err != nil {
		return nil, err
	}
	release, err := driver.NewSecrets(&oneSecret{secret: secret}).List(func(*helmrelease.Release) bool { return true })
	if err != nil {
		return nil, err
	}
	if len(release) == 0 || release[0].Info == nil {
		return nil, errNoRelease
	}
	return release[0], nil
}

// Copy copies a release so that its top-level fields and Info can be changed. Everything else is shared and must not be
// changed.
func Copy(in *helmrelease.Release) *helmrelease.Release {
	out := *in
	info := *in.Info
	out.Info = &info
	return &out
}

// summary returns the fields of a release that are needed to detect changes. It omits the chart, values and hooks,
// keeps only the first line of the notes, and replaces the manifest by its identity. The omitted fields take most of
// the memory and are read again for a write.
func summary(release *helmrelease.Release) *helmrelease.Release {
	out := Copy(release)
	out.Chart, out.Config, out.Hooks = nil, nil, nil
	out.Manifest = manifest.Identity(release.Manifest)
	notes, _, _ := strings.Cut(release.Info.Notes, "\n")
	out.Info.Notes = strings.Clone(notes)
	return out
}
