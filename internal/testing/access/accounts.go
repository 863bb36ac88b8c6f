package access

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// NewAccount creates a ServiceAccount with the permissions of a ClusterRole.
func NewAccount(ctx context.Context, kube client.Client, account client.ObjectKey, role string) error {
	if err := kube.Create(ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name},
	}); err != nil {
		return fmt.Errorf("create ServiceAccount %s: %w", account, err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}},
	}
	if err := kube.Create(ctx, binding); err != nil {
		return fmt.Errorf("bind ServiceAccount %s: %w", account, err)
	}
	return nil
}

// ReadClusterRole reads a ClusterRole from a manifest in the repository.
func ReadClusterRole(path string) (*rbacv1.ClusterRole, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // tests choose their repository
	if err != nil {
		return nil, err
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(raw, role); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return role, nil
}

// NewAPIServer creates the ServiceAccount of an API server with exactly the permissions in config/apiserver of the
// repository, and returns its identity. Leases are in the namespace default.
func NewAPIServer(
	ctx context.Context, kube client.Client, administrator *rest.Config, repository string,
) (*rest.Config, error) {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "apiserver"}}
	for _, file := range []string{"role.yaml", "auth_role.yaml"} {
		part, err := ReadClusterRole(filepath.Join(repository, "config", "apiserver", file))
		if err != nil {
			return nil, err
		}
		role.Rules = append(role.Rules, part.Rules...)
	}
	if err := kube.Create(ctx, role); err != nil {
		return nil, fmt.Errorf("create ClusterRole: %w", err)
	}
	account := client.ObjectKey{Namespace: "default", Name: role.Name}
	if err := NewAccount(ctx, kube, account, role.Name); err != nil {
		return nil, err
	}
	ofLeases, err := ReadClusterRole(filepath.Join(repository, "config", "apiserver", "lease_role.yaml"))
	if err != nil {
		return nil, err
	}
	if err := kube.Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: ofLeases.Name}, Rules: ofLeases.Rules,
	}); err != nil {
		return nil, fmt.Errorf("create Role: %w", err)
	}
	if err := kube.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: ofLeases.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: ofLeases.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}},
	}); err != nil {
		return nil, fmt.Errorf("bind Role: %w", err)
	}
	return As(ctx, administrator, account)
}
