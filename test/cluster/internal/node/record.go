//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// record is the state of the machine before the node started: enough to undo
// it. It is kept in RunDir, which is empty after a reboot, as the changes are.
type record struct {
	// Settings are kernel settings, by their path under /proc/sys.
	Settings map[string]string `json:"settings"`
	// Folders did not exist.
	Folders []string `json:"folders"`
	// Chains of the packet filter that existed, as "command table chain".
	Chains []string `json:"chains"`
}

func recordPath() string { return filepath.Join(RunDir, "machine.json") }

// settings are those that the kubelet, kube-proxy and the pods' network set.
var settings = []string{
	"kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
	"vm/overcommit_memory", "vm/panic_on_oom",
	"net/ipv4/ip_forward", "net/ipv4/conf/all/route_localnet", "net/ipv6/conf/all/forwarding",
	"net/bridge/bridge-nf-call-iptables", "net/bridge/bridge-nf-call-ip6tables",
}

func settingPath(setting string) string { return filepath.Join("/proc/sys", setting) }

// takeRecord describes the machine and writes it down.
func takeRecord() error {
	r := record{Settings: map[string]string{}, Folders: missingFolders()}
	for _, setting := range settings {
		value, err := os.ReadFile(settingPath(setting))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without it
		}
		if err != nil {
			return fmt.Errorf("record the machine's settings: %w", err)
		}
		r.Settings[setting] = strings.TrimSpace(string(value))
	}
	for _, f := range filters {
		rules, err := save(f + "-save")
		if err != nil {
			return err
		}
		r.Chains = append(r.Chains, chainsOf(f, rules)...)
	}
	return writeJSON(recordPath(), r)
}

// loadRecord returns nil if there is none.
func loadRecord() (*record, error) {
	data, err := os.ReadFile(recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the machine was like: %w", err)
	}
	r := &record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", recordPath(), err)
	}
	return r, nil
}
