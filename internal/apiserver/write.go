package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/outcome"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// fieldManager is the field manager of writes that do not come from the page. See managerOf.
	fieldManager = "darkroom-apiserver"
	// pageManager is the field manager of writes from the page.
	pageManager = "darkroom-page"
	// maxFieldManager is the limit of Kubernetes, in bytes.
	maxFieldManager = 128
	plural          = "darkrooms"
	// catchUp limits how long the response to a write waits for the cache.
	catchUp = 2 * time.Second
	// defaultNamespace is used for bodies without a namespace.
	defaultNamespace = "default"
)

// DryRunInput is a parameter of all writes of Darkrooms.
type DryRunInput struct {
	DryRun string `query:"dryRun" enum:"All" doc:"All: have the cluster check the write, and store nothing"`
}

func (d *DryRunInput) list() []string {
	if d.DryRun == "" {
		return nil
	}
	return []string{metav1.DryRunAll}
}

type createInput struct {
	DryRunInput
	RawBody []byte
}

func (s *Server) create(ctx context.Context, in *createInput) (*reply.Created, error) {
	input, err := s.decoder.Decode(in.RawBody, nil)
	if err != nil {
		return nil, err
	}
	input.Namespace = cmp.Or(input.Namespace, defaultNamespace)
	wanted := wire.Expand(input, &v1alpha1.Darkroom{})
	if bad := checkNames(input); len(bad) > 0 {
		return nil, s.withAllErrors(ctx,
			problem.New(http.StatusUnprocessableEntity, "the Darkroom is invalid; see errors", bad...), wanted, nil)
	}
	if err := s.requireServed(input.Namespace); err != nil {
		return nil, err
	}
	stored := &v1alpha1.Darkroom{}
	err = s.auth.Clients.Darkrooms.Post().Namespace(wanted.Namespace).Resource(plural).
		VersionedParams(&metav1.CreateOptions{
			DryRun: in.list(), FieldManager: managerOf(ctx),
			FieldValidation: metav1.FieldValidationStrict,
		}, s.auth.Clients.Parameters).
		Body(wanted).MaxRetries(0).Do(ctx).Into(stored)
	if err != nil {
		return nil, s.withAllErrors(ctx, wire.FromKubernetes(err, wire.Redactor(wanted)), wanted, nil)
	}
	s.awaitRead(ctx, stored, in.DryRun != "")
	out := reply.WithCreated(stored)
	out.Warning, err = s.warnings(ctx, &in.DryRunInput, &outcome.Change{After: stored})
	return out, err
}

type updateInput struct {
	PathInput
	DryRunInput
	IfMatch string `header:"If-Match" required:"true" doc:"ETag of the version that is changed"`
	RawBody []byte
}

func (s *Server) replace(ctx context.Context, in *updateInput) (*reply.Darkroom, error) {
	return s.updateBy(ctx, in, func(*v1alpha1.Darkroom) any { return nil })
}

// patch merges a body into the current Darkroom, and replaces the Darkroom: a patch of Kubernetes can neither keep
// write-only values nor compare an ETag.
func (s *Server) patch(ctx context.Context, in *updateInput) (*reply.Darkroom, error) {
	return s.updateBy(ctx, in, func(before *v1alpha1.Darkroom) any { return wire.Flatten(before) })
}

// updateBy replaces a Darkroom with the body merged into base.
func (s *Server) updateBy(
	ctx context.Context, in *updateInput, base func(before *v1alpha1.Darkroom) any,
) (*reply.Darkroom, error) {
	key := in.key()
	return s.update(ctx, key, in.IfMatch, &in.DryRunInput, func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error) {
		input, err := s.decoder.Decode(in.RawBody, base(before))
		if err != nil {
			return nil, err
		}
		if err := checkIdentity(input, key); err != nil {
			return nil, err
		}
		return wire.Expand(input, before), nil
	})
}

// conflicts is the back-off after conflicts, for example with a write of the status. Jitter keeps clients from
// conflicting again.
var conflicts = wait.Backoff{Duration: 5 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 250 * time.Millisecond}

