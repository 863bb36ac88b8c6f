// Package docs runs every command of the documents, as it is written there, in a clean
// checkout and against a cluster of its own: `make test-docs`.
//
// A story (stories.go) is an order in which a reader could go through blocks of
// documents: install, use, remove. Its blocks are typed into one shell (shell.go), so
// that a variable set in one is there in the next. A block of the language sh must
// succeed; of a console block each command must answer what the document shows
// (console.go). What documents leave to their readers is made true beforehand
// (settings.go): the image in the cluster, https://example.com/images, bad.yaml.
//
// A block that is in no story must stand in notRun with a reason; the test of that needs
// no cluster and belongs to `make test`. The stories of the lifecycle managers are told
// by test/olm, which can start those.
package docs
