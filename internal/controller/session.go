package controller

import (
	"context"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// session is one reconcile of one Darkroom. It is the values translator and the source of action clients for the
// reconciler of helm-operator-plugins. It also keeps the report that the reconciler passes through a helmClient, and
// writes it at the end.
type session struct {
	helm *helmReconciler

	// darkroom is the Darkroom as cached at the start.
	darkroom *v1alpha1.Darkroom
	// reported is the status reported by the Helm reconciler; nil if it reported none.
	reported *status.HelmReport
	// uninstalled is set when the operator's finalizer was removed from a Darkroom that is being deleted. gone is set
	// if no other finalizer is left.
	uninstalled, gone bool
	// release is the action client of the Darkroom. Its release is rendered once Translate has returned without an
	// error.
	release *release.ActionClient
	// refusals are the hosts in the spec that other Darkrooms hold; unknown before claimHosts.
	refusals []hosts.Refusal
}

func (r *helmReconciler) newSession(ctx context.Context, darkroom *v1alpha1.Darkroom) *session {
	return &session{helm: r, darkroom: darkroom, release: r.releases.ClientFor(ctx, darkroom)}
}

// ActionClientFor implements helmclient.ActionClientGetter.
func (s *session) ActionClientFor(context.Context, client.Object) (helmclient.ActionInterface, error) {
	return s.release, nil
}

// Translate implements the values translator of the Helm reconciler. An error ends the reconcile before the release is
// written.
func (s *session) Translate(ctx context.Context, _ *unstructured.Unstructured) (chartutil.Values, error) {
	return s.prepare(ctx)
}

// prepare reads the version of the credentials, claims the hosts of a valid Darkroom, and translates it with both. It
// also renders the chart, because templates can reject values too.
func (s *session) prepare(ctx context.Context) (map[string]any, error) {
	version, err := s.helm.credentials.Version(ctx, s.darkroom)
	if err != nil {
		return nil, err
	}
	state := values.ClusterState{CredentialsVersion: version}
	if _, err := s.helm.values.ValuesIn(s.darkroom, state); err != nil {
		return nil, invalidError{err}
	}
	if state.RefusedHosts, err = s.claimHosts(ctx); err != nil {
		return nil, err
	}
	vals, err := s.helm.values.ValuesIn(s.darkroom, state)
	if err == nil {
		err = s.release.Render(vals)
	}
	if err != nil {
		return nil, invalidError{err}
	}
	s.release.Inputs = inputsOf(s.darkroom, version)
	return vals, nil
}

// claimHosts claims the hosts in the spec, and returns those that other Darkrooms hold.
func (s *session) claimHosts(ctx context.Context) (refused []string, err error) {
	s.refusals, err = s.helm.hosts.Claim(ctx, s.darkroom)
	for _, refusal := range s.refusals {
		refused = append(refused, refusal.Host)
	}
	return refused, err
}

// inputsOf identifies the inputs of the desired release that users control in addition to the spec.
func inputsOf(darkroom *v1alpha1.Darkroom, credentialsVersion string) string {
	return manifest.Digest([]any{
		darkroom.Labels, darkroom.Annotations[v1alpha1.AnnotationRequestedAt], credentialsVersion,
	})
}
