package histories

import (
	"fmt"
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/action"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// adoptionSteps are what owners do with Helm releases of the plain chart.
var adoptionSteps = []kind{
	onDarkroom(2, "helm install NAME of the plain chart", (*world).installPlainChart),
	onDarkroom(3, "kubectl apply Darkroom NAME with the sub-domain a, which adopts the Helm release NAME",
		(*world).adoptRelease),
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

// adoptRelease makes a Darkroom adopt the Helm release of its name.
func (w *world) adoptRelease(key types.NamespacedName) error {
	adopting := w.newDarkroom(key, hostNames[0])
	if err := annotate(adopting, v1alpha1.AnnotationAdoptRelease, key.Name); err != nil {
		return err
	}
	objects, err := w.objects()
	if err != nil {
		return err
	}
	w.noteAdoptions([]v1alpha1.Darkroom{*adopting}, objects)
	err = w.create(adopting)
	if benign(err) != nil {
		return err
	}
	if err != nil {
		err = edit(w, key, adopting, func(d *v1alpha1.Darkroom) error {
			return annotate(d, v1alpha1.AnnotationAdoptRelease, key.Name)
		})
	}
	return err
}

// helm returns Helm as a user of a namespace has it.
func (w *world) helm(namespace string) (*action.Configuration, error) {
	flags := genericclioptions.NewConfigFlags(false)
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(w.administrator) }
	flags.Namespace = &namespace
	helm := &action.Configuration{}
	return helm, helm.Init(flags, namespace, "secret", func(string, ...any) {})
}

// releaseOf returns the Helm release that an object is of or a revision of; none if it is neither.
func releaseOf(object client.Object) (release types.NamespacedName, ok bool) {
	name := object.GetAnnotations()[ownership.AnnotationReleaseName]
	if labels := object.GetLabels(); labels["owner"] == "helm" && labels["version"] != "" {
		name = labels["name"]
	}
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: name}, name != ""
}

// noteHelmsObjects takes note of the objects of a Helm release: no Darkroom owns them.
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

// look returns the Darkrooms and the objects of releases, and takes note of adoptions.
func (w *world) look() (darkrooms []v1alpha1.Darkroom, objects []unstructured.Unstructured, err error) {
	if darkrooms, err = w.allDarkrooms(); err != nil {
		return nil, nil, err
	}
	if objects, err = w.objects(); err != nil {
		return nil, nil, err
	}
	w.noteAdoptions(darkrooms, objects)
	return darkrooms, objects, nil
}

// noteAdoptions takes note of the objects of Helm releases that Darkrooms ask for, may have, and give back.
func (w *world) noteAdoptions(darkrooms []v1alpha1.Darkroom, objects []unstructured.Unstructured) {
	asked := map[types.NamespacedName]*v1alpha1.Darkroom{}
	for i := range darkrooms {
		if d := &darkrooms[i]; d.Annotations[v1alpha1.AnnotationAdoptRelease] == d.Name {
			asked[client.ObjectKeyFromObject(d)] = d
		}
	}
	for i := range objects {
		object := &objects[i]
		release, ok := releaseOf(object)
		if !ok {
			continue
		}
		_, isForeign := w.foreign[referTo(object)]
		_, isAsked := w.asked[referTo(object)]
		switch d := asked[release]; {
		case d != nil && isForeign:
			delete(w.foreign, referTo(object))
			w.asked[referTo(object)] = release
		case d != nil && isAsked && object.GetKind() == "Secret" && ownership.OwnsRevision(d, object):
			w.adopted[release] = true
		case d == nil && isAsked && metav1.GetControllerOfNoCopy(object) == nil:
			delete(w.asked, referTo(object))
			w.foreign[referTo(object)] = object.GetResourceVersion()
		}
	}
}

// adoptedStay looks for objects of a Helm release that are gone although no Darkroom has adopted it. Whether
// one has is looked up after that, because it comes before.
func adoptedStay(w *world) error {
	if len(w.asked) == 0 {
		return nil
	}
	live := map[reference]bool{}
	for i := range w.judging {
		live[referTo(&w.judging[i])] = true
	}
	if _, _, err := w.look(); err != nil {
		return err
	}
	for reference, release := range w.asked {
		if !live[reference] && !w.adopted[release] {
			return fmt.Errorf("%s was deleted, and the Helm release %s was not adopted", reference, release)
		}
	}
	return nil
}

// isAdopting reports whether a Darkroom has asked for a Helm release that is not its own yet. Each attempt
// replaces the revision of the one before.
func (w *world) isAdopting(d *v1alpha1.Darkroom) bool {
	key := client.ObjectKeyFromObject(d)
	return !w.adopted[key] && slices.Contains(slices.Collect(maps.Values(w.asked)), key)
}
