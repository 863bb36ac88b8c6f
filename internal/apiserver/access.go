package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/client-go/kubernetes"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// right is something that a caller may or may not do.
type right struct {
	verb     string
	group    string
	resource string
	// subresource, such as proxy of services; empty means the resource itself.
	subresource string
	namespace   string // empty means all namespaces
	name        string // empty means all names
	path        string // of what is no resource, such as /metrics
}

// toDarkrooms is a right to Darkrooms.
func toDarkrooms(verb, namespace, name string) right {
	return right{verb: verb, group: v1alpha1.GroupVersion.Group, resource: "darkrooms", namespace: namespace, name: name}
}

// String says what the right is to, for messages.
func (r right) String() string {
	if r.path != "" {
		return fmt.Sprintf("%s %s", r.verb, r.path)
	}
	what := r.resource
	if r.name != "" {
		what = fmt.Sprintf("%s %q", strings.TrimSuffix(r.resource, "s"), r.name)
	}
	if r.namespace == "" {
		return fmt.Sprintf("%s %s in all namespaces", r.verb, what)
	}
	return fmt.Sprintf("%s %s in the namespace %q", r.verb, what, r.namespace)
}

func (r right) attributes(who *caller) authorizer.Attributes {
	return authorizer.AttributesRecord{
		User: who.user, Verb: r.verb, APIGroup: r.group, APIVersion: "*", Resource: r.resource, Subresource: r.subresource,
		Namespace: r.namespace, Name: r.name, ResourceRequest: r.path == "", Path: r.path,
	}
}

// access tells what callers may do. Its answers are kept for some seconds.
type access struct {
	reviews authorizer.UnconditionalAuthorizer
}

// newAccess asks by SubjectAccessReview.
func newAccess(kube kubernetes.Interface, ttl time.Duration) (*access, error) {
	reviews, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: kube.AuthorizationV1(),
		AllowCacheTTL:             ttl,
		DenyCacheTTL:              ttl,
		WebhookRetryBackoff:       reviewBackoff(),
	}.New()
	if err != nil {
		return nil, fmt.Errorf("make authorizer: %w", err)
	}
	return &access{reviews: reviews}, nil
}

// may tells whether a caller has a right. The error is a Problem that says why that
// cannot be told.
func (a *access) may(ctx context.Context, who *caller, what right) (bool, error) {
	decision, _, err := a.reviews.Authorize(ctx, what.attributes(who))
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return false, unavailable("the cluster cannot be asked what you may do: try again")
	}
	return decision == authorizer.DecisionAllow, nil
}

// require is may, with a problem for those who may not.
func (a *access) require(ctx context.Context, who *caller, what right) error {
	allowed, err := a.may(ctx, who, what)
	if err != nil {
		return err
	}
	if !allowed {
		return newProblem(http.StatusForbidden, fmt.Sprintf("user %q may not %s", who.user.GetName(), what))
	}
	return nil
}

// selfReviews asks by SelfSubjectAccessReview what the owner of the kubeconfig may do:
// most people may not ask about anyone else.
type selfReviews struct {
	kube    kubernetes.Interface
	answers *cache.LRUExpireCache
	ttl     time.Duration
}

func newSelfAccess(kube kubernetes.Interface, ttl time.Duration) *access {
	return &access{reviews: &selfReviews{kube: kube, answers: cache.NewLRUExpireCache(4096), ttl: ttl}}
}

func (s *selfReviews) Authorize(ctx context.Context, what authorizer.Attributes) (authorizer.Decision, string, error) {
	spec := authorizationv1.SelfSubjectAccessReviewSpec{}
	if what.IsResourceRequest() {
		spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Verb: what.GetVerb(), Group: what.GetAPIGroup(), Resource: what.GetResource(), Subresource: what.GetSubresource(),
			Namespace: what.GetNamespace(), Name: what.GetName(),
		}
	} else {
		spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: what.GetVerb(), Path: what.GetPath()}
	}
	key := spec.String()
	if answer, found := s.answers.Get(key); found {
		return answer.(authorizer.Decision), "", nil
	}
	review, err := s.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx,
		&authorizationv1.SelfSubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return authorizer.DecisionNoOpinion, "", fmt.Errorf("ask what the kubeconfig may do: %w", err)
	}
	decision := authorizer.DecisionNoOpinion
	if review.Status.Allowed {
		decision = authorizer.DecisionAllow
	}
	s.answers.Add(key, decision, s.ttl)
	return decision, "", nil
}

// isFromCluster tells whether an error is about the question, and not an answer to it.
func isFromCluster(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) || isUnreachable(err) || errors.Is(err, context.Canceled)
}
