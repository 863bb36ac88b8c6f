//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// fleet is how many Darkrooms there are when a fault is put in.
const fleet = 20

var faults = []struct {
	name   string
	inject func(t *testing.T, o *operator) (seen string)
}{
	{"API server killed twice during upgrades of all", killAPIServer},
	{"etcd stopped for 300 of each 400 ms, for 15 s, during upgrades of all", slowEtcd},
	{"other writers change owned objects and Darkrooms for 10 s", conflictingWriters},
	{"release Secrets: clock set to 1980", releaseFromThePast},
	{"release Secrets: data overwritten with junk", corruptReleases},
	{"release Secrets: deleted", deleteReleases},
	{"1 MB of random text in a Darkroom, then taken out", junk},
	{"a namespace with 10 Darkrooms deleted", deleteNamespace},
	{"CRD deleted, with all Darkrooms, and applied again", removeDefinition},
}

// TestChaos puts the faults in one after the other, over one fleet and one operator
// that is never restarted.
func TestChaos(t *testing.T) {
	create(t, namespace("chaos"))
	o := start(t, "operator")
	defer o.kill()
	for i := range fleet {
		create(t, numbered(i))
	}
	eventually(t, "the fleet is ready", wrong)
	var rows []string
	for _, fault := range faults {
		if !t.Run(fault.name, func(t *testing.T) {
			seen := fault.inject(t, o)
			took := eventually(t, "all is as it should be", wrong)
			if err := o.alive(); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %.1f s | 0 |", fault.name, seen, took.Seconds()))
		}) {
			rows = append(rows, fmt.Sprintf("| %s | it did not heal | | ! |", fault.name))
		}
	}
	printTable(rows)
}

func printTable(rows []string) {
	fmt.Printf("\n| put in | seen | healed after | lost |\n|---|---|---|---|\n%s\n\n", strings.Join(rows, "\n"))
}

// numbered is a Darkroom of the fleet.
func numbered(i int) *v1alpha1.Darkroom {
	return darkrooms.New(fmt.Sprintf("darkroom-%d", i), "chaos").SubDomains(fmt.Sprintf("chaos-%d", i)).Obj()
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, "created "+object.GetName(), func(ctx context.Context) error {
		if err := kube.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	})
}

// upgradeAll changes a setting of each Darkroom that there is.
func upgradeAll(t *testing.T) int {
	t.Helper()
	level := []v1alpha1.LogLevel{"debug", "info", "warn", "error"}[random.IntN(4)]
	ttl := 1 + random.Int32N(1000)
	count := 0
	eventually(t, "changed all", func(ctx context.Context) error {
		list := &v1alpha1.DarkroomList{}
		if err := kube.List(ctx, list); err != nil {
			return err
		}
		count = len(list.Items)
		for i := range list.Items {
			patch := fmt.Sprintf(`{"spec":{"logLevel":%q,"cacheTTLSeconds":%d}}`, level, ttl)
			if err := kube.Patch(ctx, &list.Items[i], client.RawPatch(types.MergePatchType, []byte(patch))); tolerate(err) != nil {
				return err
			}
		}
		return nil
	})
	return count
}

func killAPIServer(t *testing.T, _ *operator) string {
	for range 2 {
		upgradeAll(t)
		moment(300 * time.Millisecond)
		signal(t, "kube-apiserver", syscall.SIGKILL)
		eventually(t, "the API server is back", func(ctx context.Context) error {
			_, err := clientset.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
			return err
		})
	}
	return "upgrades interrupted and retried"
}

