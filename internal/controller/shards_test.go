package controller_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// startShard starts the operator of the Darkrooms in a namespace that have a shard's label.
func startShard(t *testing.T, namespace, shard string, options ...operatorOption) *operator {
	t.Helper()
	return startOperator(t, namespace, append(options,
		func(s *settings) { s.darkrooms = labels.SelectorFromSet(labels.Set{"shard": shard}) })...)
}

func inShard(darkroom *v1alpha1.Darkroom, shard string) *v1alpha1.Darkroom {
	darkroom.Labels = map[string]string{"shard": shard}
	return darkroom
}

// eventuallyRefused waits until the status of a Darkroom reports that another Darkroom holds its host.
func eventuallyRefused(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	eventuallyStatus(t, darkroom, "the conflict",
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict))
}

// The namespace of the Leases is deleted, with the operator of a shard, while another shard waits for one of its hosts.
func TestLeasesLostWithTheirNamespaceAreRestoredByTheShardThatRuns(t *testing.T) {
	t.Parallel()
	namespace, leases := newNamespace(t), newNamespace(t)
	shared := "shared-" + namespace
	a, b := startShard(t, namespace, "a", withLeasesIn(leases)), startShard(t, namespace, "b", withLeasesIn(leases))
	holder, rival := inShard(with(webFolder(namespace, "holder"), shared), "a"), inShard(with(webFolder(namespace, "rival"), shared), "b")
	install(t, holder)
	create(t, rival)
	eventuallyRefused(t, rival)
	a.kill()

	lost := mustGet(t, &corev1.Namespace{}, "", leases)
	remove(t, lost)
	remove(t, mustGet(t, &coordinationv1.Lease{}, leases, hostIn(shared)))
	eventually(t, "refused restores", func(context.Context) error {
		if tried := b.leaseRequests(http.MethodPost); tried < 8 { // the next one is seconds away
			return fmt.Errorf("got %d, want 8", tried)
		}
		return nil
	})
	lost = mustGet(t, lost, "", leases)
	lost.Spec.Finalizers = nil
	if err := kube.SubResource("finalize").Update(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: leases}})
	change(t, rival, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL += "/changed" })

	eventually(t, "the Lease", holds(leases, hostIn(shared), namespace+"/holder"))
	eventuallyThere(t, &networkingv1.Ingress{}, namespace, "holder")
	eventually(t, "rest", quiet(b))
	eventuallyRefused(t, rival)
}

// A Darkroom claims a host while the controller of deleted Leases is still busy with others.
func TestALostHostOfAnotherShardIsNotFreeUntilItsLeaseIsRestored(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	shared := "shared-" + namespace
	claimed := make(chan struct{})
	var isFirst atomic.Bool
	a, b := startShard(t, namespace, "a"), startShard(t, namespace, "b", beforeEach(func(request *http.Request) error {
		if isFirst.Load() && strings.HasSuffix(request.URL.Path, "/darkrooms/holder") && isFirst.CompareAndSwap(true, false) {
			<-claimed
		}
		return nil
	}))
	holder, rival := inShard(with(webFolder(namespace, "holder"), shared), "a"), inShard(with(webFolder(namespace, "rival"), shared), "b")
	install(t, holder)
	create(t, rival)
	eventuallyRefused(t, rival)
	a.kill()
	eventually(t, "rest", quiet(b))

	isFirst.Store(true)
	remove(t, mustGet(t, &coordinationv1.Lease{}, namespace, hostIn(shared)))
	change(t, rival, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL += "/changed" })
	eventually(t, "a Lease", func(ctx context.Context) error {
		_, err := get(ctx, &coordinationv1.Lease{}, namespace, hostIn(shared))
		return err
	})
	close(claimed)
	eventually(t, "the Lease", holds(namespace, hostIn(shared), namespace+"/holder"))
	eventuallyRefused(t, rival)
}

// The caches of a shard contain the objects of all Darkrooms, but not the Darkrooms of other shards. A Darkroom must
// not count as deleted because it is missing from the caches.
func TestAShardLeavesTheObjectsOfOtherShardsAlone(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	shared := "shared-" + namespace
	a, b := startShard(t, namespace, "a"), startShard(t, namespace, "b")
	other := inShard(with(webFolder(namespace, "other"), shared), "a")
	install(t, other)
	rival := inShard(with(webFolder(namespace, "rival"), shared), "b")
	create(t, rival)
	eventuallyRefused(t, rival)
	eventually(t, "rest", quiet(a))
	a.kill()
	eventually(t, "rest", quiet(b))
	before := len(b.requests())

	change(t, mustGet(t, &appsv1.Deployment{}, namespace, "other"), func(d *appsv1.Deployment) { d.Spec.Paused = true })
	change(t, mustGet(t, &networkingv1.Ingress{}, namespace, "other"),
		func(i *networkingv1.Ingress) { i.Labels["more"] = "x" })
	remove(t, mustGet(t, &corev1.Service{}, namespace, "other"))
	remove(t, other)
	create(t, inShard(webFolder(namespace, "unclaimed"), "a"))
	left := uids(t, other)
	eventually(t, "rest", quiet(b))
	for _, request := range b.requests()[before:] {
		// The operator of the waiting Darkroom may only update the report of the conflict.
		if !strings.HasSuffix(request, "/darkrooms/rival/status") && !strings.HasSuffix(request, "/events") {
			t.Errorf("the other shard sent %s", request)
		}
	}
	if now := mustGet(t, &v1alpha1.Darkroom{}, namespace, "unclaimed"); len(now.Finalizers) > 0 || now.Status.Phase != "" {
		t.Errorf("an unclaimed Darkroom of another shard was changed: finalizers %v, phase %q",
			now.Finalizers, now.Status.Phase)
	}
	if now := uids(t, other); !maps.Equal(now, left) {
		t.Errorf("the objects changed from %v to %v", left, now)
	}
	eventuallyRefused(t, rival)

	startShard(t, namespace, "a")
	eventually(t, "it is gone", gone(other))
	eventuallyThere(t, &networkingv1.Ingress{}, namespace, "rival")
}

