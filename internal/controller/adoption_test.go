package controller_test

import (
	"context"
	"fmt"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
)

// installPlainChart installs a release of Darkroom's chart with Helm.
func installPlainChart(t *testing.T, namespace, name string) {
	t.Helper()
	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	installByHand(t, namespace, name, chrt, map[string]any{
		"source": map[string]any{"type": "WebFolder", "baseUrl": "https://example.com/images"},
	})
}

func adopting(namespace, name string) *v1alpha1.Darkroom {
	darkroom := webFolder(namespace, name)
	darkroom.Annotations = map[string]string{v1alpha1.AnnotationAdoptRelease: name}
	return darkroom
}

// TestADarkroomThatNeverDeployedReleasesWhatItAdopted deletes Darkrooms whose adoption could not
// be completed. The release that they name must serve on.
func TestADarkroomThatNeverDeployedReleasesWhatItAdopted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*testing.T, *v1alpha1.Darkroom)
		reason  string
	}{
		"because it is invalid": {
			func(_ *testing.T, d *v1alpha1.Darkroom) {
				d.Spec.Ingress = &v1alpha1.Ingress{Annotations: map[string]string{"example.com/note": "not allowed"}}
			}, v1alpha1.ReasonInvalid,
		},
		"because its objects are refused": {
			func(t *testing.T, d *v1alpha1.Darkroom) {
				create(t, &corev1.ResourceQuota{
					ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "none"},
					Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/deployments.apps": resource.MustParse("0")}},
				})
				// The Deployment of the name exists and is foreign.
				create(t, &corev1.Service{
					ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name},
					Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
				})
			}, v1alpha1.ReasonReleaseFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			installPlainChart(t, namespace, "photos")
			darkroom := adopting(namespace, "photos")
			test.prepare(t, darkroom)
			startOperator(t, namespace)
			create(t, darkroom)
			eventuallyStatus(t, darkroom, "failed", isNotReady(test.reason))
			remove(t, darkroom)
			eventually(t, "its end", gone(darkroom))
			deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos-darkroom")
			if len(deployment.OwnerReferences) > 0 || deployment.DeletionTimestamp != nil {
				t.Errorf("the Deployment still has the owners %v", deployment.OwnerReferences)
			}
			mustGet(t, &corev1.Service{}, namespace, "photos-darkroom")
			eventually(t, "the end of what was created for the adoption", absent(&corev1.ServiceAccount{}, namespace, "photos"))
			last, err := action.NewGet(helmByHand(t, namespace)).Run("photos")
			if err != nil || last.Version != 1 || last.Info.Status != helmrelease.StatusDeployed {
				t.Errorf("the release is %+v (%v)", last, err)
			}
		})
	}
}

// An adoption that was refused is tried again until it is not. Meanwhile no release of the Darkroom's own is
// deployed, however often it was tried.
func TestAnAdoptionThatWasRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	installPlainChart(t, namespace, "photos")
	obstacle := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
	}
	create(t, obstacle)
	startOperator(t, namespace)
	darkroom := adopting(namespace, "photos")
	create(t, darkroom)
	for range 3 {
		eventuallyStatus(t, darkroom, "refused", isNotReady(v1alpha1.ReasonReleaseFailed))
		status := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status
		if v1alpha1.IsConditionTrue(status.Conditions, v1alpha1.ConditionDeployed) || status.DeployedRelease != nil {
			t.Errorf("a release is said to be deployed: %+v", status)
		}
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Replicas = ptr.To(ptr.Deref(d.Spec.Replicas, 1) + 1) })
	}
	remove(t, obstacle)
	eventually(t, "the adoption", adopted(t, darkroom))
}

func TestADarkroomThatMayAdoptIsInstalledWhereNoReleaseIs(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	install(t, adopting(namespace, "photos"))
}

// TestAForgedRevisionAdoptsNothing adds a revision of Darkroom's chart to a foreign release, as
// a user may who may create Secrets, adopts the release and deletes the Darkroom.
func TestAForgedRevisionAdoptsNothing(t *testing.T) {
	t.Parallel()
	for _, pruned := range []bool{false, true} {
		t.Run(fmt.Sprintf("other revisions pruned: %t", pruned), func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			installByHand(t, namespace, "photos", foreignChart(t), nil)
			helm := helmByHand(t, namespace)
			forged, err := helm.Releases.Last("photos")
			if err != nil {
				t.Fatal(err)
			}
			if forged.Chart, err = charts.Darkroom(); err != nil {
				t.Fatal(err)
			}
			forged.Version = 2
			if err := helm.Releases.Create(forged); err != nil {
				t.Fatal(err)
			}
			if pruned {
				if _, err := helm.Releases.Delete("photos", 1); err != nil {
					t.Fatal(err)
				}
			}
			before := resourceVersions(t, namespace)
			startOperator(t, namespace)
			darkroom := adopting(namespace, "photos")
			create(t, darkroom)
			eventuallyStatus(t, darkroom, "refused", says("adopt release"))
			sameObjects(t, namespace, before)
			remove(t, darkroom)
			eventually(t, "its end", gone(darkroom))
			sameObjects(t, namespace, before)
		})
	}
}

// adopted returns an error unless a Darkroom has adopted a release with its history.
func adopted(t *testing.T, darkroom *v1alpha1.Darkroom) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := installed(darkroom.Namespace, darkroom.Name)(ctx); err != nil {
			return err
		}
		old, err := get(ctx, &appsv1.Deployment{}, darkroom.Namespace, darkroom.Name+"-darkroom")
		if err != nil || !metav1.IsControlledBy(old, darkroom) {
			return fmt.Errorf("the old Deployment is not adopted (%w)", err)
		}
		history, err := action.NewHistory(helmByHand(t, darkroom.Namespace)).Run(darkroom.Name)
		var deployed []int
		for _, revision := range history {
			if revision.Info.Status == helmrelease.StatusDeployed {
				deployed = append(deployed, revision.Version)
			}
		}
		if err != nil || len(history) < 2 || len(deployed) != 1 || deployed[0] == 1 {
			return fmt.Errorf("of %d revisions, %v are deployed (%w)", len(history), deployed, err)
		}
		return nil
	}
}
