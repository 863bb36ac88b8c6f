package cluster

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
)

// NodeKind is the kind of the cluster's nodes.
type NodeKind string

const (
	// Simulated nodes and pods exist only in the API (kwok).
	Simulated NodeKind = "simulated"
	// Real is one real node on this machine: kubelet, containerd, kube-proxy.
	// It needs root, and there can be only one per machine.
	Real NodeKind = "real"
)

// Options of a cluster.
type Options struct {
	// Dir is the cluster's folder, absolute.
	Dir string `json:"dir"`
	// BinDir is the folder of the programs, absolute.
	BinDir string `json:"binDir"`
	// Node is the kind of the one node.
	Node NodeKind `json:"node"`
}

const (
	// podCIDR is the network of a real node's pods; its first address is the node's own.
	podCIDR = "10.85.0.0/16"
	// serviceCIDR is the network of Services; its first address is the API server's.
	serviceCIDR = "10.96.0.0/16"
)

// Check returns an error if the options are invalid.
func (o Options) Check() error {
	if o.Node != Simulated && o.Node != Real {
		return fmt.Errorf("--node must be %s or %s, not %q", Simulated, Real, o.Node)
	}
	return nil
}

// firstAddress returns the first usable address of a network.
func firstAddress(cidr string) string {
	return netip.MustParsePrefix(cidr).Addr().Next().String()
}

func (o Options) save(path string) error {
	data, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

func loadOptions(path string) (Options, error) {
	var o Options
	data, err := os.ReadFile(path)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("read %s: %w", path, err)
	}
	return o, nil
}
