// Package apiserver serves Darkrooms over a REST API: what kubectl does to them, in
// the flat bodies that people know, with live events, a preview of what would be
// installed, and images from the running Darkroom.
//
// All routes, and what each demands of a request, are in routes.go. The path of a request:
//
//  1. It passes the middlewares (handler.go, package middleware). The comment of each states
//     the threat.
//  2. The caller is authenticated by bearer token or session cookie with a TokenReview
//     and authorized with a SubjectAccessReview (package auth). Both results are cached for
//     some seconds.
//  3. Reads are served from memory (package live), which an informer feeds, or with
//     the server's own ServiceAccount, which cannot read Secrets or write anything.
//  4. A write is authorized once its body is read, by the right that its route declares (admit.go), and names the ETag
//     of what it changes (ifmatch.go, package wire).
//  5. Writes and images use the caller's own token (package auth), so that they are subject
//     to the caller's RBAC and recorded under the caller's name in the audit log.
//
// A review asks the cluster before a change is saved (review.go); package outcome decides what will
// happen. Credentials are stored in new Secrets (secrets.go) with the caller's own token.
//
// Credentials are write-only. The informer's transform (live/feed.go) removes them before a
// Darkroom is cached, and the bodies of responses (package wire) have no fields for them. A
// write that omits them keeps the existing ones.
//
// Limits apply per caller (package limit): requests, renderings and the places of all kinds of
// requests are one table (limits.go); sign-in attempts and requests to the cluster are in package
// auth, the size of bodies in routes.go. docs/security.md lists the threats, with the test of each.
//
// Package reply contains the responses of the handlers. Errors are problem details by RFC 9457
// (package problem), with one entry for each invalid field. Live events (live/stream.go) begin
// with all there is. A client that is too slow loses its connection, and begins again.
package apiserver
