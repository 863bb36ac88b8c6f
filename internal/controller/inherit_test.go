package controller_test

import (
	"context"
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// demandLabel installs a policy that denies every new object without a label in a namespace, as Kyverno and Gatekeeper
// can.
func demandLabel(t *testing.T, namespace, label string) {
	t.Helper()
	all := []string{"*"}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-demands-" + label},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{
				// A selector of namespaces matches objects outside of namespaces, too, so the rules exclude those.
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule: admissionv1.Rule{
						APIGroups: all, APIVersions: all, Resources: all, Scope: ptr.To(admissionv1.NamespacedScope),
					},
				}}},
				ExcludeResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: all, APIVersions: all, Resources: []string{"events"}},
				}}},
			},
			Validations: []admissionv1.Validation{{
				Expression: "has(object.metadata.labels) && '" + label + "' in object.metadata.labels",
				Message:    "the label " + label + " is missing",
			}},
		},
	}
	create(t, policy)
	create(t, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policy.Name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	})
	eventually(t, "the policy is in force", func(ctx context.Context) error {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}}
		if err := kube.Create(ctx, probe, client.DryRunAll); err == nil {
			return errors.New("an object without the label was accepted")
		}
		return nil
	})
}

func TestADarkroomIsInstalledWhereEachObjectNeedsALabel(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	demandLabel(t, namespace, "team")
	startOperator(t, namespace, func(s *settings) {
		s.Values.InheritLabels, s.LeaseNamespace = []string{"team"}, newNamespace(t) // the operator's own namespace
	})
	darkroom := webFolder(namespace, "photos")
	darkroom.Labels = map[string]string{"team": "images"}
	darkroom.Spec.Source = v1alpha1.Source{Type: v1alpha1.S3, Bucket: "b", Region: "r", AccessKey: "a", SecretKey: "s"}
	create(t, darkroom)
	becomeReady(t, namespace, "photos")
	eventually(t, "the release", installed(namespace, "photos"))
}
