//go:build linux

// Package cluster starts and stops a Kubernetes cluster on this machine.
//
// The steps of `cluster exec`:
//
//	Start         starts a supervisor and shows its progress    start.go
//	Init          the first process of a real node's namespaces init.go
//	Supervise     the supervisor: owns every program            supervisor.go
//	  prepare     ports, certificates, kubeconfigs              cluster.go, certs.go
//	  programs    how each program is run                       controlplane.go, node.go, containerd.go, kubelet.go, dns.go
//	  wait…       until it can be used                          ready.go
//	stop          ends the supervisor, clears what it left      start.go
//
// A cluster is a folder, and ends with the process that started it.
package cluster
