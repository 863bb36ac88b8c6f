package cluster

import (
	"fmt"
	"path/filepath"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// plan is everything that is decided before the first program starts.
type plan struct {
	options Options
	layout  Layout
	ports   ports
}

// ports are those that the programs listen on.
type ports struct {
	etcd, etcdPeer, apiServer, controllerManager, scheduler int
	// kwok is used with simulated nodes, the others with a real one.
	kwok, ingress, kubelet, kubeletHealth, proxyHealth, proxyMetrics, dns, dnsReady int
}

// newPlan chooses ports and writes certificates and kubeconfigs.
func newPlan(o Options) (*plan, error) {
	p := &plan{options: o, layout: Layout{o.Dir}}
	chosen, err := freePorts(loopback, 13)
	if err != nil {
		return nil, err
	}
	for i, port := range []*int{
		&p.ports.etcd, &p.ports.etcdPeer, &p.ports.apiServer, &p.ports.controllerManager, &p.ports.scheduler,
		&p.ports.ingress, &p.ports.kwok, &p.ports.kubelet, &p.ports.kubeletHealth, &p.ports.proxyHealth, &p.ports.proxyMetrics,
		&p.ports.dns, &p.ports.dnsReady,
	} {
		*port = chosen[i]
	}
	if err := p.writeCertificates(); err != nil {
		return nil, err
	}
	return p, p.writeKubeconfigs()
}

func (p *plan) writeCertificates() error {
	o := certs.Options{APIServerHosts: []string{
		loopback, "localhost", firstAddress(serviceCIDR),
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}}
	if p.options.Node == Real {
		o.APIServerHosts = append(o.APIServerHosts, p.nodeIP())
		o.NodeName = nodeName
		o.NodeHosts = []string{p.nodeIP(), o.NodeName}
	}
	return certs.Write(p.layout.pki(), o)
}

func (p *plan) writeKubeconfigs() error {
	users := []string{certs.Admin, certs.ControllerManager, certs.Scheduler}
	if p.options.Node == Real {
		users = append(users, certs.Kubelet, certs.KubeProxy, certs.DNS, certs.Ingress)
	} else {
		users = append(users, certs.Kwok)
	}
	for _, user := range users {
		path := p.kubeconfig(user)
		if user == certs.Admin {
			path = p.layout.Kubeconfig()
		}
		err := writeKubeconfig(path, p.apiServerURL(), user,
			p.layout.certificate(certs.CA), p.layout.certificate(user), p.layout.key(user))
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) apiServerURL() string {
	return fmt.Sprintf("https://%s:%d", loopback, p.ports.apiServer)
}
func (p *plan) ingressURL() string { return fmt.Sprintf("http://%s:%d", loopback, p.ports.ingress) }

// nodeIP is the real node's own address.
func (p *plan) nodeIP() string { return firstAddress(podCIDR) }

func (p *plan) kubeconfig(user string) string { return p.layout.configFile(user + ".kubeconfig") }

// pkiFile returns the path of a file in the certificates' folder. Pairs of certificate and
// key have functions of their own.
func (p *plan) pkiFile(name string) string { return filepath.Join(p.layout.pki(), name) }

func (p *plan) program(name string, args ...string) process.Spec {
	return process.Spec{Name: name, Path: filepath.Join(p.options.BinDir, name), Args: args, LogDir: p.layout.Logs()}
}
