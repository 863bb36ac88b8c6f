package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

const (
	dnsUser = "coredns"
	// clusterDomain is the suffix of the names of Services.
	clusterDomain = "cluster.local"
)

// corefile serves the names of Services. Queries for any other name are answered at once,
// without asking an upstream server, which pods could not reach anyway.
const corefile = `%[5]s:%[1]d in-addr.arpa:%[1]d {
	bind %[2]s
	errors
	ready %[3]s:%[4]d
	kubernetes %[5]s in-addr.arpa {
		kubeconfig %[6]s
		ttl 1
	}
}

.:%[1]d {
	bind %[2]s
	template ANY ANY {
		rcode NXDOMAIN
	}
}
`

// dns serves names to the pods of a real node, at a port of the node's address.
func (p *plan) dns() (process.Spec, error) {
	path := p.layout.configFile("Corefile")
	text := fmt.Sprintf(corefile, p.ports.dns, p.nodeIP(), loopback, p.ports.dnsReady, clusterDomain, p.kubeconfig(certs.DNS))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return process.Spec{}, fmt.Errorf("write the configuration of the cluster's DNS: %w", err)
	}
	return p.program("coredns", "-conf="+path, "-quiet"), nil
}

// dnsIP is the address of the Service of the cluster's DNS.
func (p *plan) dnsIP() string {
	network := netip.MustParsePrefix(serviceCIDR).Addr().As4()
	network[3] += 10
	return netip.AddrFrom4(network).String()
}

// dnsObjects make the DNS reachable for pods, and grant it read access to Services.
func (p *plan) dnsObjects() []map[string]any {
	const name = "kube-dns"
	reads := []string{"list", "watch"}
	ports := func(port int) []map[string]any {
		return []map[string]any{
			{"name": "dns", "protocol": "UDP", "port": port},
			{"name": "dns-tcp", "protocol": "TCP", "port": port},
		}
	}
	return []map[string]any{
		{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
			"metadata": map[string]any{"name": dnsUser},
			"rules": []map[string]any{
				{"apiGroups": []string{""}, "resources": []string{"services", "namespaces"}, "verbs": reads},
				{"apiGroups": []string{"discovery.k8s.io"}, "resources": []string{"endpointslices"}, "verbs": reads},
			},
		},
		{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
			"metadata": map[string]any{"name": dnsUser},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": dnsUser},
			"subjects": []map[string]any{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": dnsUser}},
		},
		{
			"apiVersion": "v1", "kind": "Service",
			"metadata": map[string]any{"name": name, "namespace": systemNamespace},
			"spec":     map[string]any{"clusterIP": p.dnsIP(), "ports": ports(53)},
		},
		{
			"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
			"metadata": map[string]any{
				"name": name, "namespace": systemNamespace,
				"labels": map[string]any{"kubernetes.io/service-name": name},
			},
			"addressType": "IPv4",
			"endpoints":   []map[string]any{{"addresses": []string{p.nodeIP()}}},
			"ports":       ports(p.ports.dns),
		},
	}
}

// waitForDNS waits until Services have their names.
func (p *plan) waitForDNS(ctx context.Context) error {
	ready := fmt.Sprintf("http://%s:%d/ready", loopback, p.ports.dnsReady)
	return poll(ctx, "the cluster's DNS", func(ctx context.Context) error {
		status, err := answerOf(ctx, ready)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%s answers with status %d", ready, status)
		}
		return err
	})
}
