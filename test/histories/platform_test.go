package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/faults"
)

// platform generates steps of the platform team.
func platform(weight int, says string, do func(*world) error) kind {
	return kind{weight, func(*rapid.T) step { return step{says, do} }}
}

// policy denies some writes by operators.
var policy = kind{2, func(t *rapid.T) step {
	reason := rapid.SampledFrom([]metav1.StatusReason{metav1.StatusReasonInvalid, metav1.StatusReasonForbidden}).
		Draw(t, "reason")
	resource := rapid.SampledFrom([]string{"darkrooms", "ingresses", "deployments", "secrets", "services"}).
		Draw(t, "resource")
	denied := rapid.SampledFrom([]admissionv1.OperationType{admissionv1.OperationAll, admissionv1.Create}).
		Draw(t, "denied")
	says, message := fmt.Sprintf("a policy denies the operator writes (%s) of %s, with the reason %s",
		denied, resource, reason), denial
	if length := rapid.SampledFrom([]int{0, 0, 500, 2000}).Draw(t, "length"); length > 0 {
		says, message = fmt.Sprintf("%s and %d Chinese letters", says, length), denial+strings.Repeat("五", length)
	}
	return step{says, func(w *world) error { return w.deny(denied, resource, reason, message) }}
}}

// platformSteps are actions of the platform team, other controllers and the API server.
var platformSteps = []kind{
	platform(3, "the operator is killed and started again", func(w *world) error {
		w.stop(mainInstallation)
		return w.start(mainInstallation)
	}),
	settingStep,
	platform(2, "the operator is killed", func(w *world) error {
		w.stop(mainInstallation)
		return nil
	}),
	platform(3, "the operator is started", func(w *world) error { return w.start(mainInstallation) }),
	platform(1, "a second installation of the operator is started",
		func(w *world) error { return w.start(otherInstallation) }),
	platform(1, "the second installation is stopped", func(w *world) error {
		w.stop(otherInstallation)
		return nil
	}),
	{3, func(t *rapid.T) step {
		fault := rapid.SampledFrom(faults.All()).Draw(t, "fault")
		return step{"the API server fails every other request: " + fault, func(w *world) error {
			w.faults.Begin(fault)
			w.faulty = true
			return nil
		}}
	}},
	platform(2, "the API server recovers", func(w *world) error {
		w.faults.End()
		return nil
	}),
	policy,
	platform(2, "policies and quotas end", func(w *world) error { return w.endPolicies() }),
	{2, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		most := rapid.IntRange(0, 4).Draw(t, "most")
		return step{fmt.Sprintf("%s has a quota of %d Secrets", tenant, most), func(w *world) error {
			return w.limit(tenant+w.suffix, most)
		}}
	}},
	{1, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		return step{"kubectl delete namespace " + tenant, func(w *world) error {
			return w.kube.Delete(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant + w.suffix}})
		}}
	}},
	{1, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		return step{
			"kubectl create namespace " + tenant,
			func(w *world) error { return w.kube.Create(w.ctx, w.namespace(tenant)) },
		}
	}},
	platform(3, "a second passes", func(*world) error {
		time.Sleep(time.Second) // creation times are whole seconds
		return nil
	}),
}

// resources are the resources whose writes policies deny, by name.
var resources = map[string]admissionv1.Rule{
	"darkrooms":   {APIGroups: []string{"deployments.example.com"}},
	"ingresses":   {APIGroups: []string{"networking.k8s.io"}},
	"deployments": {APIGroups: []string{"apps"}},
	"secrets":     {APIGroups: []string{""}},
	"services":    {APIGroups: []string{""}},
}

// denial is the message of policies, and deniedUser is a user whom they deny in the same way as the operator. The guard
// does not apply to this user.
const (
	denial     = "not on a Friday"
	deniedUser = "denied"
)

// deny installs a ValidatingAdmissionPolicy that denies the operator writes of a resource in the namespaces of the
// history, until the policies end.
func (w *world) deny(
	denied admissionv1.OperationType, resource string, reason metav1.StatusReason, message string,
) error {
	name := "history" + w.suffix + fmt.Sprintf("-%d", len(w.policies))
	rule := resources[resource]
	rule.APIVersions, rule.Resources = []string{"v1", "v1alpha1"}, []string{resource}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{denied}, Rule: rule},
			}}},
			MatchConditions: []admissionv1.MatchCondition{{
				Name:       "operator",
				Expression: fmt.Sprintf("request.userInfo.username in [%q, %q]", access.OperatorUser, deniedUser),
			}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: message, Reason: &reason}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"history": w.suffix[1:]}},
			},
		},
	}
	w.policies = append(w.policies, func() error {
		return client.IgnoreNotFound(w.kube.Delete(w.ctx, binding))
	}, func() error { return client.IgnoreNotFound(w.kube.Delete(w.ctx, policy)) })
	if err := w.kube.Create(w.ctx, policy); err != nil {
		return err
	}
	if err := w.kube.Create(w.ctx, binding); err != nil {
		return err
	}
	return w.await(resource, expectDenial) // it takes the API server about a second
}

// asDenied returns the client of a user to whom policies apply as they do to operators.
func (w *world) asDenied() (client.Client, error) {
	kubeconfig := rest.CopyConfig(w.asOperator)
	kubeconfig.Impersonate.UserName = deniedUser
	return client.New(kubeconfig, client.Options{Scheme: w.kube.Scheme()})
}

// exampleOf returns an object of a resource that can be created in a namespace.
func (w *world) exampleOf(resource, namespace string) client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "any"}
	labels := map[string]string{"a": "b"}
	return map[string]client.Object{
		"darkrooms": w.newDarkroom(client.ObjectKey{Namespace: meta.Namespace, Name: meta.Name}, "any"),
		"ingresses": ingressOf(client.ObjectKey{Namespace: meta.Namespace, Name: meta.Name}),
		"secrets":   &corev1.Secret{ObjectMeta: meta},
		"services":  &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
		"deployments": &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
			},
		}},
	}[resource]
}

// errNotDenied is returned if a policy is not enforced.
var errNotDenied = errors.New("a policy is not enforced")

// limit limits the number of Secrets in a namespace by a quota until the policies end.
func (w *world) limit(namespace string, most int) error {
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "secrets"},
		Spec: corev1.ResourceQuotaSpec{
			Hard: corev1.ResourceList{countSecrets: *resource.NewQuantity(int64(most), resource.DecimalSI)},
		},
	}
	if err := w.kube.Create(w.ctx, quota); err != nil {
		return err
	}
	w.limited[namespace] = true
	w.policies = append(w.policies, func() error { return client.IgnoreNotFound(w.kube.Delete(w.ctx, quota)) })
	return nil
}

// countSecrets is the resource that quotas limit.
const countSecrets = "count/secrets"

// tomorrow returns a record of applied objects with versions that are larger than any.
func tomorrow(record []byte) []byte {
	var fields map[string]any
	if json.Unmarshal(record, &fields) != nil {
		return record
	}
	objects, _ := fields["objects"].([]any)
	for _, object := range objects {
		if object, ok := object.(map[string]any); ok {
			object["resourceVersion"] = "99999999999"
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return record
	}
	return out
}
