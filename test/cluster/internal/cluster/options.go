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
	// Node is the kind of the nodes.
	Node NodeKind `json:"node"`
	// Nodes is how many there are; a real node is alone.
	Nodes int `json:"nodes"`
	// PodCIDR is the network of a real node's pods; its first address is the
	// node's own.
	PodCIDR string `json:"podCIDR"`
	// ServiceCIDR is the network of Services; its first address is the API
	// server's.
	ServiceCIDR string `json:"serviceCIDR"`
}

// Defaults of Options.
const (
	DefaultPodCIDR     = "10.85.0.0/16"
	DefaultServiceCIDR = "10.96.0.0/16"
)

// Check returns an error if the options are invalid.
func (o Options) Check() error {
	switch o.Node {
	case Simulated:
		if o.Nodes < 1 {
			return fmt.Errorf("--nodes must be at least 1, not %d", o.Nodes)
		}
	case Real:
		if o.Nodes != 1 {
			return fmt.Errorf("there is exactly one real node; leave out --nodes or choose --node %s", Simulated)
		}
	default:
		return fmt.Errorf("--node must be %s or %s, not %q", Simulated, Real, o.Node)
	}
	for flag, value := range map[string]string{"--pod-cidr": o.PodCIDR, "--service-cidr": o.ServiceCIDR} {
		prefix, err := netip.ParsePrefix(value)
		if err != nil || !prefix.Addr().Is4() || prefix.Bits() > 24 || prefix != prefix.Masked() {
			return fmt.Errorf("%s must be an IPv4 network of at least 256 addresses, such as 10.85.0.0/16, not %q", flag, value)
		}
	}
	return nil
}

// firstAddress returns the first usable address of a network that Check has
// accepted.
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
