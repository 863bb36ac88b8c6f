//go:build !linux

package process

import "syscall"

// dieWithParent has no kernel to ask here: children of a killed supervisor
// stay until they are ended by hand. Their ids are in cluster.json.
func dieWithParent(*syscall.SysProcAttr) {}
