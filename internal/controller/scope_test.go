package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// managerRules are those of config/rbac/role.yaml.
func managerRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	role := rbacv1.ClusterRole{}
	if err := yaml.Unmarshal(raw, &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// asTenantOperator runs the operator as a user who has the manager's permissions in some
// namespaces, by Roles, and no others. Forbidden requests are recorded.
func asTenantOperator(t *testing.T, namespaces []string, forbidden *forbiddenRequests) operatorOption {
	t.Helper()
	user := "operator-of-" + namespaces[0]
	for _, namespace := range namespaces {
		create(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "manager"}, Rules: managerRules(t)})
		create(t, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "manager"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "manager"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		})
	}
	return func(_ *controller.Options, c *rest.Config) {
		c.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
		c.Wrap(forbidden.wrap)
	}
}

type forbiddenRequests struct {
	mu   sync.Mutex
	list []string
}

func (f *forbiddenRequests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode == http.StatusForbidden {
			f.mu.Lock()
			f.list = append(f.list, request.Method+" "+request.URL.Path)
			f.mu.Unlock()
		}
		return response, err
	})
}

func TestAnOperatorOfSomeNamespacesNeedsNoRightsBeyondThem(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	outside := newNamespace(t)
	forbidden := &forbiddenRequests{}
	namespaces := []string{first, second}
	startOperatorFor(t, namespaces, labels.Everything(), asTenantOperator(t, namespaces, forbidden))
	for _, namespace := range namespaces {
		create(t, newSecret(namespace, "keys"))
		darkroom := withSecret(with(webFolder(namespace, "photos"), "photos-"+namespace), "keys")
		create(t, darkroom)
		eventually(t, "the release", installed(namespace, "photos"))
	}
	create(t, webFolder(outside, "photos"))
	makeAndTakeAwayEveryKind(t, first)
	darkroom := mustGet(t, &v1alpha1.Darkroom{}, first, "photos")
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))

	if _, err := get(t.Context(), &networkingv1.Ingress{}, outside, "photos"); !apierrors.IsNotFound(err) {
		t.Errorf("a Darkroom of another namespace is handled (%v)", err)
	}
	forbidden.mu.Lock()
	defer forbidden.mu.Unlock()
	if len(forbidden.list) > 0 {
		slices.Sort(forbidden.list)
		t.Errorf("requests beyond its rights:\n%s", strings.Join(slices.Compact(forbidden.list), "\n"))
	}
}

// makeAndTakeAwayEveryKind has a Darkroom get every kind of object that the chart makes, except
// ServiceMonitors, which the cluster does not serve, and lose those that can be turned off.
func makeAndTakeAwayEveryKind(t *testing.T, namespace string) {
	t.Helper()
	darkroom := darkrooms.New("kinds", namespace).S3("bucket", "eu-west-1").InlineKeys("key", "secret").
		Autoscaling(2, 3).Gateway("public").SubDomains("kinds-" + namespace).
		Spec(func(spec *v1alpha1.DarkroomSpec) { spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: true} }).Obj()
	create(t, darkroom)
	always := []string{"ConfigMap", "Deployment", "Secret", "Service", "ServiceAccount"}
	optional := []string{"HTTPRoute", "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget"}
	hasKinds := func(kinds ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			objects, err := belongings(ctx, darkroom)
			if err != nil {
				return err
			}
			has := map[string]bool{}
			for i := range objects {
				has[objects[i].GetKind()] = true
			}
			for _, kind := range slices.Concat(optional, always, []string{"Ingress"}) {
				if has[kind] != slices.Contains(kinds, kind) {
					return fmt.Errorf("has %v, want %v", names(objects), kinds)
				}
			}
			return nil
		}
	}
	eventually(t, "every kind", hasKinds(slices.Concat(optional, always)...))
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Autoscaling, d.Spec.Gateway, d.Spec.NetworkPolicy = nil, nil, nil })
	eventually(t, "what is left", hasKinds(slices.Concat(always, []string{"Ingress"})...))
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))
	eventually(t, "nothing is left", hasKinds())
}

func TestShardsHandleTheirDarkroomsAlone(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startShard(t, namespace, "a")
	create(t, inShard(with(webFolder(namespace, "other"), "other-"+namespace), "b"))
	create(t, inShard(with(webFolder(namespace, "mine"), "mine-"+namespace), "a"))
	eventually(t, "the release", installed(namespace, "mine"))
	if now := mustGet(t, &v1alpha1.Darkroom{}, namespace, "other"); len(now.Finalizers) > 0 || now.Status.Phase != "" {
		t.Errorf("a Darkroom of another shard was touched: %v, %s", now.Finalizers, now.Status.Phase)
	}
}
