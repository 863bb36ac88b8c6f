// Package apiserver serves Darkrooms over a REST API: what kubectl does to them, in
// the flat bodies that people know, with live events, a preview of what would be
// installed, and images from the running Darkroom.
//
// The story of a request:
//
//  1. It passes the middlewares (handler.go), each in a file of its own whose comment
//     says what it defends against.
//  2. Whose it is follows from its bearer token or session cookie, by TokenReview
//     (identity.go); what the caller may do, by SubjectAccessReview (access.go).
//     Both answers are kept for some seconds.
//  3. Reads are answered from the journal (journal.go), which an informer feeds, or
//     by the server's own ServiceAccount, which can read no Secret and write nothing.
//  4. Writes, and images, carry the caller's own token (callers.go), so that
//     Kubernetes decides, and its audit log names, the person.
//
// Credentials go in and never come out. The informer's transform (feed.go) drops them
// before anything is kept, and the types of the answers (darkroom.go) have no field
// for them. A write that leaves them out keeps those that are there (expand.go).
//
// What each caller may cost is bounded before anything shared is spent: attempts to sign
// in (signin.go), requests and what they hold at one time (authenticate.go, shared.go),
// questions to the cluster (access.go), bodies (decode.go), what is rendered
// (definition.go, render.go). The package limit counts; docs/security.md lists the
// threats, with the test of each.
//
// Errors are problems after RFC 9457 (problem.go), with one entry for each bad field.
// Live events (stream.go) are read from the journal's ring: a client that is too slow
// loses its connection, never an event, because it resumes where it was.
package apiserver
