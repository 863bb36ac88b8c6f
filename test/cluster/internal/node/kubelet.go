//go:build linux

package node

import (
	"fmt"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// Kubelet writes the kubelet's configuration and returns its spec.
func (c Config) Kubelet() (process.Spec, error) {
	config := c.file("kubelet.json")
	if err := writeJSON(config, c.kubeletConfig()); err != nil {
		return process.Spec{}, err
	}
	return c.program("kubelet",
		"--config="+config,
		"--kubeconfig="+c.KubeletKubeconfig,
		"--hostname-override="+c.Name,
		"--node-ip="+c.IP,
	), nil
}

func (c Config) kubeletConfig() map[string]any {
	// Nothing is evicted and no image collected: a full disk is the machine
	// owner's business, and a collected image could not be pulled again.
	never := map[string]string{
		"memory.available": "1Mi", "nodefs.available": "0%", "nodefs.inodesFree": "0%",
		"imagefs.available": "0%", "imagefs.inodesFree": "0%",
	}
	return map[string]any{
		"apiVersion":         "kubelet.config.k8s.io/v1beta1",
		"kind":               "KubeletConfiguration",
		"address":            c.IP,
		"port":               c.KubeletPort,
		"healthzBindAddress": "127.0.0.1",
		"healthzPort":        c.KubeletHealthPort,
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": c.ClientCA},
		},
		"authorization":                 map[string]any{"mode": "Webhook"},
		"tlsCertFile":                   c.KubeletCertificate,
		"tlsPrivateKeyFile":             c.KubeletKey,
		"clusterDomain":                 c.ClusterDomain,
		"clusterDNS":                    []string{c.ClusterDNS},
		"containerRuntimeEndpoint":      "unix://" + Containerd(),
		"cgroupDriver":                  "cgroupfs",
		"cgroupRoot":                    cgroup,
		"failSwapOn":                    false,
		"failCgroupV1":                  false,
		"localStorageCapacityIsolation": false,
		"evictionHard":                  never,
		"imageGCHighThresholdPercent":   100,
		"imageGCLowThresholdPercent":    99,
		"imageMinimumGCAge":             "8760h",
		"syncFrequency":                 "10s",
		"nodeStatusUpdateFrequency":     "5s",
		"maxPods":                       250,
	}
}

// KubeProxy writes kube-proxy's configuration and returns its spec.
func (c Config) KubeProxy() (process.Spec, error) {
	config := c.file("kube-proxy.json")
	err := writeJSON(config, map[string]any{
		"apiVersion":         "kubeproxy.config.k8s.io/v1alpha1",
		"kind":               "KubeProxyConfiguration",
		"mode":               "iptables",
		"clientConnection":   map[string]any{"kubeconfig": c.ProxyKubeconfig},
		"hostnameOverride":   c.Name,
		"clusterCIDR":        c.PodCIDR,
		"healthzBindAddress": fmt.Sprintf("127.0.0.1:%d", c.ProxyHealthPort),
		"metricsBindAddress": fmt.Sprintf("127.0.0.1:%d", c.ProxyMetricsPort),
		// NodePorts on the node's address only, not on the machine's.
		"nodePortAddresses": []string{"primary"},
		"iptables": map[string]any{
			// Pods on one bridge answer each other directly, past the rules
			// that would translate the answer back, unless the kernel hands
			// bridged packets to them. Masquerading works everywhere.
			"masqueradeAll":      true,
			"localhostNodePorts": false,
			"minSyncPeriod":      "100ms",
		},
		// Zero leaves the machine's settings alone.
		"conntrack": map[string]any{
			"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s",
		},
	})
	if err != nil {
		return process.Spec{}, err
	}
	return c.program("kube-proxy", "--config="+config), nil
}
