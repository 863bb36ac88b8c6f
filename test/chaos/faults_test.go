//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// fleet is the number of Darkrooms during a fault.
const fleet = 20

var clusterFaults = []struct {
	name   string
	inject func(t *testing.T) (seen string)
}{
	{"API server killed twice during upgrades of all", killAPIServer},
	{"etcd stopped for 300 of each 400 ms, for 15 s, during upgrades of all", slowEtcd},
	{"release Secrets: a third each pending since 1980, overwritten with junk, deleted", damageReleases},
	{"a namespace with 10 Darkrooms deleted", deleteNamespace},
	{"the permissions revoked for 13 s during upgrades of all", revokePermissions},
	{"CRD deleted, with all Darkrooms, and applied again", removeDefinition},
}

// TestChaos injects the faults one after the other, with the same fleet and an operator that is never restarted.
func TestChaos(t *testing.T) {
	create(t, namespace("chaos"))
	o := start(t, "operator")
	defer end(t, o, syscall.SIGKILL)
	createFleet(t)
	eventually(t, "the fleet is ready", wrong)
	var rows []string
	for _, fault := range clusterFaults {
		if !t.Run(fault.name, func(t *testing.T) {
			seen := fault.inject(t)
			took := eventually(t, "the fleet is as it should be", wrong)
			must(t, o.Ended())
			rows = append(rows, fmt.Sprintf("| %s | %s | %.1f s | 0 |", fault.name, seen, took.Seconds()))
		}) {
			rows = append(rows, fmt.Sprintf("| %s | it did not recover | | ! |", fault.name))
		}
	}
	printTable(rows)
}

func printTable(rows []string) {
	fmt.Printf("\n| fault | effect | recovered after | lost |\n|---|---|---|---|\n%s\n\n", strings.Join(rows, "\n"))
}

func createFleet(t *testing.T) {
	t.Helper()
	for i := range fleet {
		create(t, darkrooms.New(fmt.Sprintf("darkroom-%d", i), "chaos").SubDomains(fmt.Sprintf("chaos-%d", i)).Obj())
	}
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, "created "+object.GetName(), func(ctx context.Context) error {
		return client.IgnoreAlreadyExists(kube.Create(ctx, object))
	})
}

// upgradeAll changes a setting of every Darkroom.
func upgradeAll(t *testing.T) {
	t.Helper()
	level := []v1alpha1.LogLevel{"debug", "info", "warn", "error"}[random.IntN(4)]
	patch := mergePatch(`{"spec":{"logLevel":%q,"cacheTTLSeconds":%d}}`, level, 1+random.Int32N(1000))
	eventually(t, "changed all", func(ctx context.Context) error {
		list := &v1alpha1.DarkroomList{}
		if err := kube.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			if err := kube.Patch(ctx, &list.Items[i], patch); tolerate(err) != nil {
				return err
			}
		}
		return nil
	})
}

func killAPIServer(t *testing.T) string {
	for range 2 {
		upgradeAll(t)
		moment(300 * time.Millisecond)
		must(t, syscall.Kill(component(t, "kube-apiserver"), syscall.SIGKILL))
		eventually(t, "the API server is back", func(ctx context.Context) error {
			return clientset.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		})
	}
	return "upgrades interrupted and retried"
}

func slowEtcd(t *testing.T) string {
	pid := component(t, "etcd")
	var stops sync.WaitGroup
	stops.Go(func() {
		for range 15 * 10 / 4 {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			time.Sleep(300 * time.Millisecond)
			_ = syscall.Kill(pid, syscall.SIGCONT)
			time.Sleep(100 * time.Millisecond)
		}
	})
	upgradeAll(t)
	stops.Wait()
	return "upgrades took longer"
}

func deleteNamespace(t *testing.T) string {
	create(t, namespace("doomed"))
	for i := range 10 {
		create(t, darkrooms.New(fmt.Sprintf("doomed-%d", i), "doomed").SubDomains(fmt.Sprintf("doomed-%d", i)).Obj())
	}
	moment(2 * time.Second)
	return fmt.Sprintf("deleted after %.1f s", vacate(t, "doomed").Seconds())
}

// revokePermissions deletes the operator's ClusterRoleBinding for longer than the maximum back-off.
func revokePermissions(t *testing.T) string {
	binding := &rbacv1.ClusterRoleBinding{}
	must(t, kube.Get(t.Context(), client.ObjectKey{Name: "darkroom-operator-manager-rolebinding"}, binding))
	must(t, kube.Delete(t.Context(), binding))
	upgradeAll(t)
	time.Sleep(13 * time.Second)
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: binding.Name, Labels: binding.Labels}, RoleRef: binding.RoleRef,
		Subjects: binding.Subjects,
	})
	return "upgrades took longer"
}

