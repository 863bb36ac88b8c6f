package storage_test

import (
	"errors"
	"testing"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"

	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// TestWhoseAReleaseIsDependsOnAllItsRevisions has each set of owners of the revisions of one name.
func TestWhoseAReleaseIsDependsOnAllItsRevisions(t *testing.T) {
	const ours, helms, predecessors, all = 1, 2, 4, 8
	for owners := range all {
		d, store := newDarkroom(t)
		predecessor := d.DeepCopy()
		predecessor.UID = "uid-0"
		if owners&ours != 0 {
			mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusDeployed))
		}
		if owners&helms != 0 {
			byHand(t, revisionOf(d, 2, helmrelease.StatusDeployed))
		}
		if owners&predecessors != 0 {
			mustCreate(t, revisions(predecessor), revisionOf(d, 3, helmrelease.StatusDeployed))
		}
		var want error
		switch {
		case owners&helms != 0:
			want = storage.ErrForeignRelease
		case owners&predecessors != 0:
			want = storage.ErrPredecessor
		case owners == 0:
			want = driver.ErrReleaseNotFound
		}
		store = revisions(d)
		if _, err := store.Last(t.Context()); !errors.Is(err, want) {
			t.Errorf("owners %03b: Last: %v, want %v", owners, err, want)
		}
		if foreign, err := store.IsForeign(t.Context()); foreign != (owners&helms != 0) || err != nil {
			t.Errorf("owners %03b: foreign: %t (%v)", owners, foreign, err)
		}
		foreign, err := store.Foreign(t.Context(), "darkroom")
		if refused := owners&predecessors != 0; refused != (err != nil) || !refused && len(foreign) != owners&helms/helms {
			t.Errorf("owners %03b: %d revisions to adopt (%v)", owners, len(foreign), err)
		}
	}
}
