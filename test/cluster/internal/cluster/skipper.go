package cluster

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

const (
	// tokensFile lists who may use which bearer token, for the API server;
	// skipperTokenFile holds skipper's: it knows no client certificates.
	tokensFile       = "tokens.csv"
	skipperTokenFile = "skipper.token"
	skipperUser      = "skipper"
	// ingressClass is the class whose Ingresses are served, beside those that
	// name none.
	ingressClass = "skipper"
)

// skipper serves the cluster's Ingresses on loopback.
func (p *plan) skipper() process.Spec {
	spec := p.program("skipper",
		fmt.Sprintf("-address=%s:%d", loopback, p.ports.ingress),
		"-kubernetes-url="+p.apiServerURL(),
		"-kubernetes-token-file="+p.layout.configFile(skipperTokenFile),
		"-kubernetes-ingress-class=^"+ingressClass+"$",
	)
	// It trusts the system's authorities only; Go reads them from here.
	spec.Env = []string{"SSL_CERT_FILE=" + p.layout.certificate(certs.CA)}
	return spec
}

func (p *plan) writeTokens() error {
	token := strings.ToLower(rand.Text())
	line := fmt.Sprintf("%s,%s,%s\n", token, skipperUser, skipperUser)
	if err := os.WriteFile(p.layout.configFile(tokensFile), []byte(line), 0o600); err != nil {
		return fmt.Errorf("write the API server's tokens: %w", err)
	}
	if err := os.WriteFile(p.layout.configFile(skipperTokenFile), []byte(token), 0o600); err != nil {
		return fmt.Errorf("write skipper's token: %w", err)
	}
	return nil
}

// skipperObjects let skipper read what it routes to, and let users name it.
func skipperObjects() []map[string]any {
	return []map[string]any{
		{
			"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass",
			"metadata": map[string]any{"name": ingressClass},
			"spec":     map[string]any{"controller": "zalando.org/skipper"},
		},
		{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
			"metadata": map[string]any{"name": "skipper"},
			"rules": []map[string]any{
				{"apiGroups": []string{"networking.k8s.io"}, "resources": []string{"ingresses"}, "verbs": []string{"get", "list"}},
				{"apiGroups": []string{"discovery.k8s.io"}, "resources": []string{"endpointslices"}, "verbs": []string{"get", "list"}},
				{"apiGroups": []string{""}, "resources": []string{"services", "endpoints"}, "verbs": []string{"get", "list"}},
			},
		},
		{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
			"metadata": map[string]any{"name": "skipper"},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "skipper"},
			"subjects": []map[string]any{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": skipperUser}},
		},
	}
}
