//go:build linux

package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

const (
	// Bridge is the network interface that the pods are connected to.
	Bridge = "dkrm0"
	// RunDir is where sockets are. It is short because the path of a Unix
	// socket may have only 107 bytes.
	RunDir = "/run/darkroom-cluster"
	// PauseImage is the image of every pod's sandbox.
	PauseImage = "registry.k8s.io/pause:3.6"
	// cgroup is the parent control group of all pods.
	cgroup = "/darkroom-cluster"
	// name marks packet filter rules and the pods' network.
	name = "darkroom-cluster"
)

// Config is the configuration of the node.
type Config struct {
	// Name of the node.
	Name string
	// IP is the node's own address: the first of PodCIDR, on the bridge.
	IP, PodCIDR string
	// Dir is the node's folder.
	Dir string
	// BinDir and LogDir are the folders of the programs and their logs.
	BinDir, LogDir string
	// Kubeconfigs of the kubelet and of kube-proxy.
	KubeletKubeconfig, ProxyKubeconfig string
	// ClientCA is the authority of those who may call the kubelet, whose own
	// certificate is KubeletCertificate.
	ClientCA, KubeletCertificate, KubeletKey string
	// ClusterDomain is the suffix of the names of Services, and ClusterDNS the address
	// that pods ask for them.
	ClusterDomain, ClusterDNS string
	// Ports: the kubelet's is on the node's address, the others on loopback.
	KubeletPort, KubeletHealthPort, ProxyHealthPort, ProxyMetricsPort int
}

// Containerd returns the address of the node's containerd.
func Containerd() string { return filepath.Join(RunDir, "containerd.sock") }

func (c Config) file(name string) string { return filepath.Join(c.Dir, name) }

func (c Config) program(name string, args ...string) process.Spec {
	return process.Spec{Name: name, Path: filepath.Join(c.BinDir, name), Args: args, LogDir: c.LogDir}
}

// writeJSON writes a configuration file. Everything that reads YAML reads
// JSON.
func writeJSON(path string, content any) error {
	data, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
