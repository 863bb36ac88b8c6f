// Package process starts and stops the programs of a cluster.
//
// A started program ends with this one, even if this one is killed: on Linux the
// kernel then kills it (see attributes_linux.go). Its output goes to a log file
// of its own, whose tail is part of the error if the program ends too early.
package process
