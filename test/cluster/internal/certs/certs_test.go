package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func parse(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		t.Fatalf("certificate and key do not fit: %v", err)
	}
	block, _ := pem.Decode(pair.Certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func TestClientCertificateNamesUserAndGroups(t *testing.T) {
	ca, err := NewAuthority("ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Client("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	got := parse(t, pair)
	if got.Subject.CommonName != "admin" || !slices.Equal(got.Subject.Organization, []string{"system:masters"}) {
		t.Errorf("subject is %v", got.Subject)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.certificate)
	if _, err := got.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("not valid as a client certificate: %v", err)
	}
	if _, err := got.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err == nil {
		t.Error("a client certificate must not serve")
	}
}

func TestServerCertificateDistinguishesNamesFromAddresses(t *testing.T) {
	ca, err := NewAuthority("ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Server("kube-apiserver", "127.0.0.1", "kubernetes.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	got := parse(t, pair)
	if !slices.Equal(got.DNSNames, []string{"kubernetes.default.svc"}) {
		t.Errorf("names are %v", got.DNSNames)
	}
	if len(got.IPAddresses) != 1 || !got.IPAddresses[0].Equal(net.IPv4(127, 0, 0, 1)) {
		t.Errorf("addresses are %v", got.IPAddresses)
	}
}

func TestAuthoritiesDoNotTrustEachOther(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, Options{APIServerHosts: []string{"127.0.0.1"}}); err != nil {
		t.Fatal(err)
	}
	load := func(name string) *x509.Certificate {
		certificate, err := os.ReadFile(filepath.Join(dir, name+".crt"))
		if err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(filepath.Join(dir, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, Pair{Certificate: certificate, Key: key})
	}
	tests := []struct {
		name, authority string
		trusted         bool
		why             string
	}{
		{Admin, CA, true, "the API server's client CA"},
		{FrontProxyClient, FrontProxyCA, true, "the aggregation layer"},
		{FrontProxyClient, CA, false, "or any aggregated server could be impersonated"},
		{Admin, FrontProxyCA, false, "or any client could claim to be anybody"},
		{Admin, EtcdCA, false, "only the API server may talk to etcd"},
		{EtcdClient, EtcdCA, true, "the API server talks to etcd"},
	}
	for _, test := range tests {
		roots := x509.NewCertPool()
		roots.AddCert(load(test.authority))
		_, err := load(test.name).Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		if (err == nil) != test.trusted {
			t.Errorf("%s signed by %s: %v, want trusted=%v: %s", test.name, test.authority, err, test.trusted, test.why)
		}
	}
}

func TestKeysAreReadableByTheOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, Options{NodeName: "node-1", NodeHosts: []string{"10.0.0.1"}}); err != nil {
		t.Fatal(err)
	}
	keys, err := filepath.Glob(filepath.Join(dir, "*.key"))
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) < 10 {
		t.Fatalf("only %d keys", len(keys))
	}
	for _, key := range keys {
		info, err := os.Stat(key)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", key, info.Mode())
		}
	}
}
