package histories

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// mirror is the registry that a webhook pulls images from.
const mirror = "mirror.example.com/"

// webhookSteps are actions of webhooks on writes by the operator.
var webhookSteps = []kind{
	platform(2,
		"a webhook rewrites the Deployments that the operator writes: images come from a mirror, and pods "+
			"have another annotation", func(w *world) error {
			w.mirrored = true
			return w.webhook("deployments", "/rewrite",
				func(ctx context.Context, kube client.Client, deployment client.Object) error {
					err := kube.Create(ctx, deployment, client.DryRunAll)
					if isDenial(err) {
						return nil // denied by a policy of an earlier step, so the webhook does not matter
					}
					if err != nil {
						return err
					}
					image := deployment.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image
					if !strings.HasPrefix(image, mirror) {
						return fmt.Errorf("%w: the image is %s", errNotDenied, image)
					}
					return nil
				})
		}),
	{2, func(t *rapid.T) step {
		resource := rapid.SampledFrom([]string{"darkrooms", "ingresses", "deployments", "secrets", "services"}).
			Draw(t, "resource")
		// A webhook may return any status, including one that means something else if the API server returns it.
		status := rapid.SampledFrom([]int{
			http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusGone,
			http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
			http.StatusInternalServerError, http.StatusServiceUnavailable,
		}).Draw(t, "status")
		return step{fmt.Sprintf("a webhook rejects the operator's writes of %s with the status %d and no reason",
			resource, status), func(w *world) error {
			return w.webhook(resource, fmt.Sprintf("/refuse?status=%d", status), expectDenial)
		}}
	}},
}

// expectDenial returns an error unless a policy or webhook denies the creation of an object.
func expectDenial(ctx context.Context, kube client.Client, object client.Object) error {
	if err := kube.Create(ctx, object, client.DryRunAll); !isDenial(err) {
		return fmt.Errorf("%w: %T could be written", errNotDenied, object)
	}
	return nil
}

// isDenial reports whether an error comes from a policy or webhook of a history.
func isDenial(err error) bool { return err != nil && strings.Contains(err.Error(), denial) }

// webhooks serves the webhooks of all histories.
var webhooks = sync.OnceValue(func() *httptest.Server {
	return httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "not a review", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if status, err := strconv.Atoi(r.URL.Query().Get("status")); err == nil {
			review.Response.Allowed = false
			review.Response.Result = &metav1.Status{
				Status: metav1.StatusFailure, Code: int32(status),
				Message: denial + ": " + string(review.Request.Object.Raw),
			}
		} else if patch := rewriting(review.Request.Object); patch != nil {
			review.Response.Patch, review.Response.PatchType = patch, ptr.To(admissionv1.PatchTypeJSONPatch)
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}))
})

// rewriting returns the patch of a Deployment that replaces the registry of its images; nil for other objects.
func rewriting(object runtime.RawExtension) []byte {
	var deployment appsv1.Deployment
	if json.Unmarshal(object.Raw, &deployment) != nil || len(deployment.Spec.Template.Spec.Containers) == 0 {
		return nil
	}
	template := deployment.Spec.Template.DeepCopy()
	for i := range template.Spec.Containers {
		container := &template.Spec.Containers[i]
		container.Image = mirror + strings.TrimPrefix(container.Image, mirror)
	}
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, "example.com/webhook", "was here")
	return []byte(fmt.Sprintf(`[{"op":"replace","path":"/spec/template","value":%s}]`, encoded(template)))
}

// webhook registers a webhook for operators' writes of a resource in the namespaces of the history, until the policies
// end, and waits until it is called.
func (w *world) webhook(
	resource, path string, isCalled func(context.Context, client.Client, client.Object) error,
) error {
	rule := resources[resource]
	rule.APIVersions, rule.Resources = []string{"v1", "v1alpha1"}, []string{resource}
	server := webhooks()
	name := fmt.Sprintf("history%s-%d.example.com", w.suffix, len(w.policies))
	hook := registrationv1.MutatingWebhook{
		Name: name,
		ClientConfig: registrationv1.WebhookClientConfig{
			URL:      ptr.To(server.URL + path),
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		},
		Rules: []registrationv1.RuleWithOperations{{
			Operations: []registrationv1.OperationType{registrationv1.Create, registrationv1.Update}, Rule: rule,
		}},
		MatchConditions: []registrationv1.MatchCondition{{
			Name: "operator", Expression: fmt.Sprintf("request.userInfo.username in [%q, %q]", access.OperatorUser, deniedUser),
		}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"history": w.suffix[1:]}},
		SideEffects:       ptr.To(registrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
	}
	configuration := &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks:   []registrationv1.MutatingWebhook{hook},
	}
	w.policies = append(w.policies, func() error { return client.IgnoreNotFound(w.kube.Delete(w.ctx, configuration)) })
	if err := w.kube.Create(w.ctx, configuration); err != nil {
		return err
	}
	return w.await(resource, isCalled)
}

// await tries to write a resource as a user to whom policies apply, until they are enforced.
func (w *world) await(resource string, isEnforced func(context.Context, client.Client, client.Object) error) error {
	kube, err := w.asDenied()
	if err != nil {
		return err
	}
	living, err := w.living()
	if err != nil || len(living) == 0 {
		return err
	}
	return wait.Limits{Timeout: patience, Period: restPeriod / 5}.Until(w.ctx, "the policy is enforced",
		func(ctx context.Context) error {
			return isEnforced(ctx, kube, w.exampleOf(resource, living[0]))
		})
}

// withoutMirror sets the images of a Deployment to the ones that the operator wrote, because changes by webhooks to the
// operator's writes are kept.
func withoutMirror(deployment *unstructured.Unstructured) {
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	for _, container := range containers {
		if container, ok := container.(map[string]any); ok {
			container["image"] = strings.TrimPrefix(fmt.Sprint(container["image"]), mirror)
		}
	}
	err := unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers")
	if err != nil {
		panic(err)
	}
}
