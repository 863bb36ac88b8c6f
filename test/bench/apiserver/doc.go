// Command apiserver measures the API server with many Darkrooms and many open streams: the duration of a list of a
// hundred, the time until a change reaches each stream, the memory of the server, and whether a stream loses a change.
// The API server is a process of the built binary with the permissions in config/apiserver. It uses a real
// kube-apiserver; all traffic is on loopback. The exit code is 1 if a goal is missed.
//
//	go run ./test/bench/apiserver -operator bin/darkroom-operator
//
// The streams are read on the same processors that run the servers, so the times are longer than on dedicated
// processors.
package main
