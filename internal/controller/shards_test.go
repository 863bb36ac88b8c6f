package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// startShard starts the operator of the Darkrooms of a namespace with a label.
func startShard(t *testing.T, namespace, shard string, options ...operatorOption) *operator {
	t.Helper()
	return startOperatorFor(t, []string{namespace}, labels.SelectorFromSet(labels.Set{"shard": shard}), options...)
}

func inShard(darkroom *v1alpha1.Darkroom, shard string) *v1alpha1.Darkroom {
	darkroom.Labels = map[string]string{"shard": shard}
	return darkroom
}

// allIn returns an error unless all objects of a Darkroom are in a shard.
func allIn(darkroom *v1alpha1.Darkroom, shard string) func(context.Context) error {
	return func(ctx context.Context) error {
		objects, err := belongings(ctx, darkroom)
		if err != nil {
			return err
		}
		objects = slices.DeleteFunc(objects, func(object unstructured.Unstructured) bool { return object.GetLabels()["shard"] == shard })
		if len(objects) > 0 {
			return fmt.Errorf("not in shard %q: %v", shard, names(objects))
		}
		return nil
	}
}

// uids are those of the objects of a Darkroom, by kind and name.
func uids(t *testing.T, darkroom *v1alpha1.Darkroom) map[string]types.UID {
	t.Helper()
	objects, err := belongings(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]types.UID{}
	for i := range objects {
		found[objects[i].GetKind()+" "+objects[i].GetName()] = objects[i].GetUID()
	}
	return found
}

// setShard sets a label of an object behind the operators' backs; an empty value removes it.
func setShard(t *testing.T, object client.Object, shard string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{"shard": map[bool]any{true: shard}[shard != ""]}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
}

func TestAShardCachesOnlyTheObjectsOfItsDarkrooms(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	a, b := startShard(t, namespace, "a"), startShard(t, namespace, "b")
	mine := inShard(with(webFolder(namespace, "mine"), "mine-"+namespace), "a")
	create(t, mine)
	eventually(t, "the release", installed(namespace, "mine"))
	eventually(t, "the shard of all objects", allIn(mine, "a"))

	for _, kind := range releaseKinds {
		if kind.Kind == "HTTPRoute" || kind.Kind == "Ingress" {
			continue
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		var cached client.ObjectList = list
		if kind.Kind == "Deployment" {
			cached = &appsv1.DeploymentList{}
		}
		if err := b.manager.GetCache().List(t.Context(), cached); err != nil {
			t.Errorf("list %ss: %v", kind.Kind, err)
		}
		if found := meta.LenList(cached); found > 0 {
			t.Errorf("the other shard caches %d %ss", found, kind.Kind)
		}
	}
	// Hosts belong to one Darkroom in the cluster, so those of others are known.
	key := client.ObjectKey{Namespace: namespace, Name: "mine"}
	for shard, operator := range map[string]*operator{"a": a, "b": b} {
		ingress := &networkingv1.Ingress{}
		if err := operator.manager.GetCache().Get(t.Context(), key, ingress); err != nil {
			t.Fatalf("shard %s: %v", shard, err)
		}
		if rules := ingress.Spec.Rules; len(rules) != 1 || rules[0].Host != hostIn("mine-"+namespace) || (rules[0].HTTP != nil) != (shard == "a") {
			t.Errorf("shard %s caches the rules %+v", shard, rules)
		}
	}
}

func TestADarkroomMovesBetweenShardsWithAllItHas(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	a := startShard(t, namespace, "a")
	create(t, newSecret(namespace, "keys"))
	darkroom := inShard(withSecret(webFolder(namespace, "photos"), "keys"), "a")
	replicas := int32(2)
	darkroom.Spec.Replicas = &replicas
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "the upgrade", installed(namespace, "photos"))
	becomeReady(t, namespace, "photos")
	ready := func(status v1alpha1.DarkroomStatus) error {
		return condition(status, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
	}
	eventuallyStatus(t, darkroom, "readiness", ready)
	eventually(t, "rest", quiet(a))
	mustGet(t, &policyv1.PodDisruptionBudget{}, namespace, "photos")
	before, pods := uids(t, darkroom), podTemplateOf(t, namespace, "photos")

	b := startShard(t, namespace, "b")
	flapped := watchReady(t, darkroom)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Labels["shard"] = "b" })
	eventually(t, "the shard of all objects", allIn(darkroom, "b"))
	eventually(t, "a revision of the other shard", func(ctx context.Context) error {
		secret, err := revision(ctx, namespace, "photos")
		if err == nil && secret.Labels["version"] != "3" {
			err = fmt.Errorf("deployed is revision %s", secret.Labels["version"])
		}
		return err
	})
	eventually(t, "rest", quiet(b))
	after := uids(t, darkroom)
	for name, uid := range before {
		if after[name] != uid {
			t.Errorf("%s had the UID %s, and now %q", name, uid, after[name])
		}
	}
	if now := podTemplateOf(t, namespace, "photos"); now != pods {
		t.Errorf("the move changed the pods:\n%s\n%s", pods, now)
	}
	if flaps := flapped(); len(flaps) > 0 {
		t.Errorf("Ready became %v", flaps)
	}
	for _, reason := range []string{release.EventFailed, release.EventRepaired, release.EventContested, release.EventRecovered} {
		if found := events(t, namespace, reason); len(found) > 0 {
			t.Errorf("event %s: %s", reason, found[0].Note)
		}
	}

	t.Run("also if it changes at the same time", func(t *testing.T) {
		change(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Labels["shard"] = "a"
			d.Spec.Replicas = nil // and so it needs no PodDisruptionBudget
			d.Spec.Source = v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "https://example.com/more"}
		})
		eventually(t, "the upgrade", installed(namespace, "photos"))
		becomeReady(t, namespace, "photos")
		eventually(t, "the end of what is not needed", func(ctx context.Context) error {
			_, err := get(ctx, &policyv1.PodDisruptionBudget{}, namespace, "photos")
			_, state := get(ctx, &corev1.Secret{}, namespace, "photos-credentials-state")
			if !apierrors.IsNotFound(err) || !apierrors.IsNotFound(state) {
				return fmt.Errorf("PodDisruptionBudget: %w, state of credentials: %w", err, state)
			}
			return nil
		})
		eventually(t, "the shard of all objects", allIn(darkroom, "a"))
	})
	t.Run("also if it is being deleted", func(t *testing.T) {
		a.kill()
		if err := kube.Delete(t.Context(), darkroom); err != nil {
			t.Fatal(err)
		}
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Labels["shard"] = "b" })
		eventually(t, "it is gone", gone(darkroom))
	})
}

