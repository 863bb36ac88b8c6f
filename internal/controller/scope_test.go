package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// rulesOf returns the rules of a role in config/rbac.
func rulesOf(t *testing.T, file string) []rbacv1.PolicyRule {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", file))
	if err != nil {
		t.Fatal(err)
	}
	role := rbacv1.ClusterRole{}
	if err := yaml.Unmarshal(raw, &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// grant gives permissions in a namespace to a user or group.
func grant(t *testing.T, namespace string, rules []rbacv1.PolicyRule, kind, to string) {
	t.Helper()
	create(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: to}, Rules: rules})
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: to},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: to},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: kind, Name: to}},
	})
}

// asTenant runs an operator as a user whose Roles grant the manager's permissions in some namespaces only, and the
// permissions for Leases in the first namespace only.
func asTenant(t *testing.T, namespaces ...string) operatorOption {
	t.Helper()
	user := "operator-of-" + namespaces[0]
	for i, namespace := range namespaces {
		rules := rulesOf(t, "role.yaml")
		if i == 0 {
			rules = append(rules, rulesOf(t, "leader_election_role.yaml")...)
		}
		grant(t, namespace, rules, rbacv1.UserKind, user)
	}
	return func(s *settings) {
		s.kubeconfig.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	}
}

func TestAnOperatorOfSomeNamespacesNeedsNoRightsBeyondThem(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	outside := newNamespace(t)
	namespaces := []string{first, second}
	o := startOperatorFor(t, namespaces, asTenant(t, namespaces...))
	for _, namespace := range namespaces {
		create(t, newSecret(namespace, "keys"))
		install(t, withSecret(with(webFolder(namespace, "photos"), "photos-"+namespace), "keys"))
	}
	create(t, webFolder(outside, "photos"))
	makeAndTakeAwayEveryKind(t, first)
	darkroom := mustGet(t, &v1alpha1.Darkroom{}, first, "photos")
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))

	if _, err := get(t.Context(), &networkingv1.Ingress{}, outside, "photos"); !apierrors.IsNotFound(err) {
		t.Errorf("a Darkroom in another namespace is handled (%v)", err)
	}
	o.kill()
	if len(o.forbidden) > 0 {
		slices.Sort(o.forbidden)
		t.Errorf("got forbidden requests:\n%s", strings.Join(slices.Compact(o.forbidden), "\n"))
	}
}

// Two operators share the Leases, but may not read each other's Darkrooms. The holder's operator deletes the Lease of a
// host once, and no other operator restores it.
func TestAHostPassesToTheOperatorOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	leases, shared := newNamespace(t), "shared-"+first
	grant(t, leases, rulesOf(t, "leader_election_role.yaml"), rbacv1.GroupKind, "system:authenticated")
	of := startOperator(t, first, asTenant(t, first), withLeasesIn(leases))
	startOperator(t, second, asTenant(t, second), withLeasesIn(leases))
	holder, waiting := with(webFolder(first, "holder"), shared), with(webFolder(second, "waiting"), shared)
	install(t, holder)
	create(t, waiting)
	eventuallyRefused(t, waiting)

	change(t, holder, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"own-" + first} })
	eventually(t, "the Lease", holds(leases, hostIn(shared), second+"/waiting"))
	eventuallyStatus(t, waiting, "its host", hasDomains(hostIn(shared)))
	remove(t, holder)
	eventually(t, "it is gone", gone(holder))
	eventually(t, "rest", quiet(of))
	if deleted := of.leaseRequests(http.MethodDelete); deleted != 2 {
		t.Errorf("got %d deletions of Leases, want one of each host", deleted)
	}
}

// makeAndTakeAwayEveryKind makes a Darkroom create an object of every kind in the chart, and then removes the optional
// objects. The cluster does not serve ServiceMonitors.
func makeAndTakeAwayEveryKind(t *testing.T, namespace string) {
	t.Helper()
	darkroom := darkrooms.New("kinds", namespace).S3("bucket", "eu-west-1").InlineKeys("key", "secret").
		Autoscaling(2, 3).Gateway("public").SubDomains("kinds-" + namespace).
		Spec(func(spec *v1alpha1.DarkroomSpec) { spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: true} }).Obj()
	create(t, darkroom)
	always := []string{"ConfigMap", "Deployment", "Secret", "Service", "ServiceAccount"}
	hasKinds := func(optional ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			objects, err := belongings(ctx, darkroom)
			kinds := sets.New[string]()
			for i := range objects {
				kinds.Insert(objects[i].GetKind())
			}
			if want := sets.New(always...).Insert(optional...); !kinds.Equal(want) {
				err = errors.Join(err, fmt.Errorf("got the kinds %v, want %v", kinds, want))
			}
			return err
		}
	}
	eventually(t, "every kind", hasKinds("HTTPRoute", "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget"))
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Autoscaling, d.Spec.Gateway, d.Spec.NetworkPolicy = nil,
			nil, nil
	})
	eventually(t, "remaining objects", hasKinds("Ingress"))
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))
}
