//go:build linux

package cluster

// kubelet writes the kubelet's configuration.
func (c *Cluster) kubelet() (program, error) {
	config := c.file("config/kubelet.json")
	if err := writeJSON(config, 0o644, c.kubeletConfig()); err != nil {
		return program{}, err
	}
	return c.program("kubelet",
		"--config="+config,
		"--kubeconfig="+c.kubeconfig("kubelet"),
		"--hostname-override="+nodeName,
		"--node-ip="+nodeIP,
	), nil
}

func (c *Cluster) kubeletConfig() map[string]any {
	// Nothing is evicted and no image is collected: a full disk is the responsibility of the machine's owner, and a
	// collected image could not be pulled again.
	never := map[string]string{
		"memory.available": "1Mi", "nodefs.available": "0%", "nodefs.inodesFree": "0%",
		"imagefs.available": "0%", "imagefs.inodesFree": "0%",
	}
	return map[string]any{
		"apiVersion":         "kubelet.config.k8s.io/v1beta1",
		"kind":               "KubeletConfiguration",
		"address":            nodeIP,
		"port":               c.ports["kubelet"],
		"healthzBindAddress": "127.0.0.1",
		"healthzPort":        c.ports["kubelet-health"],
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": c.certificate(authority)},
		},
		"authorization":                 map[string]any{"mode": "Webhook"},
		"tlsCertFile":                   c.certificate("kubelet-server"),
		"tlsPrivateKeyFile":             c.key("kubelet-server"),
		"clusterDomain":                 clusterDomain,
		"clusterDNS":                    []string{dnsIP},
		"containerRuntimeEndpoint":      "unix://" + containerdSocket,
		"cgroupDriver":                  "cgroupfs",
		"cgroupRoot":                    "/" + mark,
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

// kubeProxy writes kube-proxy's configuration.
func (c *Cluster) kubeProxy() (program, error) {
	config := c.file("config/kube-proxy.json")
	err := writeJSON(config, 0o644, map[string]any{
		"apiVersion":         "kubeproxy.config.k8s.io/v1alpha1",
		"kind":               "KubeProxyConfiguration",
		"mode":               "iptables",
		"clientConnection":   map[string]any{"kubeconfig": c.kubeconfig("kube-proxy")},
		"hostnameOverride":   nodeName,
		"clusterCIDR":        podCIDR,
		"healthzBindAddress": c.local("kube-proxy-health"),
		"metricsBindAddress": c.local("kube-proxy-metrics"),
		// NodePorts are opened only on the node's address, not on the machine's other addresses.
		"nodePortAddresses": []string{"primary"},
		"iptables": map[string]any{
			// Pods on one bridge respond to each other directly, bypassing the rules that would translate the response
			// back, unless the kernel passes bridged packets to these rules. Masquerading works in all cases.
			"masqueradeAll":      true,
			"localhostNodePorts": false,
			"minSyncPeriod":      "100ms",
		},
		// Zero leaves the machine's settings unchanged.
		"conntrack": map[string]any{
			"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s",
		},
	})
	if err != nil {
		return program{}, err
	}
	return c.program("kube-proxy", "--config="+config), nil
}
