//go:build linux

package cluster

import "fmt"

// etcd stores its data on disk but does not wait for the disk, because a cluster that lost power is not needed any
// more.
func (c *Cluster) etcd() program {
	client, peer := "http://"+c.local("etcd"), "http://"+c.local("etcd-peer")
	return c.program("etcd",
		"--name=default",
		"--data-dir="+c.file("data/etcd"),
		"--unsafe-no-fsync",
		"--listen-client-urls="+client,
		"--advertise-client-urls="+client,
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster=default="+peer,
		"--log-level=warn",
	)
}

func (c *Cluster) apiServer() program {
	args := []string{
		"--bind-address=" + loopback,
		fmt.Sprintf("--secure-port=%d", c.ports["kube-apiserver"]),
		"--etcd-servers=http://" + c.local("etcd"),
		"--service-cluster-ip-range=" + serviceCIDR,
		"--allow-privileged=true",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--client-ca-file=" + c.certificate(authority),
		"--tls-cert-file=" + c.certificate("apiserver"),
		"--tls-private-key-file=" + c.key("apiserver"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.certificate(serviceAccounts),
		"--service-account-signing-key-file=" + c.key(serviceAccounts),
		"--kubelet-certificate-authority=" + c.certificate(authority),
		"--kubelet-client-certificate=" + c.certificate("apiserver-kubelet-client"),
		"--kubelet-client-key=" + c.key("apiserver-kubelet-client"),
		"--kubelet-preferred-address-types=InternalIP",
		"--profiling=false",
	}
	if c.Node == Real {
		// Pods reach the API server through the node's address (network.go).
		args = append(args, "--advertise-address="+nodeIP)
	} else {
		// The Service "kubernetes" has no endpoints, because endpoints may not be loopback addresses.
		args = append(args, "--advertise-address="+loopback, "--endpoint-reconciler-type=none")
	}
	return c.program("kube-apiserver", args...)
}

func (c *Cluster) controllerManager() program {
	kubeconfig := c.kubeconfig(controllerManager)
	return c.program("kube-controller-manager",
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address="+loopback,
		fmt.Sprintf("--secure-port=%d", c.ports["kube-controller-manager"]),
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.key(serviceAccounts),
		"--root-ca-file="+c.certificate(authority),
		// The default of 20 requests per second is meant for large shared clusters and would only make tests slower.
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--profiling=false",
	)
}

func (c *Cluster) scheduler() program {
	kubeconfig := c.kubeconfig(scheduler)
	return c.program("kube-scheduler",
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address="+loopback,
		fmt.Sprintf("--secure-port=%d", c.ports["kube-scheduler"]),
		"--leader-elect=false",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--profiling=false",
	)
}
