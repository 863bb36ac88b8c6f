package cluster

import (
	"fmt"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

const loopback = "127.0.0.1"

// etcd keeps its data on disk but does not wait for the disk: a cluster that
// lost power is not worth keeping.
func (p *plan) etcd() process.Spec {
	client := fmt.Sprintf("https://%s:%d", loopback, p.ports.etcd)
	peer := fmt.Sprintf("http://%s:%d", loopback, p.ports.etcdPeer)
	return p.program("etcd",
		"--name=default",
		"--data-dir="+p.layout.data(),
		"--unsafe-no-fsync",
		"--listen-client-urls="+client,
		"--advertise-client-urls="+client,
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster=default="+peer,
		"--client-cert-auth",
		"--trusted-ca-file="+p.layout.certificate(certs.EtcdCA),
		"--cert-file="+p.layout.certificate(certs.Etcd),
		"--key-file="+p.layout.key(certs.Etcd),
		"--log-level=warn",
	)
}

func (p *plan) apiServer() process.Spec {
	args := []string{
		"--bind-address=" + loopback,
		fmt.Sprintf("--secure-port=%d", p.ports.apiServer),
		fmt.Sprintf("--etcd-servers=https://%s:%d", loopback, p.ports.etcd),
		"--etcd-cafile=" + p.layout.certificate(certs.EtcdCA),
		"--etcd-certfile=" + p.layout.certificate(certs.EtcdClient),
		"--etcd-keyfile=" + p.layout.key(certs.EtcdClient),
		"--service-cluster-ip-range=" + serviceCIDR,
		"--allow-privileged=true",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--client-ca-file=" + p.layout.certificate(certs.CA),
		"--tls-cert-file=" + p.layout.certificate(certs.APIServer),
		"--tls-private-key-file=" + p.layout.key(certs.APIServer),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + p.pkiFile(certs.ServiceAccountPub),
		"--service-account-signing-key-file=" + p.pkiFile(certs.ServiceAccountKey),
		"--requestheader-client-ca-file=" + p.layout.certificate(certs.FrontProxyCA),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + p.layout.certificate(certs.FrontProxyClient),
		"--proxy-client-key-file=" + p.layout.key(certs.FrontProxyClient),
		"--kubelet-certificate-authority=" + p.layout.certificate(certs.CA),
		"--kubelet-client-certificate=" + p.layout.certificate(certs.KubeletClient),
		"--kubelet-client-key=" + p.layout.key(certs.KubeletClient),
		"--kubelet-preferred-address-types=InternalIP",
		"--profiling=false",
	}
	if p.options.Node == Real {
		// Pods reach the API server through the node's address (forward.go).
		args = append(args, "--advertise-address="+p.nodeIP())
	} else {
		// The Service "kubernetes" has no endpoints, because they may not be
		// loopback addresses.
		args = append(args, "--advertise-address="+loopback, "--endpoint-reconciler-type=none")
	}
	return p.program("kube-apiserver", args...)
}

func (p *plan) controllerManager() process.Spec {
	kubeconfig := p.kubeconfig(certs.ControllerManager)
	return p.program("kube-controller-manager",
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address="+loopback,
		fmt.Sprintf("--secure-port=%d", p.ports.controllerManager),
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+p.pkiFile(certs.ServiceAccountKey),
		"--root-ca-file="+p.layout.certificate(certs.CA),
		"--cluster-signing-cert-file="+p.layout.certificate(certs.CA),
		"--cluster-signing-key-file="+p.layout.key(certs.CA),
		// The default of 20 requests a second is made for large shared
		// clusters; here it only makes tests slower.
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--profiling=false",
	)
}

func (p *plan) scheduler() process.Spec {
	kubeconfig := p.kubeconfig(certs.Scheduler)
	return p.program("kube-scheduler",
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address="+loopback,
		fmt.Sprintf("--secure-port=%d", p.ports.scheduler),
		"--leader-elect=false",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--profiling=false",
	)
}
