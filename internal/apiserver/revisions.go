package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// maxHistory limits the size of a list of revisions, in bytes, to at least ten times the usual size.
const maxHistory = 8 << 20

// controllerRevisions is the resource in which the operator records revisions.
const controllerRevisions = "controllerrevisions"

// Statuses of a Helm release.
const (
	deployed   = "deployed"
	superseded = "superseded"
)

// Revision is a revision of a Darkroom's Helm release.
type Revision struct {
	Revision  int                    `json:"revision" doc:"Number of the revision of the Helm release"`
	Status    string                 `json:"status" doc:"Helm's status: deployed, superseded or failed"`
	CreatedAt *time.Time             `json:"createdAt,omitempty"`
	Settings  *wire.RevisionSettings `json:"settings,omitempty" doc:"The Darkroom's settings at that time; absent if they cannot be read"`
	ChangedBy string                 `json:"changedBy,omitempty" doc:"The client that changed the settings, by its field manager: for example kubectl-edit, darkroom-page:USER for writes of USER on the page, or darkroom-apiserver:USER for other writes through this API; absent if unknown, for example after kubectl scale or an upgrade of the operator"`
}

// RevisionList contains the revisions of a Darkroom, newest first.
type RevisionList struct {
	Items []Revision `json:"items"`
}

func (s *Server) revisions(ctx context.Context, in *PathInput) (*reply.JSON[RevisionList], error) {
	darkroom, err := s.readAsCaller(ctx, in.key())
	if err != nil {
		return nil, err
	}
	// Such lists may be large.
	leave, err := s.limits.Renderings.Enter(ctx, auth.CallerOf(ctx).Name())
	if err != nil {
		return nil, err
	}
	defer leave()
	records, err := s.records(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	return reply.With(RevisionList{Items: describeRevisions(records)}), nil
}

// records lists the ControllerRevisions of a Darkroom with the caller's own token, newest first.
func (s *Server) records(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]appsv1.ControllerRevision, error) {
	selector := labels.Set{v1alpha1.LabelDarkroomUID: string(darkroom.UID)}
	body, err := s.auth.Clients.Apps.Get().Namespace(darkroom.Namespace).Resource(controllerRevisions).
		VersionedParams(&metav1.ListOptions{LabelSelector: selector.String()}, s.auth.Clients.Parameters).
		MaxRetries(0).Stream(ctx)
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
			fmt.Sprintf("the revisions are larger than %d MiB: use helm history, or lower --max-history of the operator",
				maxHistory>>20))
	}
	list := &appsv1.ControllerRevisionList{}
	if err := json.Unmarshal(raw, list); err != nil {
		return nil, fmt.Errorf("decode list of ControllerRevisions: %w", err)
	}
	records := slices.DeleteFunc(list.Items,
		func(record appsv1.ControllerRevision) bool { return !metav1.IsControlledBy(&record, darkroom) })
	slices.SortFunc(records, func(a, b appsv1.ControllerRevision) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Revision, a.Revision))
	})
	return records, nil
}

func describeRevisions(records []appsv1.ControllerRevision) []Revision {
	out := []Revision{}
	isDeployed := false
	for i := range records {
		revision := describeRevision(&records[i])
		if last := len(out) - 1; last >= 0 {
			if revision.Revision >= out[last].Revision {
				continue // left from before a manual uninstall, which resets the numbers to 1
			}
			if records[i].Annotations[v1alpha1.AnnotationRevisionAuthor] == records[i-1].Annotations[v1alpha1.AnnotationRevisionAuthor] {
				out[last].ChangedBy = "" // not changed by a user, but for example by an upgrade of the operator
			}
		}
		if revision.Status == deployed && isDeployed {
			revision.Status = superseded
		}
		isDeployed = isDeployed || revision.Status == deployed
		out = append(out, revision)
	}
	return out
}

func describeRevision(record *appsv1.ControllerRevision) Revision {
	out := Revision{
		Revision:  int(record.Revision),
		Status:    record.Annotations[v1alpha1.AnnotationRevisionStatus],
		CreatedAt: wire.Time(&record.CreationTimestamp),
	}
	_, out.ChangedBy, _ = strings.Cut(record.Annotations[v1alpha1.AnnotationRevisionAuthor], " ")
	if spec, err := revisionSpec(record); err == nil {
		out.Settings = wire.FlattenRevision(spec)
	}
	return out
}

// revisionSpec returns the spec in a record. Its secrets are concealed.
func revisionSpec(record *appsv1.ControllerRevision) (*v1alpha1.DarkroomSpec, error) {
	data := &v1alpha1.RevisionData{}
	if err := json.Unmarshal(record.Data.Raw, data); err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "the settings of the revision are not valid")
	}
	return data.Spec.Concealed(), nil
}

// Rollback is the body of a request that rolls a Darkroom back.
type Rollback struct {
	Revision int `json:"revision" minimum:"1" doc:"Number of the revision whose settings replace the current ones"`
}

type rollBackInput struct {
	PathInput
	DryRunInput
	IfMatch string `header:"If-Match" required:"true" doc:"ETag of the version to change"`
	Body    Rollback
}

// rollBack replaces the spec of a Darkroom with the spec of a revision, except for write-only fields.
func (s *Server) rollBack(ctx context.Context, in *rollBackInput) (*reply.Darkroom, error) {
	return s.update(ctx, in.key(), in.IfMatch, &in.DryRunInput,
		func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error) {
			record, err := s.record(ctx, before, in.Body.Revision)
			if err != nil {
				return nil, err
			}
			spec, err := revisionSpec(record)
			if err != nil {
				return nil, err
			}
			return wire.Restore(spec, before)
		})
}

// record returns the ControllerRevision of a revision.
func (s *Server) record(
	ctx context.Context, darkroom *v1alpha1.Darkroom, revision int,
) (*appsv1.ControllerRevision, error) {
	record := &appsv1.ControllerRevision{}
	err := s.auth.Clients.Apps.Get().Namespace(darkroom.Namespace).Resource(controllerRevisions).
		Name(v1alpha1.RevisionName(darkroom, revision)).MaxRetries(0).Do(ctx).Into(record)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, wire.FromKubernetes(err, wire.AsIs)
	}
	if err != nil || !metav1.IsControlledBy(record, darkroom) {
		return nil, problem.New(http.StatusNotFound, fmt.Sprintf("the history of the Darkroom has no revision %d", revision))
	}
	return record, nil
}
