//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// errReleaseInUse is Helm's error for the install of an existing release.
var errReleaseInUse = errors.New("cannot re-use a name that is still in use")

// release changes the revisions of a foreign release through Helm's own storage, and records them. act receives the
// existing revisions.
func (l *ledger) release(
	ctx context.Context, key client.ObjectKey, act func(*storage.Storage, []*release.Release) error,
) error {
	store := storage.Init(driver.NewSecrets(clientset.CoreV1().Secrets(key.Namespace)))
	store.MaxHistory = 2 // Helm prunes v1 when it creates the third revision
	return l.rewrite(ctx, key, func() error {
		revisions, err := store.History(key.Name)
		if err != nil && !errors.Is(err, driver.ErrReleaseNotFound) {
			return err
		}
		if slices.ContainsFunc(revisions,
			func(r *release.Release) bool { return r.Labels[v1alpha1.LabelDarkroomUID] != "" }) {
			return errReleaseInUse
		}
		return act(store, revisions)
	})
}

// helmInstall installs a release and leaves it in a status. Existing objects make it fail halfway.
func (l *ledger) helmInstall(ctx context.Context, key client.ObjectKey, status release.Status) error {
	now := helmtime.Now()
	installed := &release.Release{
		Name: key.Name, Namespace: key.Namespace, Version: 1,
		Info:  &release.Info{FirstDeployed: now, LastDeployed: now, Status: release.StatusPendingInstall},
		Chart: &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "gallery", Version: "1.2.3"}},
	}
	err := l.release(ctx, key, func(store *storage.Storage, revisions []*release.Release) error {
		if len(revisions) > 0 {
			return errReleaseInUse
		}
		err := store.Create(installed)
		if errors.Is(err, driver.ErrReleaseExists) {
			return errReleaseInUse // taken by a Darkroom that was installed at this moment
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, object := range foreignObjects(key) {
		helmOwned(object, key)
		if err := l.create(ctx, object); apierrors.IsAlreadyExists(err) {
			status = release.StatusFailed
			break
		} else if err != nil {
			return err
		}
	}
	return l.release(ctx, key, func(store *storage.Storage, _ []*release.Release) error {
		installed.SetStatus(status, "")
		return store.Update(installed)
	})
}

// helmUpgrade creates a new revision of a release and changes one of its objects.
func (l *ledger) helmUpgrade(ctx context.Context, key client.ObjectKey) error {
	revision := 0
	err := l.release(ctx, key, func(store *storage.Storage, revisions []*release.Release) error {
		if len(revisions) == 0 {
			return nil
		}
		last := slices.MaxFunc(revisions, func(a, b *release.Release) int { return a.Version - b.Version })
		revision = last.Version + 1
		next, info := *last, *last.Info
		next.Info, next.Version = &info, revision
		next.SetStatus(release.StatusDeployed, "")
		last.SetStatus(release.StatusSuperseded, "")
		if err := store.Update(last); err != nil {
			return err
		}
		return store.Create(&next)
	})
	if err != nil || revision == 0 || !l.has("ConfigMap", key) {
		return err
	}
	return l.patch(ctx, thing{corev1.SchemeGroupVersion.WithKind("ConfigMap"), key},
		mergePatch(`{"data":{"revision":%q}}`, strconv.Itoa(revision)))
}

// helmUninstall deletes the objects and revisions of a release.
func (l *ledger) helmUninstall(ctx context.Context, key client.ObjectKey) error {
	if err := l.delete(ctx, key.Namespace, annotated(annotationHelmRelease, key.Name)); err != nil {
		return err
	}
	return l.release(ctx, key, func(store *storage.Storage, revisions []*release.Release) error {
		for _, revision := range revisions {
			if _, err := store.Delete(revision.Name, revision.Version); err != nil {
				return err
			}
		}
		return nil
	})
}

func revisionLabels(release string) map[string]string {
	return map[string]string{"owner": "helm", "name": release}
}

// isRevisionOf selects the revisions of a release.
func isRevisionOf(release string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "Secret" && labels.SelectorFromSet(revisionLabels(release)).
			Matches(labels.Set(object.GetLabels()))
	}
}

// annotated selects the objects with an annotation.
func annotated(key, value string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool { return object.GetAnnotations()[key] == value }
}

const annotationHelmRelease = "meta.helm.sh/release-name"

// helmOwned sets the labels and annotations that Helm sets on the objects of a release.
func helmOwned(object client.Object, release client.ObjectKey) {
	object.SetAnnotations(map[string]string{
		annotationHelmRelease:            release.Name,
		"meta.helm.sh/release-namespace": release.Namespace,
	})
	labels := object.GetLabels()
	labels["app.kubernetes.io/managed-by"] = "Helm"
	labels["helm.sh/chart"] = "gallery-1.2.3"
	object.SetLabels(labels)
}

// foreignObjects have the names and labels of a Darkroom's objects, as from another chart that is also called darkroom.
// The last one is a copy of a Darkroom's object with the operator's label, as printed by `kubectl get -o yaml`.
func foreignObjects(key client.ObjectKey) []client.Object {
	named := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{
			"app.kubernetes.io/name": "darkroom", "app.kubernetes.io/instance": key.Name,
		}}
	}
	pods := map[string]string{"app": "gallery", "release": key.Name}
	copied := named()
	copied.Name += "-copy"
	copied.Labels[v1alpha1.LabelDarkroom] = key.Name
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: named()},
		&corev1.Secret{ObjectMeta: named(), StringData: map[string]string{"password": "do not lose " + key.String()}},
		&corev1.ConfigMap{ObjectMeta: named(), Data: map[string]string{"revision": "1"}},
		&corev1.Service{
			ObjectMeta: named(),
			Spec:       corev1.ServiceSpec{Selector: pods, Ports: []corev1.ServicePort{{Port: 8080}}},
		},
		&appsv1.Deployment{ObjectMeta: named(), Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: pods},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pods},
				Spec: corev1.PodSpec{Containers: []corev1.Container{
					{Name: "gallery", Image: "registry.example.com/gallery:1"},
				}},
			},
		}},
		&networkingv1.Ingress{ObjectMeta: named(), Spec: networkingv1.IngressSpec{
			DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
				Name: key.Name, Port: networkingv1.ServiceBackendPort{Number: 8080},
			}},
		}},
		&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named(), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: key.Name},
			MinReplicas:    ptr.To(int32(1)), MaxReplicas: 10,
		}},
		&corev1.ConfigMap{ObjectMeta: copied, Data: map[string]string{"SOURCE_KIND": "webfolder"}},
	}
}

func mergePatch(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))
}
