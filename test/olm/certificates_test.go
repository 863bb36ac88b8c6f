//go:build e2e

package olm

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"testing"

	"k8s.io/client-go/util/cert"
)

// authority signs certificates for what OLM v1 talks to over TLS, in cert-manager's place.
type authority struct {
	// bundle has the certificates of what was issued so far, in PEM.
	bundle []byte
}

// issue returns a certificate and its key, in PEM, for a name and addresses.
func (a *authority) issue(t *testing.T, name string, addresses ...string) (certificate, key []byte) {
	t.Helper()
	var ips []net.IP
	for _, address := range addresses {
		ips = append(ips, net.ParseIP(address))
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(name, ips, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.bundle = append(a.bundle, certificate...)
	return certificate, key
}

// transport trusts the authority.
func (a *authority) transport() http.RoundTripper {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.bundle)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
}
