package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime is how long certificates are valid. Clusters live for minutes;
// a forgotten one should not fail for this.
const lifetime = 365 * 24 * time.Hour

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// Pair is the authority's own certificate and key.
	Pair Pair
}

// Pair is a certificate and its private key, both PEM.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// NewAuthority makes a self-signed authority.
func NewAuthority(name string) (*Authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	certificate, pair, err := issue(template, nil, key, key)
	if err != nil {
		return nil, fmt.Errorf("make authority %s: %w", name, err)
	}
	return &Authority{certificate: certificate, key: key, Pair: pair}, nil
}

// Client issues a client certificate. The API server reads the common name as
// the user name and the organizations as groups.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	return a.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// Server issues a server certificate for hosts, which are names or addresses.
// It may be used by a client too: etcd's gateway connects to itself with it.
func (a *Authority) Server(name string, hosts ...string) (Pair, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.sign(template)
}

func (a *Authority) sign(template *x509.Certificate) (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	_, pair, err := issue(template, a.certificate, a.key, key)
	if err != nil {
		return Pair{}, fmt.Errorf("issue certificate for %s: %w", template.Subject.CommonName, err)
	}
	return pair, nil
}

// issue completes template and signs it; a nil parent means self-signed.
func issue(template, parent *x509.Certificate, signer, key *ecdsa.PrivateKey) (*x509.Certificate, Pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, Pair{}, err
	}
	template.SerialNumber = serial
	// An hour of grace for clocks that are set back.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(lifetime)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, Pair{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, Pair{}, err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return nil, Pair{}, err
	}
	return certificate, Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         keyPEM,
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a private key: %w", err)
	}
	return key, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
