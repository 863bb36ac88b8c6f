package values

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// newInherited parses the entries of Options.InheritLabels or InheritAnnotations.
func newInherited(what string, entries []string) (allowList, error) {
	return newAllowList("inherited "+what, entries, func(key string) string {
		switch {
		case key == "":
			return "name the keys, or a prefix such as example.com/*: all would include what other tools set"
		case neverInherited(key, ""):
			return "cannot be inherited: Helm, kubectl, the operator or GitOps tools identify their objects by it, and may " +
				"delete those that they did not create"
		}
		return ""
	})
}

// trackers are prefixes of the labels and annotations by which tools find the objects that they created. A tool
// deletes those that its source does not have, such as the operator's objects with the labels of a Darkroom.
var trackers = []string{
	"addonmanager.kubernetes.io/", "app.kubernetes.io/", "applyset.kubernetes.io/", "argocd.argoproj.io/",
	"config.k8s.io/", "configsync.gke.io/", "fluxcd.controlplane.io/", "helm.toolkit.fluxcd.io/", "kapp.k14s.io/",
	"kubectl.kubernetes.io/", "kustomize.toolkit.fluxcd.io/", "objectset.rio.cattle.io/",
	"resourceset.fluxcd.controlplane.io/",
}

// neverInherited reports whether a label or annotation means something to Helm, kubectl, the operator or
// a GitOps tool on the object that has it. Helm's own Secrets have the label owner: helm.
func neverInherited(key, value string) bool {
	return reserved(key) || key == annotationIngressClass || key == "owner" && value == "helm" ||
		slices.ContainsFunc(trackers, func(prefix string) bool { return strings.HasPrefix(strings.ToLower(key), prefix) })
}

// of returns the entries of a map that a list selects.
func (l allowList) of(all map[string]string) map[string]string {
	selected := map[string]string{}
	for key, value := range all {
		if l.allows(key) && !neverInherited(key, value) {
			selected[key] = value
		}
	}
	return selected
}

// common sets the labels and annotations of all objects: the label of the Darkroom, and those
// that it hands down.
func (b *builder) common(darkroom *v1alpha1.Darkroom, labels, annotations map[string]string) {
	all := map[string]any{}
	for key, value := range labels {
		all[key] = value
	}
	all[v1alpha1.LabelDarkroom] = darkroom.Name
	b.set(all, "commonLabels")
	b.setPlain(annotations, field.NewPath("metadata", "annotations"), "commonAnnotations")
}
