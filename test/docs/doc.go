// Package docs runs commands of the documents, as they are written there, in a clean
// checkout and against a cluster of its own: `make test-docs`. It runs those that no other
// test runs.
//
// A scenario (scenarios.go) is an order in which a reader could go through blocks of
// documents: install, use, remove. Its blocks are typed into one shell (shell.go), so
// that a variable set in one is available in the next. A block of the language sh must
// succeed; each command of a console block must print the output that the document shows
// (console.go). Prerequisites that the documents leave to their readers are set up first
// (actions.go, web.go): the image in the cluster, https://example.com/images, bad.yaml.
//
// A block that is not part of a scenario must be listed in notRun with a reason. `make test`
// checks this without a cluster. test/olm runs the scenarios that need a lifecycle manager.
package docs
