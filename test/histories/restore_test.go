package histories

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// The steps that save and restore a cluster need one of their own.
const (
	saving    = "etcd is saved to a snapshot"
	restoring = "etcd is restored from the snapshot"
)

// etcdSteps are what happens to etcd.
var etcdSteps = []kind{{3, func(t *rapid.T) step {
	return rapid.SampledFrom([]step{{saving, (*world).save}, {restoring, (*world).restore}}).Draw(t, "step")
}}}

// snapshot is a cluster at a moment, and what the invariants knew of it.
type snapshot struct {
	folder    string
	foreign   map[reference]string
	revisions map[types.UID]int
	policies  []func() error
	past      past
}

// remove deletes a snapshot, if there is one.
func (s *snapshot) remove() {
	if s != nil {
		_ = os.RemoveAll(s.folder)
	}
}

// save saves the cluster, in place of what was saved before.
func (w *world) save() error {
	if !w.isAlone {
		return errNothingToDo
	}
	folder, err := os.MkdirTemp("", "snapshot-")
	if err != nil {
		return err
	}
	w.saved.remove()
	w.saved = &snapshot{folder: folder}
	return w.plane.Save(filepath.Join(folder, "etcd"), func() {
		time.Sleep(restPeriod) // the last events arrive
		w.saved.foreign, w.saved.revisions = maps.Clone(w.foreign), maps.Clone(w.revisions)
		w.saved.policies, w.saved.past = slices.Clone(w.policies), w.timeline.recorded()
	})
}

// restore takes the cluster back to what was saved, and ends the operators: they are started again, as Kubernetes
// asks for. Resource versions are lower afterwards.
func (w *world) restore() error {
	if !w.isAlone || w.saved == nil {
		return errNothingToDo
	}
	w.timeline.end()
	if err := w.plane.Restore(filepath.Join(w.saved.folder, "etcd")); err != nil {
		return err
	}
	w.foreign, w.revisions, w.policies = maps.Clone(w.saved.foreign), maps.Clone(w.saved.revisions),
		slices.Clone(w.saved.policies)
	clear(w.scaled)
	for _, operator := range w.operators {
		operator.stop()
	}
	if err := w.operatorsEnd(patience); err != nil {
		return err
	}
	return w.follow(w.saved.past)
}
