package release

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// annotationOperator marks the Secrets of revisions that the operator wrote. Helm
// clients replace a Secret's annotations when they write it, so what they wrote
// shows. Without the mark the operator's own writes would call for a reconcile,
// and a failing upgrade would be tried again at once, for ever.
const annotationOperator = "deployments.example.com/written-by-operator"

// secretClient has Helm's driver write Secrets that belong to a Darkroom: they
// carry an owner reference, by which they go even if the operator is gone. It
// also gives the driver, which passes context.Background(), that of the reconcile.
type secretClient struct {
	corev1client.SecretInterface
	ctx   context.Context
	owner client.Object
	// record is written beside the release, unless it is nil.
	record []byte

	// resourceVersion is that of the Secret written last.
	resourceVersion string
}

// Create implements corev1client.SecretInterface.
func (c *secretClient) Create(_ context.Context, secret *corev1.Secret, opts metav1.CreateOptions) (*corev1.Secret, error) {
	c.own(secret)
	return c.written(c.SecretInterface.Create(c.ctx, secret, opts)) //nolint:contextcheck // the reconcile's, see above
}

// Update implements corev1client.SecretInterface.
func (c *secretClient) Update(_ context.Context, secret *corev1.Secret, opts metav1.UpdateOptions) (*corev1.Secret, error) {
	c.own(secret)
	return c.written(c.SecretInterface.Update(c.ctx, secret, opts)) //nolint:contextcheck // the reconcile's, see above
}

// List implements corev1client.SecretInterface.
func (c *secretClient) List(_ context.Context, opts metav1.ListOptions) (*corev1.SecretList, error) {
	return c.SecretInterface.List(c.ctx, opts) //nolint:contextcheck // the reconcile's, see above
}

func (c *secretClient) written(secret *corev1.Secret, err error) (*corev1.Secret, error) {
	if err == nil {
		c.resourceVersion = secret.ResourceVersion
	}
	return secret, err
}

func (c *secretClient) own(secret *corev1.Secret) {
	if c.owner != nil {
		secret.OwnerReferences = []metav1.OwnerReference{ownerReference(c.owner)}
		secret.Annotations = map[string]string{annotationOperator: "true"}
	}
	if c.record != nil {
		secret.Data[dataRecord] = c.record
	}
}

// oneSecret shows Helm's driver a Secret that was read already.
type oneSecret struct {
	corev1client.SecretInterface
	secret *corev1.Secret
}

// List implements corev1client.SecretInterface.
func (c *oneSecret) List(context.Context, metav1.ListOptions) (*corev1.SecretList, error) {
	return &corev1.SecretList{Items: []corev1.Secret{*c.secret}}, nil
}

// ownerReference says that the Darkroom controls an object.
func ownerReference(owner client.Object) metav1.OwnerReference {
	return *metav1.NewControllerRef(owner, v1alpha1.GroupVersionKind)
}
