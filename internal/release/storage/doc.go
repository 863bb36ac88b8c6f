// Package storage keeps the releases of Darkrooms where Helm keeps them: each revision in
// a Secret of the release's namespace, in the format of Helm's driver, so that `helm ls`,
// `history`, `get manifest`, `rollback` and `uninstall` work on them.
//
// Only revisions that belong to the Darkroom are read, pruned and deleted; package
// ownership defines which those are. Foreign revisions of the same name make every access
// fail with a *ForeignError before anything is written (store.go), unless the Darkroom
// adopts them (adopt.go).
package storage
