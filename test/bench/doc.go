// Command bench compares the operator with the floor: a controller that only applies the same objects and a status by
// server-side apply, as every operator must. They run one after the other in the same run, each as its own process
// against a new API server without nodes and controllers. So the ratios are meaningful even on a slow or shared
// machine.
//
// Burst, CPU and requests are for N Darkrooms created at once. The latencies are medians of single changes. The resync
// is the cost of an unchanged Darkroom per resync period. The last step measures installs again, next to Darkrooms of
// other tenants that cannot be installed or deleted.
//
//	go run ./test/bench -n 100 -rounds 3 -operator bin/darkroom-operator
package main