func slowEtcd(t *testing.T, _ *operator) string {
	pid, err := component("etcd")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 15 * 10 / 4 {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			time.Sleep(300 * time.Millisecond)
			_ = syscall.Kill(pid, syscall.SIGCONT)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	upgradeAll(t)
	<-ended
	return "upgrades took longer"
}

func conflictingWriters(t *testing.T, _ *operator) string {
	writes := 0
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		key := client.ObjectKey{Namespace: "chaos", Name: fmt.Sprintf("darkroom-%d", random.IntN(fleet))}
		for _, write := range []struct {
			object client.Object
			patch  string
		}{
			{&appsv1.Deployment{}, fmt.Sprintf(`{"spec":{"replicas":%d}}`, 1+random.IntN(3))},
			{&corev1.Service{}, `{"metadata":{"labels":{"app.kubernetes.io/part-of":"another"}},"spec":{"selector":{"added":"by-hand"}}}`},
			{&v1alpha1.Darkroom{}, fmt.Sprintf(`{"metadata":{"labels":{"touched":"%d"}}}`, random.IntN(1000))},
			{&v1alpha1.Darkroom{}, fmt.Sprintf(`{"spec":{"logLevel":%q}}`, []string{"info", "warn"}[random.IntN(2)])},
		} {
			write.object.SetNamespace(key.Namespace)
			write.object.SetName(key.Name)
			if err := kube.Patch(t.Context(), write.object, client.RawPatch(types.MergePatchType, []byte(write.patch))); tolerate(err) != nil {
				t.Fatal(err)
			}
			writes++
		}
	}
	eventually(t, "what was changed by hand is undone", func(ctx context.Context) error {
		for i := range fleet {
			service, deployment := &corev1.Service{}, &appsv1.Deployment{}
			key := client.ObjectKeyFromObject(numbered(i))
			if err := errors.Join(kube.Get(ctx, key, service), kube.Get(ctx, key, deployment)); err != nil {
				return err
			}
			if service.Spec.Selector["added"] != "" || service.Labels["app.kubernetes.io/part-of"] != "darkroom" || ptr.Deref(deployment.Spec.Replicas, 0) != 1 {
				return fmt.Errorf("%s is still as the others left it", key.Name)
			}
		}
		return nil
	})
	return fmt.Sprintf("%d writes, all undone or applied", writes)
}

func junk(t *testing.T, _ *operator) string {
	letters := make([]byte, 1<<20)
	local := rand.New(rand.NewPCG(1, 1))
	for i := range letters {
		letters[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"[local.IntN(64)]
	}
	darkroom := numbered(0)
	patch := func(value string) {
		raw := fmt.Sprintf(`{"spec":{"extraEnv":[{"name":"JUNK","value":%q}]}}`, value)
		if err := kube.Patch(t.Context(), darkroom, client.RawPatch(types.MergePatchType, []byte(raw))); err != nil {
			t.Fatal(err)
		}
	}
	patch(string(letters))
	message := ""
	eventually(t, "it is refused with a reason", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
			return err
		}
		message = darkroom.Status.Message
		if darkroom.Status.Phase != v1alpha1.PhaseFailed || darkroom.Status.ObservedGeneration != darkroom.Generation {
			return fmt.Errorf("phase is %s: %.200s", darkroom.Status.Phase, message)
		}
		return nil
	})
	if len(message) > 5000 {
		t.Errorf("the message has %d bytes", len(message))
	}
	patch("")
	return "Failed with a reason of a few lines"
}

func deleteNamespace(t *testing.T, _ *operator) string {
	create(t, namespace("doomed"))
	for i := range 10 {
		create(t, darkrooms.New(fmt.Sprintf("doomed-%d", i), "doomed").SubDomains(fmt.Sprintf("doomed-%d", i)).Obj())
	}
	moment(2 * time.Second)
	if err := kube.Delete(t.Context(), namespace("doomed")); err != nil {
		t.Fatal(err)
	}
	took := eventually(t, "the namespace is gone", func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKey{Name: "doomed"}, &corev1.Namespace{})
		if err == nil {
			return errors.New("it is still there")
		}
		return client.IgnoreNotFound(err)
	})
	return fmt.Sprintf("gone after %.1f s", took.Seconds())
}

func removeDefinition(t *testing.T, _ *operator) string {
	definition := filepath.Join(repository, "config", "crd", "bases", "deployments.example.com_darkrooms.yaml")
	if err := kubectl("delete", "--timeout=2m", "-f", definition); err != nil {
		t.Fatal(err)
	}
	if err := kubectl("apply", "--server-side", "-f", definition); err != nil {
		t.Fatal(err)
	}
	for i := range fleet {
		create(t, numbered(i))
	}
	return fmt.Sprintf("%d uninstalled, and %d installed again by the same process", fleet, fleet)
}

