package apiserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// maxHistory is the largest list of revisions that is read, in bytes: ten or more times what
// the operator keeps of a Darkroom.
const maxHistory = 8 << 20

// Labels of Helm's release Secrets.
const (
	helmStatus  = "status"
	helmVersion = "version"
)

// Revision is a state that a Darkroom was deployed in, or should have been.
type Revision struct {
	Revision  int                    `json:"revision" doc:"Number of the revision of the Helm release"`
	Status    string                 `json:"status" doc:"Helm's status: deployed, superseded, failed, pending-install, pending-upgrade and others"`
	CreatedAt *time.Time             `json:"createdAt,omitempty"`
	Settings  *wire.RevisionSettings `json:"settings,omitempty" doc:"The Darkroom's settings at that time; absent if the revision has none, as those of other Helm clients"`
	ChangedBy string                 `json:"changedBy,omitempty" doc:"The client that changed the settings, by its field manager: such as kubectl-edit, darkroom-page:USER for writes of USER on the page and darkroom-apiserver:USER for others through this API; absent if it is not known, as after kubectl scale or an upgrade of the operator"`
	// SecretsDiffer is about what the settings do not show.
	SecretsDiffer bool `json:"secretsDiffer" doc:"Whether inline keys or literal values of variables differ from the present ones, which a roll-back changes too"`
}

// RevisionList is the revisions of a Darkroom, the newest first.
type RevisionList struct {
	Items []Revision `json:"items"`
}

// revisions reads the Secrets of a Darkroom's release with the caller's own token: the
// server itself can read none.
func (s *Server) revisions(ctx context.Context, in *PathInput) (*output[RevisionList], error) {
	darkroom, err := s.live(ctx, in.key())
	if err != nil {
		return nil, err
	}
	// Lists of Secrets are large, so they share the places of renderings.
	leave, err := s.renderings.Enter(ctx, auth.CallerOf(ctx).Name())
	if err != nil {
		return nil, err
	}
	defer leave()
	secrets, err := s.releaseSecrets(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(secrets, func(a, b corev1.Secret) int { return cmp.Compare(numberOf(&b), numberOf(&a)) })
	out := &output[RevisionList]{Body: RevisionList{Items: []Revision{}}}
	for i := range secrets {
		described := describeRevision(&secrets[i], darkroom)
		if i+1 < len(secrets) && bytes.Equal(secrets[i].Data[v1alpha1.RevisionAuthor], secrets[i+1].Data[v1alpha1.RevisionAuthor]) {
			described.ChangedBy = "" // Nobody is known to have written in between: the operator was upgraded, for example.
		}
		out.Body.Items = append(out.Body.Items, described)
	}
	return out, nil
}

// releaseSecrets lists the Secrets of a Darkroom's release.
func (s *Server) releaseSecrets(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]corev1.Secret, error) {
	selector := labels.Set{"owner": "helm", "name": darkroom.Name, v1alpha1.LabelDarkroomUID: string(darkroom.UID)}
	body, err := s.auth.Clients.Core.Get().Namespace(darkroom.Namespace).Resource("secrets").
		VersionedParams(&metav1.ListOptions{LabelSelector: selector.String()}, s.auth.Clients.Parameters).MaxRetries(0).Stream(ctx)
	if err != nil {
		return nil, wire.FromKubernetes(err, wire.AsIs)
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, maxHistory+1))
	if err != nil {
		return nil, wire.FromKubernetes(err, wire.AsIs)
	}
	if len(raw) > maxHistory {
		return nil, problem.New(http.StatusUnprocessableEntity,
			fmt.Sprintf("the revisions are larger than %d MiB: use helm history, or lower --max-history of the operator", maxHistory>>20))
	}
	list := &corev1.SecretList{}
	if err := json.Unmarshal(raw, list); err != nil {
		return nil, fmt.Errorf("decode list of Secrets: %w", err)
	}
	return list.Items, nil
}

// describeRevision describes a revision beside the Darkroom as it is now.
func describeRevision(secret *corev1.Secret, now *v1alpha1.Darkroom) Revision {
	out := Revision{Revision: numberOf(secret), Status: secret.Labels[helmStatus], CreatedAt: wire.Time(&secret.CreationTimestamp)}
	spec, err := revisionSpec(secret)
	if err != nil {
		return out
	}
	out.Settings = wire.FlattenRevision(spec)
	out.SecretsDiffer = !wire.SameSecrets(spec, &now.Spec)
	_, out.ChangedBy, _ = strings.Cut(string(secret.Data[v1alpha1.RevisionAuthor]), " ")
	return out
}

// numberOf returns the number of a revision; 0 if it is not a number.
func numberOf(secret *corev1.Secret) int {
	number, _ := strconv.Atoi(secret.Labels[helmVersion])
	return number
}

// revisionSpec returns the spec that a revision was made from.
func revisionSpec(secret *corev1.Secret) (*v1alpha1.DarkroomSpec, error) {
	raw, found := secret.Data[v1alpha1.RevisionSpec]
	if !found {
		return nil, problem.New(http.StatusUnprocessableEntity, "the revision does not have the settings that it was made from, because the operator did not make it, or an early version of it")
	}
	spec := &v1alpha1.DarkroomSpec{}
	if err := json.Unmarshal(raw, spec); err != nil {
		// The error could quote a value.
		return nil, problem.New(http.StatusUnprocessableEntity, "the settings of the revision are not valid")
	}
	return spec, nil
}

// Rollback names a revision.
type Rollback struct {
	Revision int `json:"revision" minimum:"1" doc:"Number of the revision whose settings replace the present ones"`
}

type rollBackInput struct {
	PathInput
	DryRunInput

	IfMatch string `header:"If-Match" doc:"ETag of the version that is changed; needed"`
	Body    Rollback
}

// rollBack replaces the spec of a Darkroom by that of a revision, secrets included. The
// operator then makes a new revision of it.
func (s *Server) rollBack(ctx context.Context, in *rollBackInput) (*darkroomOutput, error) {
	return s.update(ctx, in.key(), in.IfMatch, &in.DryRunInput, func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error) {
		secret, err := s.releaseSecret(ctx, before, in.Body.Revision)
		if err != nil {
			return nil, err
		}
		spec, err := revisionSpec(secret)
		if err != nil {
			return nil, err
		}
		wanted := before.DeepCopy()
		wanted.Spec = *spec
		return wanted, nil
	})
}

// releaseSecret returns the Secret of one revision of a Darkroom.
func (s *Server) releaseSecret(ctx context.Context, darkroom *v1alpha1.Darkroom, revision int) (*corev1.Secret, error) {
	missing := problem.New(http.StatusNotFound, fmt.Sprintf("the Darkroom has no revision %d", revision))
	secret := &corev1.Secret{}
	name := fmt.Sprintf("sh.helm.release.v1.%s.v%d", darkroom.Name, revision)
	err := s.auth.Clients.Core.Get().Namespace(darkroom.Namespace).Resource("secrets").Name(name).MaxRetries(0).Do(ctx).Into(secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, missing
	case err != nil:
		return nil, wire.FromKubernetes(err, wire.AsIs)
	case secret.Labels[v1alpha1.LabelDarkroomUID] != string(darkroom.UID):
		return nil, missing
	}
	return secret, nil
}
