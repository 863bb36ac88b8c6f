//go:build e2e

package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
)

const (
	managerName   = "darkroom-operator-controller-manager"
	apiServerName = "darkroom-operator-apiserver"
	crdName       = "darkrooms.deployments.example.com"
)

var customResourceDefinition = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// subscribe asks for the operator in a namespace, and waits until a CSV has succeeded.
func subscribe(t *testing.T, namespace, csv string) {
	t.Helper()
	create(t, &operatorsv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: packageName},
		Spec: &operatorsv1alpha1.SubscriptionSpec{
			CatalogSource: catalogSource, CatalogSourceNamespace: lifecycleNamespace, Package: packageName, Channel: "alpha",
			InstallPlanApproval: operatorsv1alpha1.ApprovalAutomatic,
			Config:              &operatorsv1alpha1.SubscriptionConfig{Env: []corev1.EnvVar{{Name: "DARKROOM_BASE_DOMAIN", Value: baseDomain}}},
		},
	})
	waitSucceeded(t, namespace, csv)
}

func waitSucceeded(t *testing.T, namespace, name string) {
	t.Helper()
	eventually(t, name+" has succeeded", func(ctx context.Context) error {
		csv := &operatorsv1alpha1.ClusterServiceVersion{}
		if err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, csv); err != nil {
			return errors.Join(err, subscriptionState(ctx, namespace))
		}
		if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
			return fmt.Errorf("it is %s: %s: %s: %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message, podsOf(ctx, namespace))
		}
		return nil
	})
}

// subscriptionState reports how far a Subscription has come.
func subscriptionState(ctx context.Context, namespace string) error {
	subscription := &operatorsv1alpha1.Subscription{}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: packageName}, subscription); err != nil {
		return err
	}
	return fmt.Errorf("the Subscription is %q: %+v", subscription.Status.State, subscription.Status.Conditions)
}

// unsubscribe removes the operator as docs/install.md says: the Subscription, the CSV, then the
// roles for users of the page.
func unsubscribe(t *testing.T, namespace string, csvs ...string) {
	t.Helper()
	remove(t, &operatorsv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: packageName}})
	for _, csv := range csvs {
		remove(t, &operatorsv1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: csv}})
	}
	// Now and then roles are made again while the CSV that owns them is removed.
	for _, csv := range csvs {
		if _, err := run(t.Context(), "kubectl", "delete", "clusterrole,clusterrolebinding", "--selector=olm.owner="+csv); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range pageRoles {
		remove(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}})
	}
	eventually(t, "the operator's pods are gone", func(ctx context.Context) error {
		pods := &corev1.PodList{}
		if err := kube.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "darkroom-operator"}); err != nil {
			return err
		}
		if len(pods.Items) > 0 {
			return fmt.Errorf("%d are left", len(pods.Items))
		}
		return nil
	})
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

// may reports whether the manager of a namespace may read the Secrets of another one.
func may(t *testing.T, namespace, other string) bool {
	t.Helper()
	review, err := clientset.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + namespace + ":" + managerName,
			Groups:             []string{"system:serviceaccounts", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: other, Verb: "list", Resource: "secrets"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

// clusterScoped are the names of all objects outside of namespaces that are the
// operator's.
func clusterScoped(ctx context.Context) ([]string, error) {
	roles, bindings := &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}
	if err := errors.Join(kube.List(ctx, roles), kube.List(ctx, bindings)); err != nil {
		return nil, err
	}
	var found []string
	for _, role := range roles.Items {
		// Roles for the users of the CRD belong to it.
		ofDefinition := slices.ContainsFunc(role.OwnerReferences, func(owner metav1.OwnerReference) bool {
			return strings.EqualFold(owner.Kind, customResourceDefinition.Kind)
		})
		if mentionsOperator(role.Name) && !ofDefinition {
			found = append(found, "ClusterRole "+role.Name)
		}
	}
	for _, binding := range bindings.Items {
		for _, subject := range binding.Subjects {
			if mentionsOperator(binding.Name) || mentionsOperator(subject.Name) {
				found = append(found, "ClusterRoleBinding "+binding.Name)
			}
		}
	}
	return found, nil
}

func mentionsOperator(name string) bool {
	return strings.Contains(name, "darkroom")
}

// leavesNothing waits until no object outside of namespaces is the operator's, but the CRD.
func leavesNothing(t *testing.T) {
	t.Helper()
	eventually(t, "nothing is left outside of namespaces but the CRD", func(ctx context.Context) error {
		found, err := clusterScoped(ctx)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("there are %q", found)
		}
		return err
	})
	if _, err := definition(t.Context()); err != nil {
		t.Errorf("the CRD must stay, and with it the Darkrooms: %v", err)
	}
}

func definition(ctx context.Context) (*unstructured.Unstructured, error) {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(customResourceDefinition)
	crd.SetName(crdName)
	return crd, kube.Get(ctx, client.ObjectKeyFromObject(crd), crd)
}

// removeDefinition deletes the CRD, and waits until it is gone, and the roles that the
// lifecycle manager made for its users with it.
func removeDefinition(t *testing.T) {
	t.Helper()
	crd, err := definition(t.Context())
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	remove(t, crd)
	eventually(t, "the roles of the CRD are gone", func(ctx context.Context) error {
		roles := &rbacv1.ClusterRoleList{}
		if err := kube.List(ctx, roles); err != nil {
			return err
		}
		for _, role := range roles.Items {
			if mentionsOperator(role.Name) {
				return fmt.Errorf("ClusterRole %s is there", role.Name)
			}
		}
		return nil
	})
}
