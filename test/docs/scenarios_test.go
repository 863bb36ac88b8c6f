//go:build e2e

package docs

import (
	"os"
	"testing"
)

// TestScenarios runs the scenarios for a real node. See `make test-docs`.
func TestScenarios(t *testing.T) {
	bin := os.Getenv("BIN_DIR")
	if bin == "" {
		t.Fatal("BIN_DIR is not set: run `make test-docs`")
	}
	Run(t, repository, bin, Node)
}
