// Package process starts and stops the programs of a cluster.
//
// A started program dies with this one, whatever ends it: on Linux the kernel
// is asked to kill it (see attributes_linux.go). Its output goes to a log file
// of its own, whose tail explains a program that ended too early.
package process
