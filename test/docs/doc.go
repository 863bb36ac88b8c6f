// Package docs runs commands from the documents exactly as written, in a clean checkout and against its own cluster:
// `make test-docs`. It covers commands that no other test runs.
//
// A scenario (scenarios.go) is an order in which a reader could go through blocks of documents: install, use, remove.
// Its blocks are typed into one shell (shell.go), so that a variable set in one block is available in the next. A block
// in the language sh must succeed. Each command in a console block must print the documented output (console.go).
// Prerequisites that the documents leave to readers are set up first (actions.go, web.go): the image in the cluster,
// https://example.com/images, and bad.yaml.
//
// A block that is not part of a scenario must be listed in notRun with a reason. `make test`
// checks this without a cluster. test/olm runs the scenarios that need a lifecycle manager.
package docs
