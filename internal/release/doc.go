// Package release installs, upgrades, repairs and uninstalls the Helm release of
// a Darkroom.
//
// It implements the action client of helm-operator-plugins and keeps Helm's
// contract: releases are stored where Helm stores them, so `helm ls`, `history`,
// `get manifest`, `rollback` and `uninstall` work on them, and what somebody did
// by hand is noticed. Inside it differs from Helm's own client:
//
//   - A release is rendered without asking the cluster anything (render.go). An
//     unchanged chart with unchanged values is not rendered a second time.
//   - Objects are written by server-side apply, in parallel (apply.go). Owner
//     references are added on the way and are not part of the stored manifest,
//     which therefore equals the output of `helm template`.
//   - Drift is judged by comparing the caches with what was last applied, object
//     by object (drift.go), and repaired by applying only what differs.
//   - Stored releases are listed from a metadata cache and decoded once (store.go).
//   - A release that an interrupted operator left pending is recovered (client.go).
//   - Nothing is rolled back: a failed upgrade stays visible and is tried again
//     with back-off, because the resource says what is wanted.
package release
