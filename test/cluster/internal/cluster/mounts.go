//go:build linux

package cluster

import (
	"fmt"
	"os"
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

// privateMemory are such folders that contain only sockets and mount points.
var privateMemory = []string{"/run/netns", "/run/containerd"}

// mountPrivate gives the node its own folders.
func (c *Cluster) mountPrivate() error {
	for target, name := range privateFolders {
		source := c.file("node/" + name)
		for _, dir := range []string{source, target} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("create the node's folder: %w", err)
			}
		}
		if err := syscall.Mount(source, target, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s over %s: %w", source, target, err)
		}
		// A bind mount joins the peer group of a shared mount; this mount needs its own group.
		if err := syscall.Mount("none", target, "", syscall.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("separate %s: %w", target, err)
		}
		if err := syscall.Mount("none", target, "", syscall.MS_SHARED, ""); err != nil {
			return fmt.Errorf("share %s: %w", target, err)
		}
	}
	for _, target := range privateMemory {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return fmt.Errorf("create the node's folder: %w", err)
		}
		if err := syscall.Mount("tmpfs", target, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("mount memory over %s: %w", target, err)
		}
	}
	return nil
}
