package auth

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
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// Right is a permission.
type Right struct {
	Verb     string
	Group    string
	Resource string
	// Subresource is, for example, proxy for services. Empty means the resource itself.
	Subresource string
	Namespace   string // empty means all namespaces
	Name        string // empty means all names
	Path        string // for non-resource rights, such as /metrics
}

// ToDarkrooms returns the permission to apply a verb to the Darkrooms of a namespace, or to one of them.
func ToDarkrooms(verb, namespace, name string) Right {
	return Right{Verb: verb, Group: v1alpha1.GroupVersion.Group, Resource: "darkrooms", Namespace: namespace, Name: name}
}

// String describes the right in messages.
func (r Right) String() string {
	if r.Path != "" {
		return fmt.Sprintf("%s %s", r.Verb, r.Path)
	}
	what := r.Resource
	if r.Subresource != "" {
		what += "/" + r.Subresource
	}
	if r.Name != "" {
		what = fmt.Sprintf("%s %q", strings.TrimSuffix(r.Resource, "s"), r.Name)
	}
	if r.Namespace == "" {
		return fmt.Sprintf("%s %s in all namespaces", r.Verb, what)
	}
	return fmt.Sprintf("%s %s in the namespace %q", r.Verb, what, r.Namespace)
}

// resourceAttributes and nonResourceAttributes are the attributes of an access review. One of them is nil.
func (r Right) resourceAttributes() *authorizationv1.ResourceAttributes {
	if r.Path != "" {
		return nil
	}
	return &authorizationv1.ResourceAttributes{
		Verb: r.Verb, Group: r.Group, Version: "*", Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name,
	}
}

func (r Right) nonResourceAttributes() *authorizationv1.NonResourceAttributes {
	if r.Path == "" {
		return nil
	}
	return &authorizationv1.NonResourceAttributes{Verb: r.Verb, Path: r.Path}
}

const (
	// maxAnswers limits the cached results. The budget of a caller limits the number of results for that caller.
	maxAnswers = 1 << 16
	// budgetTimeout is the longest wait for the caller's budget.
	budgetTimeout = 5 * time.Second
)

// Access authorizes the caller in a context by access reviews, and caches the results for some seconds.
type Access struct {
	review review
	ttl    time.Duration
	// budget limits the requests that this server sends to the cluster with its own
	// identity on behalf of each caller.
	budget  *limit.Rates
	timeout time.Duration
	answers *cache.LRUExpireCache
}

// question is the key of a cached result.
type question struct {
	caller string
	right  Right
}

func newAccess(ask review, ttl time.Duration, budget *limit.Rates) *Access {
	return &Access{
		review: ask, ttl: ttl, budget: budget, timeout: budgetTimeout,
		answers: cache.NewLRUExpireCache(maxAnswers),
	}
}

type review func(context.Context, *Caller, Right) (authorizationv1.SubjectAccessReviewStatus, error)

// reviewsOf reviews by SubjectAccessReview.
func reviewsOf(kube kubernetes.Interface) review {
	return func(ctx context.Context, who *Caller, what Right) (authorizationv1.SubjectAccessReviewStatus, error) {
		extra := map[string]authorizationv1.ExtraValue{}
		for key, values := range who.user.GetExtra() {
			extra[key] = values
		}
		out, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: who.Name(), UID: who.user.GetUID(), Groups: who.Groups(), Extra: extra,
				ResourceAttributes: what.resourceAttributes(), NonResourceAttributes: what.nonResourceAttributes(),
			},
		}, metav1.CreateOptions{})
		return out.Status, err
	}
}

// selfReviews reviews by SelfSubjectAccessReview for the owner of the kubeconfig, because most users may not create
// SubjectAccessReviews.
func selfReviews(kube kubernetes.Interface) review {
	return func(ctx context.Context, _ *Caller, what Right) (authorizationv1.SubjectAccessReviewStatus, error) {
		out, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: what.resourceAttributes(), NonResourceAttributes: what.nonResourceAttributes(),
			},
		}, metav1.CreateOptions{})
		return out.Status, err
	}
}

// Patient returns the same Access, but waits for the budget until the context is done. It is for streams.
func (a *Access) Patient() *Access {
	out := *a
	out.timeout = time.Hour
	return &out
}

// May reports whether the caller has a permission. The error is a problem.
func (a *Access) May(ctx context.Context, what Right) (bool, error) {
	who := CallerOf(ctx)
	key := question{who.key, what}
	if answer, found := a.answers.Get(key); found {
		return answer.(bool), nil
	}
	if err := a.Spend(ctx); err != nil {
		return false, err
	}
	var status authorizationv1.SubjectAccessReviewStatus
	err := webhook.WithExponentialBackoff(ctx, *reviewBackoff(), func() error {
		var err error
		status, err = a.review(ctx, who, what)
		return err
	}, webhook.DefaultShouldRetry)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return false, problem.Unavailable("access reviews are unavailable; try again later")
	}
	allowed := status.Allowed && !status.Denied
	a.answers.Add(key, allowed, a.ttl)
	return allowed, nil
}

// Spend takes one request from the caller's budget, or returns a problem if the budget is used up. Call it before each
// request with the server's own identity on behalf of a caller.
func (a *Access) Spend(ctx context.Context) error {
	return a.budget.Wait(ctx, CallerOf(ctx).Name(), a.timeout)
}

// Require returns a problem if the caller lacks a permission.
func (a *Access) Require(ctx context.Context, what Right) error {
	allowed, err := a.May(ctx, what)
	if err == nil && !allowed {
		return problem.New(http.StatusForbidden, fmt.Sprintf("user %q may not %s", CallerOf(ctx).Name(), what))
	}
	return err
}

// RequireNow is Require without a cached refusal, for requests that users do not repeat.
func (a *Access) RequireNow(ctx context.Context, what Right) error {
	key := question{CallerOf(ctx).key, what}
	if answer, found := a.answers.Get(key); found && answer == false {
		a.answers.Remove(key)
	}
	return a.Require(ctx, what)
}

// isFromCluster reports whether an error means that the review failed.
func isFromCluster(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) || wire.IsUnreachable(err) || errors.Is(err, context.Canceled)
}
