package certs

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// Names of the files, without extension, in the folder of a cluster's
// certificates. Each NAME.crt has a NAME.key beside it.
const (
	CA                 = "ca"
	EtcdCA             = "etcd-ca"
	FrontProxyCA       = "front-proxy-ca"
	Etcd               = "etcd"
	EtcdClient         = "etcd-client"
	APIServer          = "apiserver"
	KubeletClient      = "apiserver-kubelet-client"
	FrontProxyClient   = "front-proxy-client"
	Admin              = "admin"
	ControllerManager  = "controller-manager"
	Scheduler          = "scheduler"
	Kwok               = "kwok"
	KubeProxy          = "kube-proxy"
	Kubelet            = "kubelet"
	KubeletServer      = "kubelet-server"
	DNS                = "coredns"
	Ingress            = "ingress"
	ServiceAccountKey  = "service-account.key"
	ServiceAccountPub  = "service-account.pub"
	mastersGroup       = "system:masters"
	nodesGroup         = "system:nodes"
	nodeUserNamePrefix = "system:node:"
)

// Options of a cluster's certificates.
type Options struct {
	// APIServerHosts are the names and addresses the API server is reached by.
	APIServerHosts []string
	// NodeName and NodeHosts describe the real node; empty without one.
	NodeName  string
	NodeHosts []string
}

// Write makes all certificates and keys of a cluster and writes them to dir.
func Write(dir string, o Options) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for certificates: %w", err)
	}
	ca, err := NewAuthority("cluster-ca")
	if err != nil {
		return err
	}
	etcdCA, err := NewAuthority("etcd-ca")
	if err != nil {
		return err
	}
	frontProxyCA, err := NewAuthority("front-proxy-ca")
	if err != nil {
		return err
	}

	client := func(a *Authority, user string, groups ...string) func() (Pair, error) {
		return func() (Pair, error) { return a.Client(user, groups...) }
	}
	server := func(a *Authority, name string, hosts ...string) func() (Pair, error) {
		return func() (Pair, error) { return a.Server(name, hosts...) }
	}
	itself := func(a *Authority) func() (Pair, error) {
		return func() (Pair, error) { return a.Pair, nil }
	}
	wanted := map[string]func() (Pair, error){
		CA:                itself(ca),
		EtcdCA:            itself(etcdCA),
		FrontProxyCA:      itself(frontProxyCA),
		Etcd:              server(etcdCA, "etcd", "127.0.0.1", "localhost"),
		EtcdClient:        client(etcdCA, "kube-apiserver"),
		APIServer:         server(ca, "kube-apiserver", o.APIServerHosts...),
		KubeletClient:     client(ca, "kube-apiserver-kubelet-client", mastersGroup),
		FrontProxyClient:  client(frontProxyCA, "front-proxy-client"),
		Admin:             client(ca, "admin", mastersGroup),
		ControllerManager: client(ca, "system:kube-controller-manager"),
		Scheduler:         client(ca, "system:kube-scheduler"),
		Kwok:              client(ca, "kwok", mastersGroup),
	}
	if o.NodeName != "" {
		wanted[KubeProxy] = client(ca, "system:kube-proxy")
		wanted[Kubelet] = client(ca, nodeUserNamePrefix+o.NodeName, nodesGroup)
		wanted[DNS] = client(ca, "coredns")
		wanted[Ingress] = client(ca, "ingress", mastersGroup)
		wanted[KubeletServer] = server(ca, nodeUserNamePrefix+o.NodeName, o.NodeHosts...)
	}
	for name, make := range wanted {
		pair, err := make()
		if err != nil {
			return err
		}
		if err := writePair(dir, name, pair); err != nil {
			return err
		}
	}
	return writeServiceAccountKey(dir)
}

func writePair(dir, name string, pair Pair) error {
	if err := os.WriteFile(filepath.Join(dir, name+".crt"), pair.Certificate, 0o644); err != nil {
		return fmt.Errorf("write certificate %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".key"), pair.Key, 0o600); err != nil {
		return fmt.Errorf("write key %s: %w", name, err)
	}
	return nil
}

// writeServiceAccountKey writes the key pair that signs and checks service
// account tokens.
func writeServiceAccountKey(dir string) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	private, err := encodeKey(key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode the service account key: %w", err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	if err := os.WriteFile(filepath.Join(dir, ServiceAccountKey), private, 0o600); err != nil {
		return fmt.Errorf("write the service account key: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ServiceAccountPub), public, 0o644); err != nil {
		return fmt.Errorf("write the service account key: %w", err)
	}
	return nil
}
