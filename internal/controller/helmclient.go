package controller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
)

// helmClient restricts what the reconciler of helm-operator-plugins can do with the API server. The reconciler can read
// its Darkroom, add or remove its finalizer, and report conditions. With an ordinary client it would overwrite the
// whole object and status, including fields of others.
type helmClient struct {
	refusingClient
	session *session
	// refusal is the error of a rejected write of the finalizer. It is returned again, because the reconciler retries
	// five times.
	refusal error
}

// Get implements client.Reader. It returns the session's Darkroom without its status, so that the reconciler reports
// only its current findings. An uninstalled Darkroom is not found; otherwise the reconciler would wait for the
// finalizers of others.
func (c *helmClient) Get(
	_ context.Context, key types.NamespacedName, object client.Object, _ ...client.GetOption,
) error {
	out, ok := object.(*unstructured.Unstructured)
	if !ok || !c.session.isAbout(object, key) {
		return errRefused
	}
	if c.session.uninstalled {
		return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("darkrooms").GroupResource(), key.Name)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.session.darkroom)
	if err != nil {
		return fmt.Errorf("convert Darkroom %s: %w", key, err)
	}
	delete(fields, "status")
	out.SetUnstructuredContent(fields)
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	return nil
}

// Update implements client.Writer. The Helm reconciler updates a Darkroom only to add or remove its finalizer.
func (c *helmClient) Update(ctx context.Context, object client.Object, _ ...client.UpdateOption) error {
	if !c.session.isAbout(object, client.ObjectKeyFromObject(object)) {
		return errRefused
	}
	return c.writeFinalizers(ctx, object)
}

// Status implements client.StatusClient.
func (c *helmClient) Status() client.SubResourceWriter { return &helmStatus{session: c.session} }

// helmStatus passes the conditions and the release in a status to the session.
type helmStatus struct {
	refusingSubResource
	session *session
}

// Update implements client.SubResourceWriter.
func (w *helmStatus) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	resource, ok := object.(*unstructured.Unstructured)
	if !ok || !w.session.isAbout(object, client.ObjectKeyFromObject(object)) {
		return errRefused
	}
	fields, _ := resource.Object["status"].(map[string]any)
	var written v1alpha1.DarkroomStatus
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &written); err != nil {
		return fmt.Errorf("read status of Darkroom %s: %w", client.ObjectKeyFromObject(object), err)
	}
	report := status.HelmReportOf(written)
	w.session.reported = &report
	return nil
}

// isAbout reports whether an object is the session's Darkroom.
func (s *session) isAbout(object client.Object, key types.NamespacedName) bool {
	return object.GetObjectKind().GroupVersionKind() == v1alpha1.GroupVersionKind &&
		key == client.ObjectKeyFromObject(s.darkroom)
}

// errRefused is returned for every other request of the Helm reconciler.
var errRefused = errors.New("the Helm reconciler may only read its Darkroom and write its finalizer and conditions")

// refusingClient is a client that refuses every request.
type refusingClient struct{}

func (refusingClient) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errRefused
}

func (refusingClient) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errRefused
}

func (refusingClient) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errRefused
}

func (refusingClient) Create(context.Context, client.Object, ...client.CreateOption) error {
	return errRefused
}

func (refusingClient) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errRefused
}

func (refusingClient) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errRefused
}

func (refusingClient) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errRefused
}

func (refusingClient) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	return errRefused
}

func (refusingClient) Status() client.SubResourceWriter { return refusingSubResource{} }

func (refusingClient) SubResource(string) client.SubResourceClient { return refusingSubResource{} }

func (refusingClient) Scheme() *runtime.Scheme { return runtime.NewScheme() }

func (refusingClient) RESTMapper() meta.RESTMapper { return meta.NewDefaultRESTMapper(nil) }

func (refusingClient) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return schema.GroupVersionKind{}, errRefused
}

func (refusingClient) IsObjectNamespaced(runtime.Object) (bool, error) { return false, errRefused }

// refusingSubResource is a subresource client that refuses every request.
type refusingSubResource struct{}

func (refusingSubResource) Get(
	context.Context, client.Object, client.Object, ...client.SubResourceGetOption,
) error {
	return errRefused
}

func (refusingSubResource) Create(
	context.Context, client.Object, client.Object, ...client.SubResourceCreateOption,
) error {
	return errRefused
}

func (refusingSubResource) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return errRefused
}

func (refusingSubResource) Patch(
	context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption,
) error {
	return errRefused
}

func (refusingSubResource) Apply(
	context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption,
) error {
	return errRefused
}
