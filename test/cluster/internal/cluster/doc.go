// Package cluster starts and stops a Kubernetes cluster on this machine.
//
// The story of `cluster up`:
//
//	Up            forks a supervisor and shows its progress      up.go
//	Supervise     the supervisor: owns every program             supervisor.go
//	  newPlan     ports, certificates, kubeconfigs               plan.go, ports.go, kubeconfig.go
//	  controlPlane, nodes, ingress    how each program is run    controlplane.go, kwok.go, realnode_linux.go, ingress.go
//	  bootstrap   what the API server must be told               bootstrap.go
//	  wait…       until it can be used                           ready.go
//	Down          ends the supervisor, clears what it left       down.go
//
// A cluster is a folder (Layout). Whether it runs is told by a lock that its
// supervisor holds, not by a process id that may have been reused.
package cluster