// watchReady returns a function that returns the values of the condition Ready, other than True,
// that a Darkroom had since.
func watchReady(t *testing.T, darkroom *v1alpha1.Darkroom) func() []string {
	t.Helper()
	watcher, err := kube.Watch(t.Context(), &v1alpha1.DarkroomList{}, client.InNamespace(darkroom.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watcher.Stop)
	return func() []string {
		found := map[string]bool{}
		for {
			select {
			case event := <-watcher.ResultChan():
				now, ok := event.Object.(*v1alpha1.Darkroom)
				if !ok || now.Name != darkroom.Name {
					continue
				}
				ready := v1alpha1.FindCondition(now.Status.Conditions, v1alpha1.ConditionReady)
				if ready == nil || ready.Status != metav1.ConditionTrue {
					found[encoded(ready)] = true
				}
			default:
				return slices.Sorted(maps.Keys(found))
			}
		}
	}
}

func TestAFleetIsSharedOutAndPutTogetherAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	darkroom := inShard(with(webFolder(namespace, "photos"), "photos-"+namespace), "a")
	single := startOperator(t, namespace)
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	single.kill()
	before := uids(t, darkroom)

	shard := startShard(t, namespace, "a")
	eventually(t, "the shard of all objects", allIn(darkroom, "a"))
	eventually(t, "rest", quiet(shard))
	shard.kill()

	t.Run("even if a takeover was interrupted", func(t *testing.T) {
		secret := mustRevision(t, namespace, "photos")
		setShard(t, secret, "")
		setShard(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos"}}, "b")
		restarted := startShard(t, namespace, "a")
		eventually(t, "the shard of all objects", allIn(darkroom, "a"))
		eventually(t, "rest", quiet(restarted))
		restarted.kill()
	})
	t.Run("even if labels are removed", func(t *testing.T) {
		restarted := startShard(t, namespace, "a")
		eventually(t, "rest", quiet(restarted))
		for _, object := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}, mustRevision(t, namespace, "photos")} {
			if object.GetName() == "" {
				object.SetNamespace(namespace)
				object.SetName("photos")
			}
			setShard(t, object, "")
		}
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
		eventually(t, "the upgrade", installed(namespace, "photos"))
		restarted.kill()
		restarted = startShard(t, namespace, "a")
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "error" })
		eventually(t, "another upgrade", installed(namespace, "photos"))
		eventually(t, "rest", quiet(restarted))
		restarted.kill()
	})

	single = startOperator(t, namespace)
	eventually(t, "rest", quiet(single))
	eventually(t, "the release", installed(namespace, "photos"))
	now := uids(t, darkroom)
	for _, kept := range []string{"Deployment photos", "Service photos", "Ingress photos"} {
		if now[kept] != before[kept] || now[kept] == "" {
			t.Errorf("%s was recreated", kept)
		}
	}
	if failures := events(t, namespace, release.EventFailed); len(failures) > 0 {
		t.Errorf("an event says: %s", failures[0].Note)
	}
	if err := kube.Delete(t.Context(), darkroom); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", gone(darkroom))
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
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	before := uids(t, darkroom)
	for move := range 24 {
		change(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Labels["shard"] = shards[(move+1)%2]
			d.Spec.LogLevel = []v1alpha1.LogLevel{"info", "warn", "error"}[move%3]
		})
		time.Sleep(time.Duration(move*move) * time.Millisecond / 2)
	}
	eventually(t, "the release", installed(namespace, "photos"))
	eventually(t, "the shard of all objects", allIn(darkroom, darkroom.Labels["shard"]))
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
		t.Errorf("the configuration is %v", config.Data)
	}
	if err := kube.Delete(t.Context(), darkroom); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", gone(darkroom))
}
