// Package apiserver serves Darkrooms over a REST API: reads and writes with flat bodies, live
// events, previews of manifests, and images from the running Darkroom.
//
// All routes and their requirements are in routes.go. The path of a request:
//
//  1. It passes the middlewares (handler.go, package middleware). The comment of each middleware describes the threat.
//  2. The caller is authenticated by bearer token or session cookie with a TokenReview
//     and authorized with a SubjectAccessReview (package auth). Both results are cached for
//     some seconds.
//  3. Reads are served from a cache, which an informer feeds (package live), or with
//     the server's own ServiceAccount, which cannot read Secrets or write anything.
//  4. A change (update.go) requires the ETag of the version that it changes (ifmatch.go, package wire); a deletion
//     (delete.go) may have one, and a new Darkroom (create.go) has none. A write is authorized once its body is read,
//     by the permission that its route declares (admit.go).
//  5. Writes and images use the caller's own token (package auth), so that they are subject
//     to the caller's RBAC and recorded under the caller's name in the audit log.
//
// A review checks a change before it is saved (review.go); package outcome predicts the
// result. Credentials are stored in new Secrets (secrets.go) with the caller's own token.
//
// Credentials are write-only. The informer's transform (live/feed.go) removes them before a
// Darkroom is cached, and the bodies of responses (package wire) have no fields for them. A
// write that omits them keeps the existing ones.
//
// Limits apply per caller. limit/callers.go lists the limits of requests and renderings;
// package auth contains the limits of sign-in attempts and of requests to the cluster, and
// routes.go the sizes of bodies. docs/security.md lists the threats and the test of each.
//
// Package reply contains the responses of the handlers. Errors are problem details by RFC 9457
// (package problem), with one entry for each invalid field. A stream of live events
// (live/stream.go) begins with the complete list. A client that reads too slowly is
// disconnected, and starts again.
package apiserver
