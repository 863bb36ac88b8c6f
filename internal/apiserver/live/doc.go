// Package live has the Darkrooms as they are now, and what each caller may see of them.
//
// An informer feeds the journal (feed.go), which keeps the current Darkrooms and the latest changes of them
// (journal.go). Callers see the namespaces in their scope (scope.go), page by page (page.go) or as a stream of
// live events (stream.go), which is written in the format of server-sent events (writer.go).
package live
