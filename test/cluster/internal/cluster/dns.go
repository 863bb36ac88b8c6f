//go:build linux

package cluster

import (
	"fmt"
	"os"
)

// clusterDomain is the suffix of the names of Services.
const clusterDomain = "cluster.local"

// corefile serves the names of Services. Queries for other names are answered at once, without an upstream server,
// which pods could not reach anyway.
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
func (c *Cluster) dns() (program, error) {
	path := c.file("config/Corefile")
	text := fmt.Sprintf(corefile, c.ports["coredns"], nodeIP, loopback, c.ports["coredns-ready"],
		clusterDomain, c.kubeconfig(dnsUser))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return program{}, fmt.Errorf("write the configuration of the cluster's DNS: %w", err)
	}
	return c.program("coredns", "-conf="+path, "-quiet"), nil
}

// dnsObjects make the DNS reachable for pods, and grant it read access to Services.
func (c *Cluster) dnsObjects() string {
	return fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules:
- {apiGroups: [""], resources: [services, namespaces], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: %[2]s
  ports:
  - {name: dns, protocol: UDP, port: 53}
  - {name: dns-tcp, protocol: TCP, port: 53}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: kube-dns
  namespace: kube-system
  labels: {kubernetes.io/service-name: kube-dns}
addressType: IPv4
endpoints:
- addresses: [%[3]s]
ports:
- {name: dns, protocol: UDP, port: %[4]d}
- {name: dns-tcp, protocol: TCP, port: %[4]d}
`, dnsUser, dnsIP, nodeIP, c.ports["coredns"])
}
