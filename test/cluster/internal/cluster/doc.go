//go:build linux

// Package cluster starts and stops a Kubernetes cluster on this machine.
//
// The story of `cluster up`:
//
//	Up            starts a supervisor and shows its progress    up.go
//	Init          the first process of a real node's namespaces init.go
//	Supervise     the supervisor: owns every program            supervisor.go
//	  prepare     ports, certificates, kubeconfigs              cluster.go, certs.go
//	  programs    how each program is run                       controlplane.go, node.go, containerd.go, kubelet.go, dns.go
//	  wait…       until it can be used                          ready.go
//	Down          ends the supervisor, clears what it left      down.go
//
// A cluster is a folder. Whether it runs is told by a lock that its supervisor holds, not by a
// process id that may have been reused.
package cluster
