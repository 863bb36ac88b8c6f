//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Traces of the other controllers of the cluster.
const (
	pullSecretPatcher = "pull-secret-patcher"
	pullSecret        = "registry"
	robotToken        = "robot-token"
	annotationSeen    = "crowd.example.com/seen"
	labelTeam         = "crowd.example.com/team"
	slowFinalizer     = "crowd.example.com/slow"
	annotationRestart = "kubectl.kubernetes.io/restartedAt"
)

// neighbor is another controller in the cluster. It is level-triggered: each pass brings every object in a namespace to
// its desired state.
type neighbor struct {
	name string
	pass func(ctx context.Context, l *ledger, random *rand.Rand, namespace string) error
}

var neighbors = []neighbor{
	{pullSecretPatcher, patchServiceAccounts},
	{"annotator", annotate},
	{"autoscaler", scale},
	{"finalizer adder", addFinalizers},
}

// neighborPeriod is the interval between passes of a neighbor.
const neighborPeriod = time.Second

// startNeighbors runs the neighbors in the namespaces of the crowd until the returned function is called.
func startNeighbors(t *testing.T, l *ledger, seed uint64) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i, neighbor := range neighbors {
		random := rand.New(rand.NewPCG(seed, uint64(1000+i)))
		running.Go(func() {
			wait.UntilWithContext(ctx, func(ctx context.Context) {
				for _, namespace := range crowdNamespaces {
					if err := neighbor.pass(ctx, l, random, namespace); tolerate(err) != nil && ctx.Err() == nil {
						t.Errorf("%s: %v", neighbor.name, err)
					}
				}
			}, neighborPeriod)
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// patchServiceAccounts adds a pull secret and a token to every ServiceAccount by server-side apply, as platforms with a
// built-in registry do.
func patchServiceAccounts(ctx context.Context, l *ledger, _ *rand.Rand, namespace string) error {
	list := &corev1.ServiceAccountList{}
	if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		account := &list.Items[i]
		if hasPullSecret(account) {
			continue
		}
		// The UID prevents a deleted account from being created again.
		patch := client.RawPatch(types.ApplyPatchType, fmt.Appendf(nil,
			`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":%q,"name":%q,"uid":%q},
				"imagePullSecrets":[{"name":%q}],"secrets":[{"name":%q}]}`,
			account.Namespace, account.Name, account.UID, pullSecret, robotToken))
		object := thing{corev1.SchemeGroupVersion.WithKind("ServiceAccount"), client.ObjectKeyFromObject(account)}
		err := l.patch(ctx, object, patch, client.FieldOwner(pullSecretPatcher), client.ForceOwnership)
		if tolerate(err) != nil {
			return err
		}
	}
	return nil
}

func hasPullSecret(account *corev1.ServiceAccount) bool {
	return slices.Contains(account.ImagePullSecrets, corev1.LocalObjectReference{Name: pullSecret}) &&
		slices.ContainsFunc(account.Secrets,
			func(reference corev1.ObjectReference) bool { return reference.Name == robotToken })
}

// marked are the kinds that the annotator marks.
var marked = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
}

// annotate adds an annotation and a label to objects, as inventory tools and policies do.
func annotate(ctx context.Context, l *ledger, _ *rand.Rand, namespace string) error {
	objects, err := metadataOf(ctx, namespace, marked)
	if err != nil {
		return err
	}
	for i := range objects {
		object := &objects[i]
		if isMarked(object) || object.Name == "kube-root-ca.crt" {
			continue
		}
		patch := mergePatch(`{"metadata":{"uid":%q,"annotations":{%q:"yes"},"labels":{%q:"photos"}}}`, object.UID,
			annotationSeen, labelTeam)
		if err := l.patch(ctx, thingOf(object), patch); tolerate(err) != nil {
			return err
		}
	}
	return nil
}

func isMarked(object metav1.Object) bool {
	return object.GetAnnotations()[annotationSeen] == "yes" && object.GetLabels()[labelTeam] == "photos"
}

// scale sets the number of pods of a random Deployment at each pass.
func scale(ctx context.Context, l *ledger, random *rand.Rand, namespace string) error {
	own := l.things(namespace, func(object *unstructured.Unstructured) bool { return object.GetKind() == "Deployment" })
	if len(own) == 0 {
		return nil
	}
	return l.patch(ctx, own[random.IntN(len(own))], mergePatch(`{"spec":{"replicas":%d}}`, 1+random.IntN(3)))
}

// addFinalizers adds a finalizer to Darkrooms and Services, and removes it two seconds after a deletion was requested.
func addFinalizers(ctx context.Context, _ *ledger, _ *rand.Rand, namespace string) error {
	objects, err := metadataOf(ctx, namespace,
		[]schema.GroupVersionKind{v1alpha1.GroupVersionKind, corev1.SchemeGroupVersion.WithKind("Service")})
	if err != nil {
		return err
	}
	for i := range objects {
		object := &objects[i]
		if object.Kind != v1alpha1.Kind && !isOwned(object) {
			continue
		}
		changed, before := false, object.DeepCopy()
		if leaving := object.DeletionTimestamp; leaving == nil {
			changed = controllerutil.AddFinalizer(object, slowFinalizer)
		} else if time.Since(leaving.Time) > 2*time.Second {
			changed = controllerutil.RemoveFinalizer(object, slowFinalizer)
		}
		if !changed {
			continue
		}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err := kube.Patch(ctx, object, patch)
		if tolerate(err) != nil && !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			return err
		}
	}
	return nil
}
