// Package values turns a Darkroom into the values of the Darkroom chart.
//
// The translation is pure: it reads the resource and the operator's options,
// and neither the cluster nor the clock. So the operator, the template command
// and the API server's preview give the same answer, and a test needs no server.
//
// The story starts in translator.go. Each kind of source has a file of its own
// (source_*.go); a new kind is one such file, one entry in sources, one enum
// value and one CEL rule in the API.
//
// The checks of the resource's CEL rules stand here a second time, because
// resources older than a rule exist, and because the template command has no
// API server to ask.
package values
