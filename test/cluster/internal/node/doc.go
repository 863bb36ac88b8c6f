// Package node runs a real Kubernetes node on this Linux machine: kubelet,
// containerd, kube-proxy and a bridge for the pods.
//
// Everything runs in its own PID and mount namespaces (init.go). When the
// cluster ends, even by SIGKILL, all its containers and mounts disappear with
// it. Folders with fixed paths, such as /var/lib/kubelet, are private to the
// cluster (mounts.go). The network namespace is shared with the machine, so
// that tests can reach pods. Only changes outside of the private namespaces
// have to be undone: the bridge, packet filter rules, kernel settings and
// control groups (sweep.go). The previous state is recorded first (record.go).
package node
