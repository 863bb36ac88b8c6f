package auth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	tokencache "k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/pkg/authentication/user"
	webhooktoken "k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"
	"k8s.io/client-go/kubernetes"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// Caller is the user who sent a request.
type Caller struct {
	user user.Info
	// key contains all attributes that authorization depends on.
	key string
	// token is sent with requests to Kubernetes; empty with --auth=kubeconfig and for impersonated users.
	token string
	// session is set if the user signed in at the issuer.
	session *oidc.Session
}

// Name returns the name of the user.
func (c *Caller) Name() string { return c.user.GetName() }

// Groups returns the groups of the user.
func (c *Caller) Groups() []string { return c.user.GetGroups() }

// HasSession reports whether the user signed in at the issuer.
func (c *Caller) HasSession() bool { return c.session != nil }

// impersonated reports whether this server impersonates the caller in requests to Kubernetes.
func (c *Caller) impersonated() bool { return c.HasSession() && c.token == "" }

func newCaller(who user.Info, token string) *Caller {
	// fmt sorts the keys of maps.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", who.GetName(), who.GetUID(), who.GetGroups(), who.GetExtra()))
	return &Caller{user: who, key: string(sum[:]), token: token}
}

// identifier authenticates callers.
type identifier interface {
	// identify returns the caller, or a problem: 401 for an invalid token, 503 if the cluster is unavailable.
	identify(ctx context.Context, token string) (*Caller, error)
}

// reviewTimeout limits the time of a review.
const reviewTimeout = 10 * time.Second

// reviewBackoff is the back-off of failed reviews.
func reviewBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 250 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 3}
}

// tokenReviews authenticates by TokenReview, and caches the results for some seconds.
type tokenReviews struct {
	tokens authenticator.Token
}

// newTokenReviews does not use the factory of Kubernetes' delegating authenticator, because that does not distinguish
// an invalid token from an unavailable cluster.
func newTokenReviews(kube kubernetes.Interface, ttl time.Duration) (*tokenReviews, error) {
	reviews, err := webhooktoken.NewFromInterface(kube.AuthenticationV1(), nil, *reviewBackoff(), reviewTimeout,
		webhooktoken.AuthenticatorMetrics{
			RecordRequestTotal:   authenticatorfactory.RecordRequestTotal,
			RecordRequestLatency: authenticatorfactory.RecordRequestLatency,
		})
	if err != nil {
		return nil, fmt.Errorf("create authenticator: %w", err)
	}
	return &tokenReviews{tokens: tokencache.New(reviews, false, ttl, ttl)}, nil
}

func (t *tokenReviews) identify(ctx context.Context, token string) (*Caller, error) {
	if token == "" {
		return nil,
			problem.Unauthorized(
				"authentication required: send a bearer token in the header Authorization, or POST it to /session",
			)
	}
	answer, ok, err := t.tokens.AuthenticateToken(ctx, token)
	if err != nil && isFromCluster(err) {
		return nil, problem.Unavailable("token reviews are unavailable; try again later")
	}
	if err != nil || !ok {
		return nil, problem.Unauthorized("the token is invalid or has expired")
	}
	return newCaller(answer.User, token), nil
}

// kubeconfigOwner treats all callers as the owner of the kubeconfig.
type kubeconfigOwner struct {
	kube kubernetes.Interface
	ttl  time.Duration

	mu    sync.Mutex
	owner *Caller
	until time.Time
}

func (k *kubeconfigOwner) identify(ctx context.Context, _ string) (*Caller, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Now().Before(k.until) {
		return k.owner, nil
	}
	review, err := k.kube.AuthenticationV1().SelfSubjectReviews().
		Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return nil, wire.FromKubernetes(err, wire.AsIs)
	}
	who := review.Status.UserInfo
	k.owner = newCaller(&user.DefaultInfo{Name: who.Username, UID: who.UID, Groups: who.Groups}, "")
	k.until = time.Now().Add(k.ttl)
	return k.owner, nil
}

// tokenOf returns the token of a request, or an empty string. The header takes precedence over the cookie, because an
// authenticating proxy sets it.
func tokenOf(request *http.Request) string {
	if header := request.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
		if !strings.EqualFold(scheme, "bearer") {
			return ""
		}
		return strings.TrimSpace(token)
	}
	if cookie, err := request.Cookie(oidc.SessionCookie); err == nil && !oidc.IsSession(cookie.Value) {
		return cookie.Value
	}
	return ""
}

type callerKey struct{}

// WithCaller returns a context with a caller.
func WithCaller(ctx context.Context, who *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// CallerOf returns the caller in a context, or nil.
func CallerOf(ctx context.Context) *Caller {
	who, _ := ctx.Value(callerKey{}).(*Caller)
	return who
}
