//go:build linux

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// privateFolders are folders that Kubernetes and containerd use regardless of
// their configured folders. In the node's mount namespace they are folders of
// the cluster, with the names given here.
var privateFolders = map[string]string{
	"/var/lib/kubelet":    "kubelet",
	"/var/lib/cni":        "cni",
	"/var/log/pods":       "log-pods",
	"/var/log/containers": "log-containers",
}

// privateMemory are such folders that hold only sockets and mount points.
var privateMemory = []string{"/run/netns", "/run/containerd"}

// missingFolders returns the mount points that do not exist yet.
func missingFolders() []string {
	var missing []string
	check := func(path string) {
		// The parent too, if it is missing: it is made and removed with it.
		for _, path := range []string{filepath.Dir(path), path} {
			if _, err := os.Stat(path); os.IsNotExist(err) {
				missing = append(missing, path)
			}
		}
	}
	for path := range privateFolders {
		check(path)
	}
	for _, path := range privateMemory {
		check(path)
	}
	return missing
}

// mountPrivate gives the node folders of its own.
func (c Config) mountPrivate() error {
	for target, name := range privateFolders {
		source := c.file(name)
		for _, dir := range []string{source, target} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make the node's folder: %w", err)
			}
		}
		if err := syscall.Mount(source, target, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s over %s: %w", source, target, err)
		}
		// A bind mount joins the peer group of a shared mount; this one needs
		// a group of its own.
		if err := syscall.Mount("none", target, "", syscall.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("separate %s: %w", target, err)
		}
		if err := syscall.Mount("none", target, "", syscall.MS_SHARED, ""); err != nil {
			return fmt.Errorf("share %s: %w", target, err)
		}
	}
	for _, target := range privateMemory {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return fmt.Errorf("make the node's folder: %w", err)
		}
		if err := syscall.Mount("tmpfs", target, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("mount memory over %s: %w", target, err)
		}
	}
	return nil
}
