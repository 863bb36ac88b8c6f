//go:build e2e

package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestScenarios runs the scenarios for a real node. See `make test-docs`.
func TestScenarios(t *testing.T) {
	bin := os.Getenv("BIN_DIR")
	if bin == "" {
		t.Fatal("BIN_DIR is not set: run `make test-docs`")
	}
	checkout := filepath.Join(t.TempDir(), "darkroom-operator")
	if err := Checkout(t.Context(), repository, bin, checkout); err != nil {
		t.Fatal(err)
	}
	environment, err := NewEnvironment(checkout, bin)
	if err != nil {
		t.Fatal(err)
	}
	if err := environment.ServeExample(t.Context(), nodeAddress(t)); err != nil {
		t.Fatal(err)
	}
	for _, scenario := range Scenarios {
		if scenario.Setting == Node {
			t.Run(scenario.Name, func(t *testing.T) { environment.Run(t, scenario) })
		}
	}
}

func nodeAddress(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("CLUSTER_DIR"), "cluster.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		NodeIP string `json:"nodeIP"`
	}
	if err := json.Unmarshal(text, &state); err != nil || state.NodeIP == "" {
		t.Fatalf("the cluster has no nodeIP: is its node real? (%v)", err)
	}
	return state.NodeIP
}
