package histories

import (
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/helm3"
)

// plainChartSteps are actions of users with Helm releases of the plain chart.
var plainChartSteps = []kind{
	onDarkroom(2, "helm install NAME of the plain chart", (*world).installPlainChart),
}

// installPlainChart installs a Helm release of the chart, as its users do.
func (w *world) installPlainChart(key types.NamespacedName) error {
	chrt, err := charts.Darkroom()
	if err != nil {
		return err
	}
	helm, err := w.helm(key.Namespace)
	if err != nil {
		return err
	}
	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace = key.Name, key.Namespace
	_, failure := install.Run(chrt,
		map[string]any{"source": map[string]any{"type": "WebFolder", "baseUrl": "https://example.com/images"}})
	if err := w.noteHelmsObjects(key); err != nil || failure == nil {
		return err
	}
	return fmt.Errorf("%w: %w", errNothingToDo, failure) // the name is taken
}

// helm returns a Helm configuration for a namespace.
func (w *world) helm(namespace string) (*action.Configuration, error) {
	return helm3.Configuration(w.administrator, namespace)
}

// releaseOf returns the Helm release to which an object or revision belongs; none if there is none.
func releaseOf(object client.Object) (release types.NamespacedName, ok bool) {
	name := object.GetAnnotations()[ownership.AnnotationReleaseName]
	if labels := object.GetLabels(); labels["owner"] == "helm" && labels["version"] != "" {
		name = labels["name"]
	}
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: name}, name != ""
}

// noteHelmsObjects records the objects of a Helm release as foreign.
func (w *world) noteHelmsObjects(release types.NamespacedName) error {
	objects, err := w.objects()
	if err != nil {
		return err
	}
	for i := range objects {
		if of, ok := releaseOf(&objects[i]); !ok || of != release {
			continue
		}
		if err := w.wrote(&objects[i]); err != nil {
			return err
		}
	}
	return nil
}
