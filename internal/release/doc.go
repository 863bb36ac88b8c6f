// Package release installs, upgrades, repairs and uninstalls the Helm release of a Darkroom.
//
// It implements the action client of helm-operator-plugins and keeps Helm's contract. Releases are stored where Helm
// stores them, so `helm ls`, `history`, `get manifest`, `rollback` and `uninstall` work on them, and changes made by
// other Helm clients are noticed. It differs from Helm's own client in these points:
//
//   - Rendering a release needs no request to the cluster (package render). An unchanged
//     chart with unchanged values is not rendered again.
//   - Objects are written by server-side apply, in parallel (apply.go). Each write verifies that the object belongs to
//     the Darkroom (package ownership). Owner references are added when an object is applied and are not part of the
//     stored manifest, which therefore equals the output of `helm template`.
//   - The inventory is the set of objects that the Darkroom owns in the cluster, not Helm's
//     history. Owned objects that are not part of the release are deleted (prune.go).
//   - Drift is detected by comparing the caches with the last applied state of each object
//     (package drift), and repaired by applying only objects that differ (repair.go).
//   - Stored releases are listed from a metadata cache and decoded once (package storage).
//   - A release that an interrupted operator left pending is recovered (interrupted.go).
//   - Nothing is rolled back. A failed upgrade stays visible and is retried with back-off,
//     because the resource is the desired state.
package release
