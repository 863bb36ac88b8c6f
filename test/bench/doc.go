// Command bench measures the operator beside the floor: a controller that does no
// more than server-side-apply the same objects and a status, as every
// operator must. They run one after the other in one run, each as a process of its own
// against a new API server without nodes and controllers; so the
// ratios mean something even where the machine is slow or shared.
//
// Burst, CPU and requests are of N Darkrooms created at once; the latencies are
// medians of single changes; the resync is the cost of an unchanged Darkroom each
// time its period has passed. The last step measures installs again, beside Darkrooms of
// other tenants that cannot be installed or deleted.
//
//	go run ./test/bench -n 100 -rounds 3 -operator bin/darkroom-operator
package main
