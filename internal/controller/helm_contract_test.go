package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
)

func inNamespace(namespace string) client.ListOption { return client.InNamespace(namespace) }

// helmByHand is the configuration of the helm command in a namespace.
func helmByHand(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(cluster) }
	flags.Namespace = &namespace
	configuration := &action.Configuration{}
	if err := configuration.Init(flags, namespace, "secret", func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	return configuration
}

func TestHelmByHandSeesTheRelease(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	for _, level := range []v1alpha1.LogLevel{"warn", "error", "debug"} {
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = level })
		eventually(t, "the release", installed(namespace, "photos"))
	}

	helm := helmByHand(t, namespace)
	listed, err := action.NewList(helm).Run()
	if err != nil || len(listed) != 1 || listed[0].Name != "photos" || listed[0].Version != 4 {
		t.Fatalf("helm ls: %v, %v", listed, err)
	}
	// Three revisions are kept.
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
}

func TestAReleaseRolledBackByHandIsUpgradedAgain(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "the upgrade", installed(namespace, "photos"))

	rollback := action.NewRollback(helmByHand(t, namespace))
	rollback.Version = 1
	if err := rollback.Run("photos"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what the resource says", func(ctx context.Context) error { return logLevelIs("warn")(ctx, namespace) })
	eventually(t, "a deployed release", func(context.Context) error {
		last, err := action.NewGet(helmByHand(t, namespace)).Run("photos")
		if err == nil && last.Info.Status != helmrelease.StatusDeployed {
			return fmt.Errorf("revision %d is %s", last.Version, last.Info.Status)
		}
		return err
	})
}

func TestAReleaseUninstalledByHandIsInstalledAgain(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	before := mustGet(t, &corev1.Service{}, namespace, "photos").UID
	if _, err := action.NewUninstall(helmByHand(t, namespace)).Run("photos"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a new Service and release", func(ctx context.Context) error {
		service, err := get(ctx, &corev1.Service{}, namespace, "photos")
		if err == nil && service.UID == before {
			return fmt.Errorf("it is still the old Service")
		}
		if err != nil {
			return err
		}
		_, err = action.NewGet(helmByHand(t, namespace)).Run("photos")
		return err
	})
}

func TestAReleaseThatAnotherClientIsChangingIsWaitedFor(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	operator.kill()

	// A user's `helm upgrade` is under way, or was interrupted.
	helm := helmByHand(t, namespace)
	last, err := helm.Releases.Last("photos")
	if err != nil {
		t.Fatal(err)
	}
	last.SetStatus(helmrelease.StatusPendingUpgrade, "Preparing upgrade")
	if err := helm.Releases.Update(last); err != nil {
		t.Fatal(err)
	}
	startOperator(t, namespace)
	busy := says("another Helm client is changing the release", "")
	eventuallyStatus(t, darkroom, "that it is busy", busy)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventuallyStatus(t, darkroom, "that it still is busy", busy)
	if now, err := helm.Releases.Last("photos"); err != nil || now.Info.Status != helmrelease.StatusPendingUpgrade {
		t.Fatalf("it was not waited for: %v, %v", now.Info.Status, err)
	}

	// It has been pending for longer than anybody works on it.
	last.Info.LastDeployed.Time = time.Now().Add(-3 * time.Minute)
	if err := helm.Releases.Update(last); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the upgrade", installed(namespace, "photos"))
	eventuallyEvent(t, namespace, "Recovered")
}

func TestHelmTemplateGivesWhatIsInstalled(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	stored, err := action.NewGet(helmByHand(t, namespace)).Run("photos")
	if err != nil {
		t.Fatal(err)
	}

	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(helmByHand(t, namespace))
	install.DryRun, install.ReleaseName, install.Namespace, install.Replace = true, "photos", namespace, true
	previewed, err := install.Run(chrt, stored.Config)
	if err != nil {
		t.Fatal(err)
	}
	if previewed.Manifest != stored.Manifest {
		t.Errorf("helm renders\n%s\nand the operator installed\n%s", previewed.Manifest, stored.Manifest)
	}
}
