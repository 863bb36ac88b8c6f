package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/lru"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// right is a permission that is checked.
type right struct {
	verb     string
	group    string
	resource string
	// subresource, such as proxy of services; empty means the resource itself.
	subresource string
	namespace   string // empty means all namespaces
	name        string // empty means all names
	path        string // for non-resource rights, such as /metrics
}

// toDarkrooms is a right to Darkrooms.
func toDarkrooms(verb, namespace, name string) right {
	return right{verb: verb, group: v1alpha1.GroupVersion.Group, resource: plural, namespace: namespace, name: name}
}

// String describes the right in messages.
func (r right) String() string {
	if r.path != "" {
		return fmt.Sprintf("%s %s", r.verb, r.path)
	}
	what := r.resource
	if r.subresource != "" {
		what += "/" + r.subresource
	}
	if r.name != "" {
		what = fmt.Sprintf("%s %q", strings.TrimSuffix(r.resource, "s"), r.name)
	}
	if r.namespace == "" {
		return fmt.Sprintf("%s %s in all namespaces", r.verb, what)
	}
	return fmt.Sprintf("%s %s in the namespace %q", r.verb, what, r.namespace)
}

// resourceAttributes and nonResourceAttributes describe the right to Kubernetes; one of
// them is nil.
func (r right) resourceAttributes() *authorizationv1.ResourceAttributes {
	if r.path != "" {
		return nil
	}
	return &authorizationv1.ResourceAttributes{
		Verb: r.verb, Group: r.group, Version: "*", Resource: r.resource, Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
	}
}

func (r right) nonResourceAttributes() *authorizationv1.NonResourceAttributes {
	if r.path == "" {
		return nil
	}
	return &authorizationv1.NonResourceAttributes{Verb: r.verb, Path: r.path}
}

const (
	// maxCallers bounds the callers in the cache, and maxAnswers the results of each, so
	// that one caller cannot evict the results of another.
	maxCallers = 1024
	maxAnswers = 512
	// budgetTimeout is how long a request waits for its caller's budget.
	budgetTimeout = 5 * time.Second
)

// access authorizes callers by access reviews, and caches the results for some seconds.
type access struct {
	ask func(context.Context, *caller, right) (bool, error)
	ttl time.Duration
	// budget limits the requests that this server sends to the cluster with its own
	// identity on behalf of each caller.
	budget  *limit.Rates
	timeout time.Duration
	answers *answers
}

// newAccess authorizes by SubjectAccessReview.
func newAccess(kube kubernetes.Interface, ttl time.Duration, budget *limit.Rates) *access {
	ask := func(ctx context.Context, who *caller, what right) (bool, error) {
		extra := map[string]authorizationv1.ExtraValue{}
		for key, values := range who.user.GetExtra() {
			extra[key] = values
		}
		review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: who.user.GetName(), UID: who.user.GetUID(), Groups: who.user.GetGroups(), Extra: extra,
				ResourceAttributes: what.resourceAttributes(), NonResourceAttributes: what.nonResourceAttributes(),
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed && !review.Status.Denied, nil
	}
	return newAccessBy(ask, ttl, budget)
}

// newSelfAccess authorizes the owner of the kubeconfig by SelfSubjectAccessReview: most
// users may not create reviews for others.
func newSelfAccess(kube kubernetes.Interface, ttl time.Duration, budget *limit.Rates) *access {
	ask := func(ctx context.Context, _ *caller, what right) (bool, error) {
		review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: what.resourceAttributes(), NonResourceAttributes: what.nonResourceAttributes(),
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed && !review.Status.Denied, nil
	}
	return newAccessBy(ask, ttl, budget)
}

func newAccessBy(ask func(context.Context, *caller, right) (bool, error), ttl time.Duration, budget *limit.Rates) *access {
	return &access{ask: ask, ttl: ttl, budget: budget, timeout: budgetTimeout, answers: newAnswers()}
}

// patient returns the same access for callers that can wait for their budget until their
// context ends, such as streams.
func (a *access) patient() *access {
	out := *a
	out.timeout = time.Hour
	return &out
}

// may reports whether a caller has a right. The error is a Problem if that is unknown.
func (a *access) may(ctx context.Context, who *caller, what right) (bool, error) {
	own := a.answers.of(who)
	if answer, found := own.Get(what); found {
		return answer.(bool), nil
	}
	if err := a.spend(ctx, who); err != nil {
		return false, err
	}
	allowed := false
	err := webhook.WithExponentialBackoff(ctx, *reviewBackoff(), func() error {
		var err error
		allowed, err = a.ask(ctx, who, what)
		return err
	}, webhook.DefaultShouldRetry)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return false, problem.Unavailable("access reviews are unavailable; try again later")
	}
	own.Add(what, allowed, a.ttl)
	return allowed, nil
}

// spend takes one request from the caller's budget, or returns a problem if none is left.
// It is called before every request that this server sends with its own identity on behalf
// of a caller.
func (a *access) spend(ctx context.Context, who *caller) error {
	return a.budget.Wait(ctx, who.user.GetName(), a.timeout)
}

// require is may, with a problem for callers that lack the right.
func (a *access) require(ctx context.Context, who *caller, what right) error {
	allowed, err := a.may(ctx, who, what)
	if err != nil {
		return err
	}
	if !allowed {
		return problem.New(http.StatusForbidden, fmt.Sprintf("user %q may not %s", who.user.GetName(), what))
	}
	return nil
}

// answers caches the results of reviews for each caller.
type answers struct {
	mu      sync.Mutex
	callers *lru.Cache
}

func newAnswers() *answers {
	return &answers{callers: lru.New(maxCallers)}
}

func (a *answers) of(who *caller) *cache.LRUExpireCache {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.callers.Get(who.key)
	if !ok {
		found = cache.NewLRUExpireCache(maxAnswers)
		a.callers.Add(who.key, found)
	}
	return found.(*cache.LRUExpireCache)
}

// isFromCluster reports whether an error is a failure of the review rather than its result.
func isFromCluster(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) || wire.IsUnreachable(err) || errors.Is(err, context.Canceled)
}
