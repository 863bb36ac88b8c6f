package apiserver

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/outcome"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
)

// holderOf reads the Lease of a host with the server's own identity.
func (s *Server) holderOf(ctx context.Context, host string) (outcome.Holder, error) {
	if s.options.LeaseNamespace == "" {
		return outcome.Holder{}, nil
	}
	if err := s.auth.Access.Spend(ctx); err != nil {
		return outcome.Holder{}, err
	}
	lease, err := s.kube.CoordinationV1().Leases(s.options.LeaseNamespace).Get(ctx, host, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return outcome.Holder{Known: true}, nil
	case err != nil:
		middleware.SetError(ctx, fmt.Errorf("get the Lease of host %s: %w", host, err))
		return outcome.Holder{}, nil
	}
	return outcome.Holder{Known: true, Darkroom: ptr.To(hosts.HolderOf(lease))}, nil
}

// hosts returns the outcome for each host of a change. It names the owner of a host only to callers who may get that
// Darkroom.
func (s *Server) hosts(ctx context.Context, change *outcome.Change) ([]outcome.HostOutcome, error) {
	out := []outcome.HostOutcome{}
	for _, host := range change.Hosts(s.options.Hosts) {
		holder, err := s.holderOf(ctx, host)
		if err != nil {
			return nil, err
		}
		result := outcome.Host(host, holder, client.ObjectKeyFromObject(change.After))
		if owner := holder.Darkroom; owner != nil && *owner != (types.NamespacedName{}) && result.Warning() != "" {
			visible, err := s.auth.Access.May(ctx, auth.ToDarkrooms("get", owner.Namespace, owner.Name))
			if err != nil {
				return nil, err
			}
			if visible {
				result.Owner = owner.String()
			}
		}
		out = append(out, result)
	}
	return out, nil
}

// warnings returns Warning headers for hosts that another Darkroom holds. Only responses to dry runs have these
// headers.
func (s *Server) warnings(ctx context.Context, dryRun *DryRunInput, change *outcome.Change) ([]string, error) {
	if dryRun.DryRun == "" {
		return nil, nil
	}
	hosts, err := s.hosts(ctx, change)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, host := range hosts {
		if warning := host.Warning(); warning != "" {
			out = append(out, fmt.Sprintf("299 - %q", warning))
		}
	}
	return out, nil
}