func removeDefinition(t *testing.T) string {
	definition := filepath.Join(repository, "config", "crd", "bases", "deployments.example.com_darkrooms.yaml")
	for _, args := range [][]string{{"delete", "--timeout=2m"}, {"apply", "--server-side"}} {
		if _, err := program.Output(t.Context(), "kubectl", append(args, "-f", definition)...); err != nil {
			t.Fatal(err)
		}
	}
	createFleet(t)
	return fmt.Sprintf("%d uninstalled, and %d installed again by the same process", fleet, fleet)
}

// outage is the time for which the API server does not respond, as during a restart on its node.
const outage = 30 * time.Second

// TestALeaderOutlivesAnOutageOfTheAPIServer stops the API server without closing its connections, so that requests
// hang. The leader uses the default durations.
func TestALeaderOutlivesAnOutageOfTheAPIServer(t *testing.T) {
	create(t, namespace("chaos"))
	o := start(t, "patient", "--leader-elect", "--lease-namespace", operatorNamespace)
	defer end(t, o, syscall.SIGTERM) // which releases the lease
	holder := leaderIs(t, "")
	createFleet(t)
	eventually(t, "the fleet is ready", wrong)
	upgradeAll(t)
	pid := component(t, "kube-apiserver")
	must(t, syscall.Kill(pid, syscall.SIGSTOP))
	time.Sleep(outage)
	must(t, syscall.Kill(pid, syscall.SIGCONT))
	took := eventually(t, "the fleet is as it should be", wrong)
	must(t, o.Ended())
	if now := leaderIs(t, ""); now != holder {
		t.Errorf("%s leads after the outage, not %s", now, holder)
	}
	printTable(
		[]string{
			fmt.Sprintf("| API server stopped for %.0f s during upgrades of all | the leader stayed the leader | %.1f s | 0 |",
				outage.Seconds(), took.Seconds()),
		},
	)
}

// TestTheLeadIsTaken starts two operators with leader election. The leader is stopped first and killed later, each time
// while all Darkrooms are being upgraded.
func TestTheLeadIsTaken(t *testing.T) {
	create(t, namespace("chaos"))
	elect := []string{
		"--leader-elect", "--lease-namespace", operatorNamespace,
		"--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s",
	}
	first := start(t, "first", elect...)
	leaderIs(t, "")
	createFleet(t)
	eventually(t, "the fleet is ready", wrong)
	var rows []string
	for _, how := range []struct {
		name   string
		signal syscall.Signal
		limit  time.Duration
	}{
		// The lease is released, and candidates retry every two seconds.
		{"the leader of two operators stopped during upgrades of all", syscall.SIGTERM, 10 * time.Second},
		// The lease expires after 15 seconds.
		{
			"the leader of two operators killed during upgrades of all, with a lease of 15 s",
			syscall.SIGKILL, 25 * time.Second,
		},
	} {
		second := start(t, "second-"+how.signal.String(), elect...)
		before := leaderIs(t, "")
		revisions := generations(t, "chaos")
		upgradeAll(t)
		moment(300 * time.Millisecond)
		began := time.Now()
		end(t, first, how.signal)
		leaderIs(t, before)
		lead := time.Since(began)
		if lead > how.limit {
			t.Errorf("%s: the other led after %s", how.name, lead)
		}
		took := eventually(t, "the fleet is as it should be", wrong)
		for name, generation := range generations(t, "chaos") {
			// An upgrade changes the Deployment once, no matter which operator applies it.
			if generation > revisions[name]+1 {
				t.Errorf("%s was changed %d times", name, generation-revisions[name])
			}
		}
		rows = append(rows, fmt.Sprintf("| %s | the other led after %.1f s; nothing was repeated | %.1f s | 0 |", how.name,
			lead.Seconds(), took.Seconds()))
		first = second
	}
	printTable(rows)
	end(t, first, syscall.SIGKILL)
}

// leaderIs waits for a leader other than the given one and returns its name.
func leaderIs(t *testing.T, not string) string {
	t.Helper()
	holder := ""
	eventually(t, "another leads", func(ctx context.Context) error {
		lease := &coordinationv1.Lease{}
		err := kube.Get(ctx, client.ObjectKey{
			Namespace: operatorNamespace,
			Name:      "darkroom-operator.deployments.example.com",
		}, lease)
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

// generations returns the generations of all Deployments in a namespace.
func generations(t *testing.T, namespace string) map[string]int64 {
	t.Helper()
	list := &appsv1.DeploymentList{}
	must(t, kube.List(t.Context(), list, client.InNamespace(namespace)))
	out := map[string]int64{}
	for _, deployment := range list.Items {
		out[deployment.Name] = deployment.Generation
	}
	return out
}
