//go:build linux

package cluster

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
	"os"
	"time"
)

// Names of certificates and keys, and of the kubeconfigs for the cluster's programs.
const (
	authority         = "ca"
	serviceAccounts   = "service-account"
	admin             = "admin"
	controllerManager = "controller-manager"
	scheduler         = "scheduler"
	dnsUser           = "coredns"
)

const (
	mastersGroup = "system:masters"
	nodeUser     = "system:node:" + nodeName
)

// certificate describes a certificate. For clients, the API server uses the name as the user and the groups as groups.
type certificate struct {
	file, name, group string
	// If hosts are set, it is the certificate of a server.
	hosts []string
	// kubeconfig writes a kubeconfig for the client.
	kubeconfig bool
}

// certificates are all certificates of a cluster except the authority's, for both kinds of nodes.
var certificates = []certificate{
	{file: "apiserver", name: "kube-apiserver", hosts: []string{
		loopback, serviceIP, nodeIP, "localhost",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + clusterDomain,
	}},
	{file: "apiserver-kubelet-client", name: "kube-apiserver-kubelet-client", group: mastersGroup},
	{file: "kubelet-server", name: nodeUser, hosts: []string{nodeIP, nodeName}},
	{file: serviceAccounts, name: serviceAccounts},
	{file: admin, name: admin, group: mastersGroup, kubeconfig: true},
	{file: controllerManager, name: "system:kube-controller-manager", kubeconfig: true},
	{file: scheduler, name: "system:kube-scheduler", kubeconfig: true},
	{file: "kubelet", name: nodeUser, group: "system:nodes", kubeconfig: true},
	{file: "kube-proxy", name: "system:kube-proxy", kubeconfig: true},
	{file: dnsUser, name: dnsUser, kubeconfig: true},
}

// writeCertificates writes the certificates, signed by a new authority, their keys and the kubeconfigs. They are valid
// for a year.
func (c *Cluster) writeCertificates() error {
	root := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "cluster-ca"},
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, BasicConstraintsValid: true, IsCA: true,
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca, _, err := c.writeCertificate(authority, root, root, rootKey, rootKey)
	if err != nil {
		return err
	}
	for _, each := range certificates {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		crt, pem, err := c.writeCertificate(each.file, each.template(), root, key, rootKey)
		if err != nil {
			return err
		}
		if each.kubeconfig {
			if err := c.writeKubeconfig(each.file, ca, crt, pem); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c certificate) template() *x509.Certificate {
	t := &x509.Certificate{
		Subject:  pkix.Name{CommonName: c.name},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if c.group != "" {
		t.Subject.Organization = []string{c.group}
	}
	for _, host := range c.hosts {
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	return t
}

// writeCertificate signs a certificate, and writes it and its key. It returns both as PEM.
func (c *Cluster) writeCertificate(
	file string, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey,
) (crt, private []byte, err error) {
	// One hour of tolerance for clocks that are set back.
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate %s: %w", file, err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the key of %s: %w", file, err)
	}
	crt = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	if err := os.WriteFile(c.certificate(file), crt, 0o644); err != nil {
		return nil, nil, err
	}
	return crt, private, os.WriteFile(c.key(file), private, 0o600)
}

// writeKubeconfig writes the kubeconfig of a user, with credentials inline so that it can be moved.
func (c *Cluster) writeKubeconfig(user string, ca, crt, key []byte) error {
	type object = map[string]any
	return writeJSON(c.kubeconfig(user), 0o600, object{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": []object{{"name": mark, "cluster": object{
			"server": "https://" + c.local("kube-apiserver"), "certificate-authority-data": ca,
		}}},
		"users":           []object{{"name": user, "user": object{"client-certificate-data": crt, "client-key-data": key}}},
		"contexts":        []object{{"name": mark, "context": object{"cluster": mark, "user": user}}},
		"current-context": mark,
	})
}