// TestAnOperatorKilledAtRandomPoints kills the operator again and again while
// Darkrooms are installed, changed and deleted.
func TestAnOperatorKilledAtRandomPoints(t *testing.T) {
	operations := number("CHAOS_OPERATIONS", 200)
	create(t, namespace("chaos"))
	o := start(t, "killed")
	installs, upgrades, deletes, kills := 0, 0, 0, 0
	for done := 0; done < operations; {
		for range 4 + random.IntN(4) {
			darkroom := numbered(random.IntN(fleet))
			err := kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), darkroom)
			switch {
			case apierrors.IsNotFound(err):
				create(t, darkroomNamed(darkroom.Name))
				installs++
			case err != nil:
				t.Fatal(err)
			case darkroom.DeletionTimestamp != nil:
				continue
			case random.IntN(3) == 0:
				if err := client.IgnoreNotFound(kube.Delete(t.Context(), darkroom)); err != nil {
					t.Fatal(err)
				}
				deletes++
			default:
				patch := fmt.Sprintf(`{"spec":{"cacheTTLSeconds":%d,"replicas":%d}}`, 1+random.IntN(1000), 1+random.IntN(2))
				if err := kube.Patch(t.Context(), darkroom, client.RawPatch(types.MergePatchType, []byte(patch))); tolerate(err) != nil {
					t.Fatal(err)
				}
				upgrades++
			}
			done++
		}
		moment(700 * time.Millisecond)
		o.kill()
		kills++
		if kills%4 == 0 {
			// Also while it starts, when its caches are empty.
			o = launch(t, "killed")
			moment(time.Second)
			o.kill()
			kills++
		}
		o = start(t, "killed")
	}
	took := eventually(t, "all is as it should be", wrong)
	printTable([]string{fmt.Sprintf("| operator killed %d times during %d operations | %d installs, %d upgrades, %d deletes | %.1f s | 0 |",
		kills, installs+upgrades+deletes, installs, upgrades, deletes, took.Seconds())})
	o.kill()
}

func darkroomNamed(name string) *v1alpha1.Darkroom {
	var i int
	if _, err := fmt.Sscanf(name, "darkroom-%d", &i); err != nil {
		panic(err)
	}
	return numbered(i)
}

// TestTheLeadIsTaken has two operators stand for election. The one that leads is
// first stopped, then killed, each time while all Darkrooms are upgraded.
func TestTheLeadIsTaken(t *testing.T) {
	create(t, namespace("chaos"))
	elect := []string{"--leader-elect", "--leader-election-namespace", operatorNamespace}
	first := start(t, "first", elect...)
	leaderIs(t, "")
	for i := range fleet {
		create(t, numbered(i))
	}
	eventually(t, "the fleet is ready", wrong)
	var rows []string
	for _, how := range []struct {
		name   string
		signal syscall.Signal
		limit  time.Duration
	}{
		// The lease is released, and a candidate tries every two seconds.
		{"the leader of two operators stopped during upgrades of all", syscall.SIGTERM, 10 * time.Second},
		// The lease of 15 seconds runs out.
		{"the leader of two operators killed during upgrades of all", syscall.SIGKILL, 25 * time.Second},
	} {
		second := start(t, "second-"+how.signal.String(), elect...)
		before := leaderIs(t, "")
		revisions := generations(t)
		upgradeAll(t)
		moment(300 * time.Millisecond)
		began := time.Now()
		first.end(how.signal)
		leaderIs(t, before)
		lead := time.Since(began)
		if lead > how.limit {
			t.Errorf("%s: the other led after %s", how.name, lead)
		}
		took := eventually(t, "all is as it should be", wrong)
		for name, generation := range generations(t) {
			// One upgrade is one change of the Deployment, no matter which operator applied it.
			if generation > revisions[name]+1 {
				t.Errorf("%s was changed %d times", name, generation-revisions[name])
			}
		}
		rows = append(rows, fmt.Sprintf("| %s | the other led after %.1f s; nothing was done twice | %.1f s | 0 |", how.name, lead.Seconds(), took.Seconds()))
		first = second
	}
	printTable(rows)
	first.kill()
}

// leaderIs waits for another leader than the one named, and returns its name.
func leaderIs(t *testing.T, not string) string {
	t.Helper()
	holder := ""
	eventually(t, "another leads", func(ctx context.Context) error {
		lease := &coordinationv1.Lease{}
		err := kube.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: "darkroom-operator.deployments.example.com"}, lease)
		if err != nil {
			return err
		}
		holder = ptr.Deref(lease.Spec.HolderIdentity, "")
		if holder == "" || holder == not {
			return fmt.Errorf("the holder is %q", holder)
		}
		return nil
	})
	return holder
}

// generations are those of all Deployments.
func generations(t *testing.T) map[string]int64 {
	t.Helper()
	list := &appsv1.DeploymentList{}
	if err := kube.List(t.Context(), list, client.InNamespace("chaos")); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Generation
	}
	return out
}
