package auth

import (
	"errors"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
)

// transport adds the caller's identity to each request.
type transport struct {
	host string
	// next sends requests with a token.
	next http.RoundTripper
	// own sends requests with the identity of this server, for impersonation; nil without impersonation.
	own http.RoundTripper
}

func newTransport(options *Options, config *rest.Config, next http.RoundTripper) (http.RoundTripper, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read address of the cluster: %w", err)
	}
	out := &transport{host: server.Host, next: next}
	if options.OIDC != nil && options.OIDC.Impersonates() {
		if out.own, err = rest.TransportFor(options.Cluster); err != nil {
			return nil, fmt.Errorf("create transport of impersonation: %w", err)
		}
	}
	return out, nil
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	who := CallerOf(request.Context())
	if who == nil || who.token == "" && !who.impersonated() {
		return nil, errors.New("request without a caller")
	}
	if request.URL.Host != t.host {
		return nil, fmt.Errorf("request to %s, which is not the Kubernetes API server", request.URL.Host)
	}
	request = request.Clone(request.Context())
	if !who.impersonated() {
		request.Header.Set("Authorization", "Bearer "+who.token)
		return t.next.RoundTrip(request)
	}
	if t.own == nil {
		return nil, errors.New("request for an impersonated user without impersonation")
	}
	request.Header.Set(authenticationv1.ImpersonateUserHeader, who.Name())
	request.Header.Del(authenticationv1.ImpersonateGroupHeader)
	for _, group := range who.user.GetGroups() {
		// Kubernetes adds this group itself. Impersonating it would require another permission.
		if group != user.AllAuthenticated {
			request.Header.Add(authenticationv1.ImpersonateGroupHeader, group)
		}
	}
	return t.own.RoundTrip(request)
}
