// Package live caches the Darkrooms, and serves lists and streams of the Darkrooms that a caller may see.
//
// An informer updates the cache (feed.go, darkrooms.go). Callers see the namespaces in their scope (scope.go), as pages
// (page.go) or as a stream (stream.go). Like kubectl get -w, a stream begins with the complete list, followed by each
// change. After a lost connection, clients start again. writer.go implements the format of server-sent events.
package live
