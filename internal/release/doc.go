// Package release installs, upgrades, repairs and uninstalls the Helm release of a
// Darkroom.
//
// It implements the action client of helm-operator-plugins and keeps Helm's contract:
// releases are stored where Helm stores them, so `helm ls`, `history`, `get manifest`,
// `rollback` and `uninstall` work on them, and changes made by other Helm clients are
// noticed. Inside it differs from Helm's own client:
//
//   - A release is rendered without a request to the cluster (package render). An
//     unchanged chart with unchanged values is not rendered again.
//   - Objects are written by server-side apply, in parallel (apply.go). Each write proves
//     that the object is the Darkroom's (package ownership). Owner references are added
//     when an object is applied and are not part of the stored manifest, which therefore
//     equals the output of `helm template`.
//   - What the Darkroom owns in the cluster is the inventory, not Helm's history: objects
//     that it owns and its release does not contain are deleted (surplus.go).
//   - Drift is judged by comparing the caches with what was last applied, object by object
//     (package drift), and repaired by applying only what differs (repair.go).
//   - Stored releases are listed from a metadata cache and decoded once (package storage).
//   - A release that an interrupted operator left pending is recovered (install.go).
//   - Nothing is rolled back: a failed upgrade stays visible and is retried with back-off,
//     because the resource is the desired state.
package release
