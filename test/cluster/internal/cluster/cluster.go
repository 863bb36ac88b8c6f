//go:build linux

package cluster

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
)

// NodeKind is the kind of a cluster's node.
type NodeKind string

const (
	// Simulated nodes and pods exist only in the API (kwok).
	Simulated NodeKind = "simulated"
	// Real is one real node on this machine: kubelet, containerd, kube-proxy.
	// It needs root, and there can be only one per machine.
	Real NodeKind = "real"
)

// Cluster describes a cluster.
type Cluster struct {
	// Dir is the cluster's folder, and BinDir the folder of the programs; both are absolute.
	Dir, BinDir string
	// Node is the kind of the only node.
	Node NodeKind

	// ports are the ports on loopback, by the names of their users; the kubelet's port is on nodeIP.
	ports map[string]int
}

const (
	loopback = "127.0.0.1"
	nodeName = "node-1"
	// podCIDR is the network of a real node's pods; its first address belongs to the node.
	podCIDR = "10.85.0.0/16"
	nodeIP  = "10.85.0.1"
	// serviceCIDR is the network of Services; its first address belongs to the API server.
	serviceCIDR = "10.96.0.0/16"
	serviceIP   = "10.96.0.1"
	dnsIP       = "10.96.0.10"
)

// State is cluster.json, the description of a running cluster.
type State struct {
	Node       NodeKind `json:"node"`
	Kubeconfig string   `json:"kubeconfig"`
	// NodeIP is the real node's address. Pods can reach servers that listen on it.
	NodeIP string `json:"nodeIP,omitempty"`
	// Ingress is the URL of a real node's ingress controller.
	Ingress string `json:"ingress,omitempty"`
	// Components are the programs. The process IDs of a real node's programs belong to its own namespace.
	Components []Component `json:"components"`
	ReadyAfter string      `json:"readyAfter"`
}

// Component is a running program.
type Component struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
}

// LoadState reads the description of a running cluster.
func (c *Cluster) LoadState() (State, error) {
	var s State
	data, err := os.ReadFile(c.file("cluster.json"))
	if err != nil {
		return s, fmt.Errorf("read the cluster's description: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read the cluster's description: %w", err)
	}
	return s, nil
}

func (s State) save(path string) error {
	// The file is renamed into place, so that readers never see half a file.
	if err := writeJSON(path+".new", 0o644, s); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// writeJSON writes a configuration file. All programs that read YAML also read JSON.
func writeJSON(path string, mode fs.FileMode, content any) error {
	data, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.WriteFile(path, append(data, '\n'), mode)
}

// file returns the path of a file or folder in the cluster's folder.
func (c *Cluster) file(name string) string { return filepath.Join(c.Dir, filepath.FromSlash(name)) }

func (c *Cluster) certificate(name string) string { return c.file("pki/" + name + ".crt") }
func (c *Cluster) key(name string) string         { return c.file("pki/" + name + ".key") }

// kubeconfig returns the path of the kubeconfig of one of the cluster's programs or of the administrator.
func (c *Cluster) kubeconfig(user string) string {
	if user == admin {
		return c.file("kubeconfig")
	}
	return c.file("config/" + user + ".kubeconfig")
}

// clear removes everything except the logs.
func (c *Cluster) clear() error {
	for _, name := range []string{"kubeconfig", "cluster.json", "pki", "config", "data", "node"} {
		if err := os.RemoveAll(c.file(name)); err != nil {
			return fmt.Errorf("clear the cluster's folder: %w", err)
		}
	}
	return nil
}

// prepare chooses ports, and writes certificates and kubeconfigs.
func (c *Cluster) prepare() error {
	folders := []string{"pki", "config", "data"}
	if c.Node == Real {
		folders = append(folders, "node")
	}
	for _, folder := range folders {
		if err := os.MkdirAll(c.file(folder), 0o755); err != nil {
			return fmt.Errorf("create the cluster's folder: %w", err)
		}
	}
	if err := c.choosePorts("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager",
		"kube-scheduler", "traefik", "kwok",
		"kubelet", "kubelet-health", "kube-proxy-health", "kube-proxy-metrics", "coredns", "coredns-ready"); err != nil {
		return err
	}
	return c.writeCertificates()
}

// Ports are below those that the kernel uses for outgoing connections, which could take a port before its program
// listens.
const (
	lowestPort  = 20000
	highestPort = 29999
)

// choosePorts finds free ports.
func (c *Cluster) choosePorts(users ...string) error {
	c.ports = map[string]int{}
	for range 100 * len(users) {
		user := users[len(c.ports)]
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		listener, err := net.Listen("tcp", c.at(loopback, port))
		if err != nil {
			continue
		}
		// The listeners stay open until all ports are chosen, so that no port is chosen twice.
		defer listener.Close()
		if c.ports[user] = port; len(c.ports) == len(users) {
			return nil
		}
	}
	return fmt.Errorf("no %d free ports between %d and %d", len(users), lowestPort, highestPort)
}

func (c *Cluster) at(address string, port int) string {
	return net.JoinHostPort(address, strconv.Itoa(port))
}

// local returns the address of one of the cluster's programs.
func (c *Cluster) local(user string) string { return c.at(loopback, c.ports[user]) }

func (c *Cluster) ingressURL() string { return "http://" + c.local("traefik") }

// program describes how one of the cluster's programs is run.
func (c *Cluster) program(name string, args ...string) program {
	return program{name: name, path: filepath.Join(c.BinDir, name), args: args}
}

func podBits() int { return netip.MustParsePrefix(podCIDR).Bits() }
