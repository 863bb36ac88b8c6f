package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/helm3"
)

// helmByHand returns the configuration of the helm command for a namespace.
func helmByHand(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	configuration, err := helm3.Configuration(cluster, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return configuration
}

// pending sets the status of the last revision of the release photos to pending, as a running or interrupted upgrade
// does. The description names the client that is upgrading.
func pending(t *testing.T, namespace, description string) *helmrelease.Release {
	t.Helper()
	helm := helmByHand(t, namespace)
	last, err := helm.Releases.Last("photos")
	if err != nil {
		t.Fatal(err)
	}
	last.SetStatus(helmrelease.StatusPendingUpgrade, description)
	if err := helm.Releases.Update(last); err != nil {
		t.Fatal(err)
	}
	return last
}

// deployedByHelm returns an error unless the last revision of the release photos is deployed.
func deployedByHelm(t *testing.T, namespace string) func(context.Context) error {
	return func(context.Context) error {
		last, err := action.NewGet(helmByHand(t, namespace)).Run("photos")
		if err == nil && last.Info.Status != helmrelease.StatusDeployed {
			err = fmt.Errorf("revision %d is %s, want deployed", last.Version, last.Info.Status)
		}
		return err
	}
}

func TestHelmByHandSeesTheReleaseAndIsOverruled(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	helm := helmByHand(t, namespace)
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "error" })
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "debug" })
	edit := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"logLevel":"warn"}}`))
	if err := kube.Patch(t.Context(), darkroom, edit, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the upgrade", installed(namespace, "photos"))

	t.Run("helm ls, history and get show it", func(t *testing.T) {
		listed, err := action.NewList(helm).Run()
		if err != nil || len(listed) != 1 || listed[0].Name != "photos" || listed[0].Version != 4 {
			t.Fatalf("helm ls: %v, %v", listed, err)
		}
		// MaxHistory is three revisions.
		history, err := action.NewHistory(helm).Run("photos")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, revision := range history {
			got = append(got, fmt.Sprintf("%d %s", revision.Version, revision.Info.Status))
		}
		if want := "[2 superseded 3 superseded 4 deployed]"; fmt.Sprint(got) != want {
			t.Errorf("helm history: %v, want %s", got, want)
		}
		stored, err := action.NewGet(helm).Run("photos")
		if err != nil || !strings.Contains(stored.Manifest, "kind: Deployment") || stored.Info.Notes == "" {
			t.Errorf("helm get manifest: %v", err)
		}
	})
	t.Run("the revisions that are kept have records, which name the author", func(t *testing.T) {
		records := &appsv1.ControllerRevisionList{}
		if err := kube.List(t.Context(), records, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		got := map[int64]string{}
		for _, record := range records.Items {
			_, by, _ := strings.Cut(record.Annotations[v1alpha1.AnnotationRevisionAuthor], "Z ")
			got[record.Revision] = record.Annotations[v1alpha1.AnnotationRevisionStatus] + " " + by
		}
		if len(got) != 3 || got[4] != "deployed kubectl-edit" {
			t.Errorf("got records %v", got)
		}
	})
	t.Run("helm rollback is reverted", func(t *testing.T) {
		rollback := action.NewRollback(helm)
		rollback.Version = 3
		if err := rollback.Run("photos"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the value in the resource", func(ctx context.Context) error { return logLevelIs("warn")(ctx, namespace) })
		eventually(t, "a deployed release", deployedByHelm(t, namespace))
	})
	t.Run("objects that helm upgrade created are listed", func(t *testing.T) {
		chrt, err := charts.Darkroom()
		if err != nil {
			t.Fatal(err)
		}
		byHand := action.NewUpgrade(helm)
		byHand.Namespace = namespace
		if _, err := byHand.Run("photos", chrt, map[string]any{
			"source": map[string]any{"type": "WebFolder", "baseUrl": "https://example.com/others"},
		}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "one warning", func(context.Context) error {
			var notes []string
			for _, warning := range events(t, namespace, release.EventStrayObjects) {
				if strings.Contains(warning.Note, "photos-darkroom") { // the rollback above caused the other warnings
					notes = append(notes, warning.Note)
				}
			}
			if len(notes) != 1 || !strings.Contains(notes[0], "Deployment photos-darkroom") ||
				!strings.Contains(notes[0], "Service photos-darkroom") || strings.Contains(notes[0], "Deployment photos, ") {
				return fmt.Errorf("got warnings %q", notes)
			}
			return nil
		})
		eventually(t, "the Service of the Darkroom", func(ctx context.Context) error {
			_, err := get(ctx, &corev1.Service{}, namespace, "photos")
			return err
		})
		eventually(t, "a deployed release", deployedByHelm(t, namespace))
		mustGet(t, &appsv1.Deployment{}, namespace, "photos-darkroom")
	})
	t.Run("helm uninstall is reverted", func(t *testing.T) {
		before := mustGet(t, &corev1.Service{}, namespace, "photos").UID
		// Helm purges the revisions that it listed before, and fails if the operator has removed the oldest in the
		// meantime.
		eventually(t, "the oldest revision is removed", func(context.Context) error {
			history, err := action.NewHistory(helm).Run("photos")
			if err == nil && len(history) > 3 {
				err = fmt.Errorf("%d revisions", len(history))
			}
			return err
		})
		if _, err := action.NewUninstall(helm).Run("photos"); err != nil {
			t.Fatal(err)
		}
		eventuallyIs(t, "a new Service", &corev1.Service{}, namespace, "photos",
			func(s *corev1.Service) bool { return s.UID != before })
		eventually(t, "a deployed release", deployedByHelm(t, namespace))
	})
}

func TestHelmByHandSeesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	darkroom := webFolder(newNamespace(t), "photos")
	seen := watched[*corev1.Secret](t, &corev1.SecretList{}, darkroom.Namespace)
	startOperator(t, darkroom.Namespace)
	install(t, darkroom)
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "error" })
	var got []string
	for _, secret := range seen() {
		if labels := secret.Labels; labels["owner"] == "helm" {
			got = append(got, labels["version"]+" "+labels["status"])
		}
	}
	if want := "[1 pending-install 1 deployed 2 pending-upgrade 1 superseded 2 deployed]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestAReleaseThatAnotherClientIsChangingIsWaitedFor(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	operator.kill()

	helm, last := helmByHand(t, namespace), pending(t, namespace, "Preparing upgrade") // made by a user
	startOperator(t, namespace)
	busy := says("another Helm client is changing the release")
	eventuallyStatus(t, darkroom, "that it is busy", busy)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventuallyStatus(t, darkroom, "that it still is busy", busy)
	if now, err := helm.Releases.Last("photos"); err != nil || now.Info.Status != helmrelease.StatusPendingUpgrade {
		t.Fatalf("the operator did not wait for the other client: got status %v (%v)", now.Info.Status, err)
	}

	// The revision has been pending for longer than any client works on it.
	last.Info.LastDeployed.Time = time.Now().Add(-3 * time.Minute)
	if err := helm.Releases.Update(last); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the upgrade", installed(namespace, "photos"))
	eventuallyEvent(t, namespace, "Recovered")
}

// Users, and tools that prune unmanaged objects, may delete an object of a Darkroom at any moment. The operator
// restores the object and reports no failure.
func TestAnObjectThatIsDeletedBeforeAnyRequestIsRestored(t *testing.T) {
	t.Parallel()
	kinds := slices.DeleteFunc(darkrooms.Belongings(), func(kind schema.GroupVersionKind) bool {
		// The Darkroom of this test has none.
		return slices.Contains([]string{"NetworkPolicy", "HorizontalPodAutoscaler", "PodDisruptionBudget"}, kind.Kind)
	})
	for _, kind := range append(kinds, appsv1.SchemeGroupVersion.WithKind("ControllerRevision")) {
		t.Run(kind.Kind, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			var sent sync.Map
			victims := &metav1.PartialObjectMetadata{}
			victims.SetGroupVersionKind(kind)
			startOperator(t, namespace, func(s *settings) {
				s.kubeconfig.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return roundTripper(func(request *http.Request) (*http.Response, error) {
						resource := resourceIn(request.URL.Path)
						_, isKnown := sent.LoadOrStore(request.Method+" "+resource, nil)
						if request.URL.Query().Get("watch") == "" && resource != "events" && !isKnown {
							of := client.MatchingLabels{v1alpha1.LabelDarkroom: "photos"}
							if err := kube.DeleteAllOf(request.Context(), victims, client.InNamespace(namespace), of); err != nil {
								t.Error(err)
							}
						}
						return next.RoundTrip(request)
					})
				})
			})
			live(t, webFolder(namespace, "photos"))
			for _, event := range events(t, namespace, "") {
				// The API server repairs the addresses of Services and records events about Services.
				if event.Type == corev1.EventTypeWarning && event.Regarding.Kind == v1alpha1.Kind {
					t.Errorf("%s: %s", event.Reason, event.Note)
				}
			}
		})
	}
}
