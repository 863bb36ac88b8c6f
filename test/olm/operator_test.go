//go:build e2e

package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

const (
	managerName   = "darkroom-operator-controller-manager"
	apiServerName = "darkroom-operator-apiserver"
	crdName       = "darkrooms.deployments.example.com"
)

// subscribe creates a Subscription for the operator in a namespace, and waits until a CSV has succeeded.
func subscribe(t *testing.T, namespace, csv string) {
	t.Helper()
	create(t, &operatorsv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: packageName},
		Spec: &operatorsv1alpha1.SubscriptionSpec{
			CatalogSource: catalogSource, CatalogSourceNamespace: lifecycleNamespace, Package: packageName, Channel: "alpha",
			InstallPlanApproval: operatorsv1alpha1.ApprovalAutomatic,
			Config: &operatorsv1alpha1.SubscriptionConfig{
				Env: []corev1.EnvVar{{Name: "DARKROOM_BASE_DOMAIN", Value: baseDomain}},
			},
		},
	})
	waitSucceeded(t, namespace, csv)
}

func waitSucceeded(t *testing.T, namespace, name string) {
	t.Helper()
	eventually(t, name+" has succeeded", func(ctx context.Context) error {
		csv := &operatorsv1alpha1.ClusterServiceVersion{}
		if err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, csv); err != nil {
			state, _ := program.Output(ctx, "kubectl", "get", "subscriptions", "--namespace", namespace,
				"--output=jsonpath={.items[*].status}")
			return fmt.Errorf("%w: the Subscription is %s", err, state)
		}
		if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
			return fmt.Errorf("it is %s: %s: %s: %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message, pods(ctx))
		}
		return nil
	})
}

// unsubscribe removes the operator as described in docs/install.md: the Subscription, the CSV, then the user roles of
// the page. leavesNothing removes the roles of the operator.
func unsubscribe(t *testing.T, namespace, csv string) {
	t.Helper()
	mustRun(t, "kubectl", "wait", "--for=condition=Installed", "installplans", "--namespace", namespace,
		"--selector=operators.coreos.com/"+packageName+"."+namespace, "--timeout=4m")
	remove(t, namespace, "subscription", packageName)
	remove(t, namespace, "clusterserviceversion", csv)
	remove(t, "", "clusterrole", pageRoles...)
	mustRun(t, "kubectl", "wait", "--for=delete", "pods", "--namespace", namespace,
		"--selector=app.kubernetes.io/name=darkroom-operator", "--timeout=4m")
}

// runsAsPod checks that both programs run in pods with their own ServiceAccounts.
func runsAsPod(t *testing.T, namespace, version string) {
	t.Helper()
	for _, name := range []string{managerName, apiServerName} {
		runsImage(t, namespace, name, version)
	}
}

// runsImage checks that a program runs in pods of a release, with its own ServiceAccount.
func runsImage(t *testing.T, namespace, name, version string) {
	t.Helper()
	pod := waitAvailable(t, namespace, name).Spec.Template.Spec
	if pod.ServiceAccountName != name {
		t.Errorf("%s runs as %s", name, pod.ServiceAccountName)
	}
	if pod.Containers[0].Image != operatorImage+version {
		t.Errorf("%s runs %s", name, pod.Containers[0].Image)
	}
}

// may reports whether the manager in a namespace may read the Secrets in another one.
func may(t *testing.T, namespace, other string) bool {
	t.Helper()
	out, err := program.Output(t.Context(), "kubectl", "auth", "can-i", "list", "secrets", "--namespace", other,
		"--as=system:serviceaccount:"+namespace+":"+managerName)
	if answer := strings.TrimSpace(string(out)); err != nil && answer != "no" {
		t.Fatal(err)
	}
	return err == nil
}

// leavesNothing waits until no cluster-scoped object belongs to the operator, except for the CRD and its roles, which
// OLM creates for users of the CRD.
func leavesNothing(t *testing.T) {
	t.Helper()
	eventually(t, "only the CRD is left outside of namespaces", func(ctx context.Context) error {
		left, err := rolesLeft(ctx)
		left = slices.DeleteFunc(left, func(name string) bool { return strings.Contains(name, crdName) })
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%q exist", left)
		}
		return err
	})
}

// removeDefinition deletes the CRD, which the operator leaves, and waits until the CRD and the roles that the lifecycle
// manager created for its users are gone.
func removeDefinition(t *testing.T) {
	t.Helper()
	mustRun(t, "kubectl", "delete", "customresourcedefinition", crdName, "--timeout=4m")
	eventually(t, "the roles of the CRD are gone", func(ctx context.Context) error {
		left, err := rolesLeft(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%q exist", left)
		}
		return err
	})
}

// rolesLeft returns the operator's ClusterRoles and ClusterRoleBindings, after running the command in docs/install.md
// for the ones that OLM 0 recreates. OLM 0 executes an InstallPlan two or three times, the last time by a cache that
// does not show yet that the plan is complete. An execution takes ten seconds and recreates objects that are deleted
// with the CSV, and nothing removes them afterwards.
func rolesLeft(ctx context.Context) ([]string, error) {
	_, err := program.Output(ctx, "kubectl", "delete", "clusterroles,clusterrolebindings",
		fmt.Sprintf("--selector=olm.owner in (%s,%s)", csv(previousVersion), csv(thisVersion)))
	if err != nil {
		return nil, err
	}
	names, err := program.Output(ctx, "kubectl", "get", "clusterroles,clusterrolebindings", "--output=name")
	return slices.DeleteFunc(strings.Fields(string(names)), func(name string) bool {
		return !strings.Contains(name, "darkroom")
	}), err
}

// removeAfterFailure removes, after a failed test, everything that would fail the next one: OLM 0, the operator, all
// Darkrooms, the CRD and the roles. Successful tests have already removed them.
func removeAfterFailure(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*limits.Timeout)
		defer cancel()
		run := func(arguments string) []string {
			out, err := program.Output(ctx, "kubectl", strings.Fields(arguments)...)
			if err != nil {
				t.Errorf("remove what the test has left: %v", err)
			}
			return strings.Fields(string(out))
		}
		run("delete deployments --all --cascade=foreground --namespace " + lifecycleNamespace)
		run("delete deployments --all-namespaces --cascade=foreground --selector=app.kubernetes.io/name=" + packageName)
		// No operator is left to remove the finalizers.
		list := &v1alpha1.DarkroomList{}
		if err := kube.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
			t.Error(err)
		}
		for i := range list.Items {
			run(fmt.Sprintf("patch darkroom %s --namespace %s --type=merge --patch={\"metadata\":{\"finalizers\":null}}",
				list.Items[i].Name, list.Items[i].Namespace))
		}
		run("delete customresourcedefinition --ignore-not-found " + crdName)
		for _, name := range run("get clusterroles,clusterrolebindings --output=name") {
			if strings.Contains(name, "darkroom") {
				run("delete --ignore-not-found " + name)
			}
		}
		run("delete namespace --ignore-not-found " + installNamespace)
	})
}
