package histories

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// shardLabel is the label by which Darkrooms are assigned to shards, and shards are its values.
const shardLabel = "shard"

var shards = []string{"a", "b"}

// shardOf returns the label for new Darkrooms if the operator is sharded: each tenant's Darkrooms are in a different
// shard.
func (w *world) shardOf(key types.NamespacedName) map[string]string {
	if !w.sharded {
		return nil
	}
	tenant := slices.IndexFunc(tenants, func(tenant string) bool { return tenant+w.suffix == key.Namespace })
	return map[string]string{shardLabel: shards[tenant]}
}

// shardSteps move Darkrooms between shards, or affect one shard.
var shardSteps = []kind{
	change(3, "kubectl label darkroom NAME with the other shard", moveShard),
	change(2, "kubectl edit darkroom NAME: the other shard, and another number of replicas",
		func(w *world, d *v1alpha1.Darkroom) error {
			d.Spec.Replicas = ptr.To(1 + ptr.Deref(d.Spec.Replicas, 1)%3)
			return moveShard(w, d)
		}),
	change(1, "kubectl label darkroom NAME shard-: no operator handles it", func(_ *world, d *v1alpha1.Darkroom) error {
		delete(d.Labels, shardLabel)
		return nil
	}),
	killFirst,
	killFirstForGood,
}

var (
	killFirst        = killShard(2, "one shard of the operator is killed", false)
	killFirstForGood = killShard(2, "one shard of the operator is killed and never started again", true)
)

// killShard generates the death of one of several processes with different shards.
func killShard(weight int, says string, forGood bool) kind {
	return platform(weight, says, func(w *world) error {
		shard := w.processes(mainInstallation)[0]
		if !w.sharded && !w.divided || w.operators[shard] == nil {
			return errNothingToDo
		}
		w.operators[shard].stop()
		w.forget(shard)
		w.gone[shard] = forGood
		return nil
	})
}

// shardsAreSeparate looks for processes that write the status of Darkrooms of other shards, although their watches
// could have informed them.
func shardsAreSeparate(w *world) error {
	if !w.sharded && !w.divided {
		return nil
	}
	type state struct {
		label string
		since time.Time
	}
	known, written := map[types.NamespacedName]state{}, map[string]state{}
	events, _ := w.timeline.sorted()
	for _, e := range events {
		if d, isDarkroom := e.object.(*v1alpha1.Darkroom); isDarkroom {
			key := client.ObjectKeyFromObject(d)
			if now, isKnown := known[key]; !isKnown || now.label != d.Labels[shardLabel] {
				known[key] = state{d.Labels[shardLabel], e.at}
			}
			written[d.ResourceVersion] = known[key]
		}
	}
	for _, write := range w.timeline.statusWrites() {
		now, isKnown := written[write.version]
		d := w.newDarkroom(write.key)
		d.Labels = map[string]string{shardLabel: now.label}
		isTold := !write.told.IsZero() && write.at.Sub(write.told) > handover && write.at.Sub(now.since) > handover
		by := write.by.process
		if isKnown && isTold && by.installation == mainInstallation && !by.handles(d) {
			return fmt.Errorf("the shard %s%s wrote the status of %s", by.shard, by.namespace, write.key)
		}
	}
	return nil
}

// moveShard moves a Darkroom to the other shard.
func moveShard(w *world, d *v1alpha1.Darkroom) error {
	if !w.sharded {
		return errNothingToDo
	}
	other := shards[0]
	if d.Labels[shardLabel] == other {
		other = shards[1]
	}
	d.Labels = map[string]string{shardLabel: other}
	return nil
}
