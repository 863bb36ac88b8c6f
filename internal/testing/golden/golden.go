// Package golden compares results of tests with golden files, which the flag -update rewrites.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Check fails the test if the content differs from a golden file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // tests choose their files
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	expect.Equal(t, file+", which go test -update rewrites", string(want), got)
}

// CheckNoneIsLeft fails the test if a folder contains other files.
func CheckNoneIsLeft(t testing.TB, folder string, want []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(want, file) {
			t.Errorf("%s belongs to no case", file)
		}
	}
}
