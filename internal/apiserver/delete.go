package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

type deleteInput struct {
	PathInput
	DryRunInput
	IfMatch string `header:"If-Match" doc:"ETag of the version to delete; none means any version"`
}

type deleteOutput struct {
	Status int
}

// delete deletes a Darkroom. It responds with 204 if the Darkroom is gone, and with 202 if the operator uninstalls it
// first.
func (s *Server) delete(ctx context.Context, in *deleteInput) (*deleteOutput, error) {
	key := in.key()
	if err := s.requireServed(key.Namespace); err != nil {
		return nil, err
	}
	var raw []byte
	err := retryOnConflict(func() (err error) {
		raw, err = s.deleteVersion(ctx, key, in.IfMatch, in.list())
		return err
	}, wire.Stale())
	if err != nil {
		return nil, err
	}
	// Kubernetes returns the object if it has finalizers, otherwise a Status.
	left := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(raw, left); err != nil {
		return nil, fmt.Errorf("read response to the deletion of Darkroom %s: %w", key, err)
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

// deleteVersion deletes a version of a Darkroom. It returns the response of Kubernetes, or its error for a conflict. It
// compares the version with the cache, so that the caller needs no permission to get the Darkroom. The precondition
// makes Kubernetes compare it again.
func (s *Server) deleteVersion(
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
