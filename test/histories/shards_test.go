package histories

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// shardLabel is the label by which an operator that is sharded has its Darkrooms, and shards are its values.
const shardLabel = "shard"

var shards = []string{"a", "b"}

// shardOf returns the label that new Darkrooms get where the operator is sharded: those of each tenant have another
// shard.
func (w *world) shardOf(key types.NamespacedName) map[string]string {
	if !w.sharded {
		return nil
	}
	tenant := slices.IndexFunc(tenants, func(tenant string) bool { return tenant+w.suffix == key.Namespace })
	return map[string]string{shardLabel: shards[tenant]}
}

// shardSteps are how Darkrooms move between shards, and what concerns one shard.
var shardSteps = []kind{
	change(3, "kubectl label darkroom NAME with the other shard", moveShard),
	change(2, "kubectl edit darkroom NAME: the other shard, and another number of replicas", func(w *world, d *v1alpha1.Darkroom) error {
		d.Spec.Replicas = ptr.To(1 + ptr.Deref(d.Spec.Replicas, 1)%3)
		return moveShard(w, d)
	}),
	change(1, "kubectl label darkroom NAME shard-: no operator handles it", func(_ *world, d *v1alpha1.Darkroom) error {
		delete(d.Labels, shardLabel)
		return nil
	}),
	platform(2, "one shard of the operator is killed", func(w *world) error {
		shard := process{installation: mainInstallation, shard: shards[0]}
		if w.operators[shard] == nil {
			return errNothingToDo
		}
		w.operators[shard].stop()
		w.forget(shard)
		return nil
	}),
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
