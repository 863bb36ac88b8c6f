package access

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// OperatorUser is the user name of the operator's ServiceAccount in config/default.
const OperatorUser = "system:serviceaccount:darkroom-system:darkroom-operator-controller-manager"

// NewGuardedOperator installs config/guard from the repository, waits until it is enforced, and returns an identity of
// the operator with all RBAC permissions.
func NewGuardedOperator(ctx context.Context, administrator *rest.Config, repository string) (*rest.Config, error) {
	kube, _, err := Clients(administrator)
	if err != nil {
		return nil, err
	}
	//nolint:gosec // tests choose their repository
	documents, err := os.ReadFile(filepath.Join(repository, "config", "guard", "guard.yaml"))
	if err != nil {
		return nil, err
	}
	objects, err := manifests.Decode(documents)
	if err != nil {
		return nil, err
	}
	limits := wait.Limits{Timeout: wait.Patience, Period: 100 * time.Millisecond}
	if err := manifests.Apply(ctx, kube, limits, objects...); err != nil {
		return nil, err
	}
	operator := rest.CopyConfig(administrator)
	operator.Impersonate = rest.ImpersonationConfig{UserName: OperatorUser, Groups: []string{"system:masters"}}
	own, _, err := Clients(operator)
	if err != nil {
		return nil, err
	}
	return operator, limits.Until(ctx, "the guard is enforced",
		func(ctx context.Context) error { return IsGuarded(ctx, own) })
}

// IsGuarded returns an error unless the guard denies the operator an object without an owner.
func IsGuarded(ctx context.Context, operator client.Client) error {
	nobodys := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "nobodys"}}
	switch err := operator.Create(ctx, nobodys, client.DryRunAll); {
	case err == nil:
		return errors.New("an object without an owner can be created")
	case !strings.Contains(err.Error(), "an owner of kind Darkroom"):
		return fmt.Errorf("an object without an owner is refused for another reason: %w", err)
	}
	return nil
}
