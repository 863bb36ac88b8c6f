package apiserver_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// user is a user with a token.
type user struct {
	t               *testing.T
	namespace, name string
	token           string
}

// newUser creates a ServiceAccount without permissions.
func newUser(t *testing.T, namespace, name string) *user {
	t.Helper()
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	token, err := access.Token(t.Context(), cluster, client.ObjectKey{Namespace: namespace, Name: name})
	expect.NoError(t, err)
	return &user{t: t, namespace: namespace, name: name, token: token}
}

// Permissions that tests grant to users.
var (
	canView = []rbacv1.PolicyRule{
		{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"},
			Verbs: []string{"get", "list", "watch"},
		},
		{APIGroups: []string{""}, Resources: []string{"pods", "events"}, Verbs: []string{"get", "list", "watch"}},
	}
	canReadLogs = []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}},
	}
	canKeepSecrets = []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
	}
	canEdit = append([]rbacv1.PolicyRule{
		{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"},
			Verbs: []string{"create", "update", "patch", "delete"},
		},
		{APIGroups: []string{""}, Resources: []string{"services/proxy"}, Verbs: []string{"get"}},
	}, canView...)
)

// grant gives a user permissions in a namespace, or in all namespaces if it is empty, and returns a function that
// revokes them.
func grant(t *testing.T, namespace string, who rbacv1.Subject, rules []rbacv1.PolicyRule) (revoke func()) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, Rules: rules}
	create(t, role)
	meta, to := metav1.ObjectMeta{Namespace: namespace, GenerateName: "test-"},
		rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
	var binding client.Object = &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: []rbacv1.Subject{who}, RoleRef: to}
	if namespace == "" {
		binding = &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: []rbacv1.Subject{who}, RoleRef: to}
	}
	create(t, binding)
	return func() {
		expect.NoError(t, kube.Delete(t.Context(), binding))
	}
}

// may gives a user permissions in a namespace, or in all namespaces if it is empty, and returns a function that revokes
// them.
func (u *user) may(namespace string, rules []rbacv1.PolicyRule) (revoke func()) {
	u.t.Helper()
	revoke = grant(u.t, namespace, rbacv1.Subject{Kind: "ServiceAccount", Namespace: u.namespace, Name: u.name}, rules)
	u.awaitRights(namespace, rules)
	return revoke
}

// awaitRights waits until Kubernetes' own authorizer has seen the binding.
func (u *user) awaitRights(namespace string, rules []rbacv1.PolicyRule) {
	u.t.Helper()
	config := rest.AnonymousClientConfig(cluster)
	config.BearerToken = u.token
	own, err := client.New(config, client.Options{Scheme: kube.Scheme(), Mapper: kube.RESTMapper()})
	expect.NoError(u.t, err)
	eventually(u.t, "user has rights", func() error {
		review := &authorizationv1.SelfSubjectRulesReview{}
		review.Spec.Namespace = cmp.Or(namespace, metav1.NamespaceDefault)
		if err := own.Create(u.t.Context(), review); err != nil {
			return err
		}
		for _, rule := range rules {
			has := func(r authorizationv1.ResourceRule) bool {
				return slices.Equal(r.Verbs, rule.Verbs) && slices.Equal(r.Resources, rule.Resources)
			}
			if len(rule.Resources) > 0 && !slices.ContainsFunc(review.Status.ResourceRules, has) {
				return fmt.Errorf("lacks %v", rule)
			}
		}
		return nil
	})
}

// newUserWho creates a user with permissions in a namespace.
func newUserWho(t *testing.T, namespace, name string, rules []rbacv1.PolicyRule) *user {
	t.Helper()
	u := newUser(t, namespace, name)
	u.may(namespace, rules)
	return u
}

// newEditor creates a user with all permissions for Darkrooms in a namespace.
func newEditor(t *testing.T, namespace string) *user {
	t.Helper()
	return newUserWho(t, namespace, "editor", canEdit)
}