// update changes a Darkroom. It reads and writes the Darkroom with the caller's own token, because the cache has no
// write-only values.
func (s *Server) update(ctx context.Context, key types.NamespacedName, ifMatch string, dryRun *DryRunInput,
	change func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error),
) (*reply.Darkroom, error) {
	var made *outcome.Change
	err := retry.RetryOnConflict(conflicts, func() (err error) {
		made, err = s.updateOnce(ctx, key, ifMatch, dryRun, change)
		return err
	})
	if apierrors.IsConflict(err) {
		return nil, problem.New(http.StatusConflict, "the Darkroom is being changed by other clients; try again")
	}
	if err != nil {
		return nil, err
	}
	s.awaitRead(ctx, made.After, dryRun.DryRun != "")
	out := reply.WithDarkroom(made.After)
	out.Warning, err = s.warnings(ctx, dryRun, made)
	return out, err
}

// updateOnce returns the change. A conflict is returned as the error of Kubernetes; all other errors are problems.
func (s *Server) updateOnce(ctx context.Context, key types.NamespacedName, ifMatch string, dryRun *DryRunInput,
	change func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error),
) (*outcome.Change, error) {
	before, err := s.readAsCaller(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckIfMatch(ifMatch, before); err != nil {
		return nil, err
	}
	wanted, err := change(before)
	if err != nil {
		return nil, err
	}
	stored := &v1alpha1.Darkroom{}
	err = s.auth.Clients.Darkrooms.Put().Namespace(key.Namespace).Resource(plural).Name(key.Name).
		VersionedParams(&metav1.UpdateOptions{
			DryRun: dryRun.list(), FieldManager: managerOf(ctx),
			FieldValidation: metav1.FieldValidationStrict,
		}, s.auth.Clients.Parameters).
		Body(wanted).MaxRetries(0).Do(ctx).Into(stored)
	if err != nil && !apierrors.IsConflict(err) {
		err = s.withAllErrors(ctx, reply.FromKubernetes(err, key, wire.Redactor(before, wanted)), wanted, before)
	}
	return &outcome.Change{Before: before, After: stored}, err
}

// managerOf returns the field manager of a caller's writes. It contains the user's name if that is short and printable,
// because Kubernetes records no other author.
func managerOf(ctx context.Context) string {
	way := fieldManager
	if ctx.Value(onPageKey{}) == true {
		way = pageManager
	}
	manager := way + ":" + auth.CallerOf(ctx).Name()
	if len(manager) > maxFieldManager || strings.ContainsFunc(manager, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return way
	}
	return manager
}

// readAsCaller reads a Darkroom, including its secrets, from Kubernetes with the caller's own token.
func (s *Server) readAsCaller(ctx context.Context, key types.NamespacedName) (*v1alpha1.Darkroom, error) {
	if err := s.requireServed(key.Namespace); err != nil {
		return nil, err
	}
	out := &v1alpha1.Darkroom{}
	if err := s.auth.Clients.Darkrooms.Get().Namespace(key.Namespace).Resource(plural).Name(key.Name).MaxRetries(0).
		Do(ctx).Into(out); err != nil {
		return nil, reply.FromKubernetes(err, key, wire.AsIs)
	}
	return out, nil
}

// checkNames checks that a new Darkroom has a name and a valid namespace, without which no request can be sent to
// Kubernetes. Kubernetes validates the name.
func checkNames(input *wire.DarkroomInput) (bad []problem.Field) {
	if input.Name == "" {
		bad = append(bad, problem.Field{Location: "body.name", Message: "required, for example photos"})
	}
	if problems := validation.IsDNS1123Label(input.Namespace); len(problems) > 0 {
		bad = append(bad, problem.Field{Location: "body.namespace", Message: problems[0]})
	}
	return bad
}

// checkIdentity returns a problem for a name or namespace that does not match the path, and sets the ones left out.
func checkIdentity(input *wire.DarkroomInput, key types.NamespacedName) error {
	var bad []problem.Field
	if input.Name != "" && input.Name != key.Name {
		bad = append(bad, problem.Field{
			Location: "body.name",
			Message:  "must match the name in the path, or be left out: a Darkroom cannot be renamed",
		})
	}
	if input.Namespace != "" && input.Namespace != key.Namespace {
		bad = append(bad, problem.Field{
			Location: "body.namespace",
			Message:  "must match the namespace in the path, or be left out: a Darkroom cannot be moved",
		})
	}
	if len(bad) > 0 {
		return problem.New(http.StatusUnprocessableEntity, "name or namespace in the body does not match the path", bad...)
	}
	input.Name, input.Namespace = key.Name, key.Namespace
	return nil
}

type deleteInput struct {
	PathInput
	DryRunInput
	IfMatch string `header:"If-Match" doc:"ETag of the version to delete; none means any version"`
}

type deleteOutput struct {
	Status int
}

// remove deletes a Darkroom. It responds with 204 if the Darkroom is gone, and with 202 if the operator uninstalls it
// first.
func (s *Server) remove(ctx context.Context, in *deleteInput) (*deleteOutput, error) {
	key := in.key()
	if err := s.requireServed(key.Namespace); err != nil {
		return nil, err
	}
	var raw []byte
	err := retry.RetryOnConflict(conflicts, func() (err error) {
		raw, err = s.removeVersion(ctx, key, in.IfMatch, in.list())
		return err
	})
	if apierrors.IsConflict(err) {
		return nil, wire.Stale()
	}
	if err != nil {
		return nil, err
	}
	// Kubernetes returns the object if it has finalizers, else a Status.
	left := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(raw, left); err != nil {
		return nil, fmt.Errorf("read answer to the deletion of Darkroom %s: %w", key, err)
	}
	if left.Kind == v1alpha1.Kind && len(left.Finalizers) > 0 {
		s.awaitRead(ctx, &v1alpha1.Darkroom{ObjectMeta: left.ObjectMeta}, in.DryRun != "")
		return &deleteOutput{Status: http.StatusAccepted}, nil
	}
	if in.DryRun == "" {
		if known := s.darkrooms.Get(key); known != nil {
			ctx, cancel := context.WithTimeout(ctx, catchUp)
			defer cancel()
			s.darkrooms.AwaitGone(ctx, key, known.UID)
		}
	}
	return &deleteOutput{Status: http.StatusNoContent}, nil
}

// removeVersion deletes a version of a Darkroom. It returns the response of Kubernetes, or its error for a conflict. It
// compares the version with the cache, so that the caller needs no permission to get the Darkroom. The precondition
// makes Kubernetes compare it again.
func (s *Server) removeVersion(
	ctx context.Context, key types.NamespacedName, ifMatch string, dryRun []string,
) (raw []byte, err error) {
	options := &metav1.DeleteOptions{DryRun: dryRun}
	if ifMatch != "" && ifMatch != wire.AnyVersion {
		if err := s.auth.Access.Require(ctx, auth.ToDarkrooms("delete", key.Namespace, key.Name)); err != nil {
			return nil, err
		}
		known := s.darkrooms.Get(key)
		if known == nil {
			return nil, reply.NotFound(key)
		}
		if err := wire.CheckIfMatch(ifMatch, known); err != nil {
			return nil, err
		}
		options.Preconditions = &metav1.Preconditions{UID: &known.UID, ResourceVersion: &known.ResourceVersion}
	}
	answer := s.auth.Clients.Darkrooms.Delete().Namespace(key.Namespace).Resource(plural).Name(key.Name).
		Body(options).MaxRetries(0).Do(ctx)
	// Error decodes the Status in the body; Raw does not.
	if err := answer.Error(); apierrors.IsConflict(err) {
		return nil, err
	} else if err != nil {
		return nil, reply.FromKubernetes(err, key, wire.AsIs)
	}
	return answer.Raw()
}

// awaitRead waits until the cache has a write.
func (s *Server) awaitRead(ctx context.Context, stored *v1alpha1.Darkroom, dryRun bool) {
	if dryRun {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	s.darkrooms.Await(ctx, live.KeyOf(stored), stored.ResourceVersion)
}
