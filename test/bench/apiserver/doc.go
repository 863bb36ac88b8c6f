// Command apiserver measures the API server with many Darkrooms and many open streams: how
// long a list of a hundred takes, how long a change takes to reach each stream, how much
// memory the server needs, and whether a stream loses a change. The API server is a
// process of the built binary, with the rights that config/apiserver gives it, before a
// real kube-apiserver; all talk over loopback. It ends with code 1 if a goal is missed.
//
//	go run ./test/bench/apiserver -operator bin/darkroom-operator
//
// The streams are read on the same processors that the servers run on, so the times are
// above what servers with processors of their own would need.
package main
