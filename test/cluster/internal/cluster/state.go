package cluster

import (
	"encoding/json"
	"fmt"
	"os"
)

// State describes a running cluster. It is written to cluster.json.
type State struct {
	Node       NodeKind `json:"node"`
	Kubeconfig string   `json:"kubeconfig"`
	BinDir     string   `json:"binDir"`
	// NodeIP is the real node's address. Pods can reach servers that listen on it.
	NodeIP string `json:"nodeIP,omitempty"`
	// Ingress is the URL of a real node's ingress controller.
	Ingress string `json:"ingress,omitempty"`
	// Supervisor is the process that owns all others.
	Supervisor int         `json:"supervisorPID"`
	Components []Component `json:"components"`
	ReadyAfter string      `json:"readyAfter"`
}

// Component is one program of a running cluster.
type Component struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	Log  string `json:"log"`
}

func (s State) save(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("describe the cluster: %w", err)
	}
	// Renamed into place: readers never see half a file.
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("describe the cluster: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("describe the cluster: %w", err)
	}
	return nil
}

// LoadState reads the description of the cluster in dir. The error is
// fs.ErrNotExist when there is none.
func LoadState(dir string) (State, error) {
	var s State
	path := Layout{dir}.State()
	data, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("read the cluster's description: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

// Running reports whether the cluster in dir has a supervisor.
func Running(dir string) (bool, error) {
	return isLocked(Layout{dir}.lock())
}
