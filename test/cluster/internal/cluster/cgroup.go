//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
)

// cgroupRoots returns the roots of the control group hierarchies: one under
// version 2, one per controller under version 1.
func cgroupRoots() ([]string, error) {
	mounts, err := procfs.GetMounts()
	if err != nil {
		return nil, fmt.Errorf("find the control groups: %w", err)
	}
	var roots []string
	for _, mount := range mounts {
		if mount.FSType == "cgroup" || mount.FSType == "cgroup2" {
			roots = append(roots, mount.MountPoint)
		}
	}
	return roots, nil
}

// makeCgroup creates the parent of the pods' control groups.
func makeCgroup() error {
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	for _, root := range roots {
		enableControllers(root)
		if err := os.MkdirAll(filepath.Join(root, mark), 0o755); err != nil {
			return fmt.Errorf("create the pods' control group: %w", err)
		}
	}
	return nil
}

// enableControllers enables all controllers for the groups below root, which
// only version 2 requires. It ignores errors, because the kubelet reports missing controllers.
func enableControllers(root string) {
	controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	if err != nil {
		return
	}
	for _, controller := range strings.Fields(string(controllers)) {
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
	}
}

// removeCgroup removes the pods' control groups, which must not contain processes any more.
func removeCgroup() error {
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	var errs []error
	for _, root := range roots {
		group := filepath.Join(root, mark)
		if _, err := os.Stat(group); err == nil {
			// Children first. The files of a group cannot be removed, and do not have to be.
			errs = append(errs, runTool("find", group, "-depth", "-type", "d", "-delete"))
		}
	}
	return errors.Join(errs...)
}