func TestADarkroomMovesBetweenShardsWithAllItHas(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	shared := "shared-" + namespace
	a, b := startShard(t, namespace, "a"), startShard(t, namespace, "b")
	create(t, newSecret(namespace, "keys"))
	darkroom := with(inShard(withSecret(webFolder(namespace, "photos"), "keys"), "a"), shared)
	darkroom.Spec.Replicas = ptr.To(int32(2))
	install(t, darkroom)
	rival := with(inShard(webFolder(namespace, "rival"), "a"), shared)
	create(t, rival)
	eventuallyRefused(t, rival)
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "readiness", isReady())
	eventually(t, "rest", quiet(a))
	before, pods := uids(t, darkroom), podTemplateOf(t, namespace, "photos")
	flapped := watchReady(t, darkroom)

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Labels["shard"] = "b" })
	eventually(t, "rest", quiet(a))
	eventually(t, "rest", quiet(b))
	if after := uids(t, darkroom); !maps.Equal(after, before) {
		t.Errorf("the objects changed from %v to %v", before, after)
	}
	if now := podTemplateOf(t, namespace, "photos"); now != pods {
		t.Errorf("the move changed the pods:\n%s\n%s", pods, now)
	}
	if flaps := flapped(); len(flaps) > 0 {
		t.Errorf("the condition Ready became %v, want True throughout", flaps)
	}
	for _, reason := range []string{
		release.EventFailed, release.EventRepaired,
		release.EventContested, release.EventRecovered,
	} {
		if found := events(t, namespace, reason); len(found) > 0 {
			t.Errorf("got event %s: %s", reason, found[0].Note)
		}
	}
	eventuallyRefused(t, rival)

	t.Run("also if it changes at the same time", func(t *testing.T) {
		upgrade(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Labels["shard"] = "a"
			d.Spec.Replicas = nil // a single replica has no PodDisruptionBudget
		})
		becomeReady(t, namespace, "photos")
		eventually(t, "the end of the PodDisruptionBudget", absent(&policyv1.PodDisruptionBudget{}, namespace, "photos"))
	})
	t.Run("also if it is being deleted", func(t *testing.T) {
		a.kill()
		remove(t, darkroom)
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Labels["shard"] = "b" })
		eventually(t, "it is gone", gone(darkroom))
	})
}

// watchReady returns a function that returns all values other than True that the condition Ready of a Darkroom has had
// since the call.
func watchReady(t *testing.T, darkroom *v1alpha1.Darkroom) func() []string {
	t.Helper()
	seen := watched[*v1alpha1.Darkroom](t, &v1alpha1.DarkroomList{}, darkroom.Namespace)
	return func() []string {
		found := sets.New[string]()
		for _, now := range seen() {
			ready := v1alpha1.FindCondition(now.Status.Conditions, v1alpha1.ConditionReady)
			if now.Name == darkroom.Name && (ready == nil || ready.Status != metav1.ConditionTrue) {
				found.Insert(encoded(ready))
			}
		}
		return sets.List(found)
	}
}

func TestADarkroomThatMovesBackAndForthComesToRest(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	shards := []string{"a", "b"}
	operators := map[string]*operator{}
	for _, shard := range shards {
		operators[shard] = startShard(t, namespace, shard)
	}
	darkroom := inShard(with(webFolder(namespace, "photos"), "photos-"+namespace), "a")
	install(t, darkroom)
	before := uids(t, darkroom)
	for move := range 24 {
		change(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Labels["shard"] = shards[(move+1)%2]
			d.Spec.LogLevel = []v1alpha1.LogLevel{"info", "warn", "error"}[move%3]
		})
		time.Sleep(time.Duration(move*move) * time.Millisecond / 2)
	}
	eventually(t, "the release", installed(namespace, "photos"))
	for _, operator := range operators {
		eventually(t, "rest", quiet(operator))
	}
	now := uids(t, darkroom)
	for _, kept := range []string{"Deployment photos", "Service photos", "Ingress photos"} {
		if now[kept] != before[kept] || now[kept] == "" {
			t.Errorf("%s was recreated", kept)
		}
	}
	if config := mustConfig(t, namespace, "photos"); !strings.Contains(encoded(config.Data), "error") {
		t.Errorf("got configuration %v", config.Data)
	}
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))
}
