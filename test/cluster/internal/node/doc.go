// Package node runs a real Kubernetes node on this Linux machine: kubelet,
// containerd, kube-proxy and a bridge for the pods.
//
// Everything runs in a PID and a mount namespace of its own (init.go). So
// whatever ends the cluster, even a SIGKILL, ends every container with it, and
// every mount goes too. The folders that Kubernetes insists on, such as
// /var/lib/kubelet, are the cluster's own inside (mounts.go). Only what lives
// in the network namespace, which the node shares with the machine so that
// tests can reach pods, needs clearing: the bridge, packet filter rules,
// settings of the kernel, and control groups (sweep.go). What they were before
// is recorded first (record.go).
package node
