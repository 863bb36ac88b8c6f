//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// openShift has what of OpenShift bears on pods and routes: the two groups of its API, and
// a policy that refuses pods of one namespace whose user is not of its range, as the
// SecurityContextConstraint restricted-v2 does.
var openShift = definition("securitycontextconstraints", "security.openshift.io", "Cluster", "SecurityContextConstraints") +
	definition("routes", "route.openshift.io", "Namespaced", "Route") + `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: must-run-as-range}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  variables:
  - {name: context, expression: "has(object.spec.securityContext) ? object.spec.securityContext : {}"}
  validations:
  - expression: "!has(variables.context.runAsUser) || variables.context.runAsUser >= 1000650000 && variables.context.runAsUser < 1000660000"
    message: runAsUser is not in the range of the namespace
  - expression: "!has(variables.context.fsGroup) || variables.context.fsGroup >= 1000650000 && variables.context.fsGroup < 1000660000"
    message: fsGroup is not in the range of the namespace
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: must-run-as-range}
spec:
  policyName: must-run-as-range
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift}}}
`

// definition is a CustomResourceDefinition of a kind without a schema, as a YAML document.
func definition(plural, group, scope, kind string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: %[3]s
  names: {kind: %[4]s, plural: %[1]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---`, plural, group, scope, kind)
}

// TestADarkroomIsReadyOnOpenShift emulates the parts of OpenShift that refused its pods,
// fought over its ServiceAccount and ignored its exact path.
func TestADarkroomIsReadyOnOpenShift(t *testing.T) {
	objects, err := manifests.Decode([]byte(openShift))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		create(t, object)
		t.Cleanup(func() { _ = kube.Delete(context.WithoutCancel(t.Context()), object) })
	}
	const name = "openshift"
	create(t, namespace(name))
	eventually(t, "users out of the range are refused", func(ctx context.Context) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "refused"}, Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](65532)},
			Containers:      []corev1.Container{{Name: "a", Image: "a"}},
		}}
		if err := kube.Create(ctx, pod, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "not in the range") {
			return fmt.Errorf("the answer is: %w", err)
		}
		return nil
	})
	stop := controlServiceAccounts(t, name)
	defer stop()
	// The operator looks at the API groups when it starts, and every few minutes from then on.
	o := launch(t, name).waitReady(t)
	defer o.kill()

	darkroom := crowdDarkroom(client.ObjectKey{Namespace: name, Name: "photos"})
	create(t, darkroom)
	waitVerdict(t, darkroom, "is ready", notReady)
	ingress := &networkingv1.Ingress{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), ingress); err != nil {
		t.Fatal(err)
	}
	for _, path := range ingress.Spec.Rules[0].HTTP.Paths {
		if *path.PathType == networkingv1.PathTypeExact {
			t.Errorf("the path %s is exact", path.Path)
		}
	}
	eventually(t, "the ServiceAccount has what its controller adds", func(ctx context.Context) error {
		account := &corev1.ServiceAccount{}
		if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), account); err != nil {
			return err
		}
		if len(account.ImagePullSecrets) == 0 || len(account.Secrets) == 0 {
			return fmt.Errorf("it has pull secrets %v and secrets %v", account.ImagePullSecrets, account.Secrets)
		}
		return nil
	})
	atRest(t, name)
	vacate(t, name)
}

// controlServiceAccounts does to the ServiceAccounts of a namespace what OpenShift does, each
// time that it is not so, until stop is called.
func controlServiceAccounts(t *testing.T, namespace string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(pollPeriod) {
			accounts := &corev1.ServiceAccountList{}
			if err := kube.List(ctx, accounts, client.InNamespace(namespace)); err != nil {
				continue
			}
			for i := range accounts.Items {
				account := &accounts.Items[i]
				if len(account.ImagePullSecrets) > 0 && len(account.Secrets) > 0 {
					continue
				}
				secret := []any{map[string]any{"name": account.Name + "-dockercfg-abcde"}}
				apply := &unstructured.Unstructured{Object: map[string]any{"imagePullSecrets": secret, "secrets": secret}}
				apply.SetAPIVersion("v1")
				apply.SetKind("ServiceAccount")
				apply.SetNamespace(namespace)
				apply.SetName(account.Name)
				// Without it, an account deleted meanwhile would be created again.
				apply.SetUID(account.UID)
				_ = kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(apply), client.FieldOwner("openshift.io/image-registry-pull-secrets_service-account-controller"))
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
