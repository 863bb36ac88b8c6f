package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// Layout names the files in a cluster's folder.
type Layout struct{ Dir string }

// Kubeconfig is the administrator's.
func (l Layout) Kubeconfig() string { return filepath.Join(l.Dir, "kubeconfig") }

// State is the description of the running cluster, for programs.
func (l Layout) State() string { return filepath.Join(l.Dir, "cluster.json") }

// Logs is the folder of the programs' logs.
func (l Layout) Logs() string { return filepath.Join(l.Dir, "logs") }

func (l Layout) lock() string          { return filepath.Join(l.Dir, "lock") }
func (l Layout) starting() string      { return filepath.Join(l.Dir, "starting") }
func (l Layout) options() string       { return filepath.Join(l.Dir, "options.json") }
func (l Layout) supervisorPID() string { return filepath.Join(l.Dir, "supervisor.pid") }
func (l Layout) pki() string           { return filepath.Join(l.Dir, "pki") }
func (l Layout) config() string        { return filepath.Join(l.Dir, "config") }
func (l Layout) data() string          { return filepath.Join(l.Dir, "data") }
func (l Layout) node() string          { return filepath.Join(l.Dir, "node") }

func (l Layout) certificate(name string) string { return filepath.Join(l.pki(), name+".crt") }
func (l Layout) key(name string) string         { return filepath.Join(l.pki(), name+".key") }
func (l Layout) configFile(name string) string  { return filepath.Join(l.config(), name) }

// make makes the folders of a new cluster.
func (l Layout) make() error {
	for _, dir := range []string{l.Dir, l.Logs(), l.pki(), l.config(), l.data()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the cluster's folder: %w", err)
		}
	}
	return nil
}

// clear removes what an earlier cluster left. The locks stay: a removed lock
// could be taken twice. The logs stay unless they are named too.
func (l Layout) clear(logsToo bool) error {
	gone := []string{l.Kubeconfig(), l.State(), l.options(), l.supervisorPID(), l.pki(), l.config(), l.data(), l.node()}
	if logsToo {
		gone = append(gone, l.Logs())
	}
	for _, path := range gone {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("clear the cluster's folder: %w", err)
		}
	}
	return nil
}
