package apiserver

import (
	"context"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reach"
)

// sourceChecksPerSecond and sourceBurst limit the checks of each caller, who chooses the
// addresses.
const sourceChecksPerSecond, sourceBurst = 1, 5

// newSourceShares returns the places of checks, which may all take their time. A check
// without a place is left out.
func newSourceShares() *limit.Shares { return limit.NewShares(8, 1, 0, 0) }

// Reasons for a source that is not checked, besides those of the package reach.
const (
	sourceOff            reach.Reason = "off"
	sourceOutsideCluster reach.Reason = "outsideCluster"
	sourceNotAccepted    reach.Reason = "notAccepted"
	sourceLimit          reach.Reason = "limit"
)

// SourceOutcome reports whether the source answers this server. Pods may have other
// certificates, proxies and NetworkPolicies.
type SourceOutcome struct {
	State  reach.State  `json:"state" enum:"reachable,unreachable,notChecked"`
	Reason reach.Reason `json:"reason" enum:"answered,imageServed,redirected,nameNotFound,connectionRefused,timeout,certificate,httpStatus,noConnection,address,proxy,off,outsideCluster,notAccepted,limit" doc:"reachable: there was a response (answered), the image of spec.probe was served (imageServed), or is at another host (redirected). unreachable: the class of the failure. notChecked: the address is not allowed (address), the proxy of this server failed (proxy), checks are turned off (off), this server does not run in the cluster (outsideCluster), the cluster did not accept a dry run of the change (notAccepted), or too many checks (limit)"`
	Host   string       `json:"host,omitempty" doc:"Host that was asked, with its port if it is not the default"`
	Status int          `json:"status,omitempty" doc:"HTTP status, if reason is httpStatus"`
}

// reviewSource checks whether the source answers, for callers whose change the cluster
// accepts. The check is a hint: it never refuses a change.
func (s *Server) reviewSource(ctx context.Context, proposal *proposal) SourceOutcome {
	target, isImage := sourceURL(proposal.wanted)
	if target == nil {
		return SourceOutcome{State: reach.NotChecked, Reason: reach.Address}
	}
	result := s.checkSource(ctx, proposal, target, isImage)
	return SourceOutcome{State: result.State, Reason: result.Reason, Host: target.Host, Status: result.Status}
}

func (s *Server) checkSource(ctx context.Context, proposal *proposal, target *url.URL, isImage bool) reach.Result {
	notChecked := func(reason reach.Reason) reach.Result { return reach.Result{State: reach.NotChecked, Reason: reason} }
	who := callerOf(ctx).user.GetName()
	switch {
	// A server with the identity of a user runs on the user's machine.
	case s.options.OutsideCluster || s.options.Auth == AuthKubeconfig:
		return notChecked(sourceOutsideCluster)
	case s.options.Sources == nil:
		return notChecked(sourceOff)
	case s.sourceRates.Take(who) != nil:
		return notChecked(sourceLimit)
	}
	leave, err := s.sourceChecks.Enter(ctx, who)
	if err != nil {
		return notChecked(sourceLimit)
	}
	defer leave()
	// Policies of the cluster, which may limit sources, apply to a dry run.
	if err := s.dryRun(ctx, proposal); err != nil {
		return notChecked(sourceNotAccepted)
	}
	return s.options.Sources.Check(ctx, target, isImage)
}

// dryRun validates a proposal in the cluster, with the caller's own token. Secrets are
// concealed in it.
func (s *Server) dryRun(ctx context.Context, proposal *proposal) error {
	wanted := proposal.wanted.DeepCopy()
	request := s.callers.darkrooms.Post()
	if proposal.before != nil {
		request = s.callers.darkrooms.Put().Name(wanted.Name)
	}
	return request.Namespace(wanted.Namespace).Resource(plural).
		VersionedParams(&metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: fieldManager}, s.callers.parameters).
		Body(wanted).MaxRetries(0).Do(ctx).Error()
}

// sourceURL returns the URL that shows whether the source of a Darkroom answers, and whether
// it is that of an image: the one of spec.probe, unless it requires credentials. The URL is
// nil if the source has none.
func sourceURL(darkroom *v1alpha1.Darkroom) (target *url.URL, isImage bool) {
	source, image := &darkroom.Spec.Source, ""
	if darkroom.Spec.Probe != nil {
		image = darkroom.Spec.Probe.Path
	}
	var raw string
	switch source.Type {
	case v1alpha1.S3:
		raw, image = s3URL(source), ""
	case v1alpha1.GoogleCloudStorage:
		raw, image = "https://storage.googleapis.com", ""
	case v1alpha1.CloudFront:
		raw = "https://" + source.Host
		if source.SecureProtocol != nil && !*source.SecureProtocol {
			raw = "http://" + source.Host
		}
	default:
		raw = source.BaseURL
	}
	target, err := url.Parse(raw)
	if err != nil || target.Host == "" {
		return nil, false
	}
	// The path as Darkroom appends it; url.URL escapes it.
	target.Path, target.RawPath = strings.TrimRight(target.Path, "/")+image, ""
	if target.Path == "" {
		target.Path = "/"
	}
	return target, image != ""
}

// s3URL returns the endpoint of S3.
func s3URL(source *v1alpha1.Source) string {
	switch {
	case source.Endpoint != "":
		return source.Endpoint
	case strings.HasPrefix(source.Region, "cn-"):
		return "https://s3." + source.Region + ".amazonaws.com.cn"
	}
	return "https://s3." + source.Region + ".amazonaws.com"
}
