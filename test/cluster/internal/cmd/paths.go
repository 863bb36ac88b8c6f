package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// ownDir finds the folder test/cluster of the repository, which the program is built into.
func ownDir() (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "test", "cluster")
	if _, err := os.Stat(filepath.Join(dir, "programs", "go.mod")); err != nil {
		return "", fmt.Errorf("find test/cluster beside the folder of this program, bin: %w", err)
	}
	return dir, nil
}

// repository returns the folder of the repository: the program is in its folder bin.
func repository() (string, error) {
	file, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(file)), nil
}

// absolute makes path absolute; an empty one means fallback inside the
// repository.
func absolute(path string, fallback ...string) (string, error) {
	if path == "" {
		root, err := repository()
		if err != nil {
			return "", err
		}
		return filepath.Join(append([]string{root}, fallback...)...), nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	return abs, nil
}

// release is a version of Kubernetes.
var release = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+$`)

// binDir is the folder of the programs.
func binDir() (string, error) {
	if version := os.Getenv("KUBERNETES"); version != "" {
		if !release.MatchString(version) {
			return "", fmt.Errorf("KUBERNETES=%s: must be a version such as v1.30.14", version)
		}
		return absolute("", "bin", "k8s-"+version)
	}
	return absolute("", "bin", "k8s")
}

// clusterDir is the folder of the cluster.
func clusterDir(flag string) (string, error) { return absolute(flag, ".cluster") }
