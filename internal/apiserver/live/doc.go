// Package live has the Darkrooms as they are now, and what each caller may see of them.
//
// An informer feeds them (feed.go, darkrooms.go). Callers see the namespaces in their scope (scope.go), page by page
// (page.go) or as a stream (stream.go): all there is, then each change, as kubectl get -w. A client that lost its stream
// begins again. Events are written in the format of server-sent events (writer.go).
package live
