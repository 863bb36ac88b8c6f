//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cgroupRoots returns the roots of the control group hierarchies: one under
// version 2, one per controller under version 1.
func cgroupRoots() ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find the control groups: %w", err)
	}
	return cgroupMounts(string(data)), nil
}

// cgroupMounts finds the mount points of control groups in the text of a
// mountinfo file.
func cgroupMounts(mountinfo string) []string {
	var roots []string
	for line := range strings.Lines(mountinfo) {
		mount, fstype, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if len(fields) > 4 && (strings.HasPrefix(fstype, "cgroup ") || strings.HasPrefix(fstype, "cgroup2 ")) {
			roots = append(roots, fields[4])
		}
	}
	return roots
}

// makeCgroup makes the parent of the pods' control groups.
func makeCgroup() error {
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	for _, root := range roots {
		enableControllers(root)
		if err := os.MkdirAll(filepath.Join(root, mark), 0o755); err != nil {
			return fmt.Errorf("make the pods' control group: %w", err)
		}
	}
	return nil
}

// enableControllers enables all controllers for the groups below root, which
// only version 2 requires. It ignores errors, because the kubelet reports the
// controllers that are missing.
func enableControllers(root string) {
	controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	if err != nil {
		return
	}
	for _, controller := range strings.Fields(string(controllers)) {
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
	}
}

// removeCgroup removes the pods' control groups, which must have no process
// any more.
func removeCgroup() error {
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	var errs []error
	for _, root := range roots {
		var groups []string
		err := filepath.WalkDir(filepath.Join(root, mark), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				groups = append(groups, path)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		// Children first.
		for _, group := range slices.Backward(groups) {
			if err := os.Remove(group); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("remove control group: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}
